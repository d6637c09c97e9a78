// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/check.hpp"
#include "experiments/cost/cost_definition.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/devices/drafter_words.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/surfaces/pair_surface.hpp"

namespace foredraft::experiments::costs {
namespace {

CostParameter count(std::string_view name, double usual, double minimum, double maximum, std::string_view summary) {
  return {.name = name,
          .default_value = usual,
          .optional = false,
          .minimum = minimum,
          .maximum = maximum,
          .once_a_sequence = false,
          .summary = summary,
          .whole = true};
}

std::vector<CostParameter> surface_parameters() {
  return {count("cost.batch", 1.0, 1.0, 65536.0, "roofline, measured: sequences at once"),
          count("cost.context", 512.0, 0.0, 1e6, "roofline, measured: tokens that each sequence already holds"),
          iteration_overhead()};
}

CostText target() { return {"cost.target", "roofline, measured: the model that verifies; foredraft list models"}; }
CostText draft() { return {"cost.draft", "roofline, measured: the model that drafts; of heads the target itself"}; }

/// A roofline is of a data sheet, measured times are of what was measured.
latency::Profile profile_of(const std::string& device, bool datasheet) {
  latency::Profile profile = load_profile(device);
  if ((profile.source == latency::Source::datasheet) == datasheet) return profile;
  throw DomainError(fmt::format("{}: a profile of source {} - use cost = \"{}\"", device, to_string(profile.source),
                                datasheet ? "measured" : "roofline"));
}

using SharedPair = std::shared_ptr<const latency::PairSurface>;

/// The surfaces of a pair, prepared once a thread: neighbours in a sweep over batches share them.
const SharedPair& pair_of(const std::string& device, bool datasheet, const CostSetting& setting) {
  thread_local std::map<std::string, SharedPair> prepared;
  const std::string& of_target = setting.texts.find("cost.target")->second;
  const std::string& of_draft = setting.texts.find("cost.draft")->second;
  SharedPair& pair = prepared[fmt::format("{}|{}|{}|{}|{}", datasheet, device, of_target, of_draft, setting.drafter)];
  if (!pair) {
    pair = std::make_shared<latency::PairSurface>(profile_of(device, datasheet), latency::model_registry(), of_target,
                                                  of_draft, drafting_role(setting.drafter));
  }
  return pair;
}

/// Outside of the domain of a fit nothing is answered: a row of a sweep cannot carry a warning.
double inside_us(const latency::Latency& latency, const std::string& device) {
  if (latency.inside) return latency.time_us;
  throw DomainError(device +
                    ": this batch, context and gamma lie outside the domain of its fit - ask within it, or "
                    "measure there (foredraft calibrate --batch --context)");
}

/// Sampling follows straight lines beyond what was measured; nothing where the profile does not tell.
double known_us(const std::optional<latency::Latency>& latency) { return latency ? latency->time_us : 0.0; }

DecodingCost surface_cost(const std::string& device, bool datasheet, const CostValues& values,
                          const CostSetting& setting) {
  const latency::PairSurface& pair = *pair_of(device, datasheet, setting);
  const auto batch = static_cast<std::int64_t>(values.at("cost.batch"));
  const auto context = static_cast<std::int64_t>(values.at("cost.context"));
  if (setting.gamma == 0) return {};
  const double plain_us = inside_us(pair.target_pass(1, batch, context), device) + known_us(pair.plain_sampling(batch));
  const double verify_us =
      inside_us(pair.target_pass(max_tokens(setting.gamma, setting.convention), batch, context), device) +
      known_us(pair.sampling(setting.gamma, batch));
  const double drafting_us = inside_us(pair.drafting(setting.gamma, batch, context), device);
  const auto passes = static_cast<double>(draft_passes(setting.gamma, setting.drafting));
  return {.iteration = (verify_us + 1e3 * values.at("cost.overhead_ms")) / plain_us,
          .draft_pass = drafting_us / passes / plain_us};
}

/// Heads stand on what the target has read: prompts cost them nothing.
latency::Latency drafter_latency(const latency::PairSurface& pair, latency::Role role, const sim::StepShape& shape) {
  const std::int64_t context = std::llround(shape.context);
  if (role == latency::Role::head_drafting && shape.prompt) return {};
  if (role == latency::Role::autoregressive_drafting && shape.prompt) {
    return pair.drafter_pass(shape.tokens, shape.batch, context);
  }
  return pair.drafting(shape.tokens, shape.batch, context);
}

/// Drawing and verifying in the iteration to which a pass of the target belongs; a prompt yields one token.
double sampling_us(const latency::PairSurface& pair, const sim::StepShape& shape, Convention convention) {
  const std::int64_t gamma = shape.tokens - (convention == Convention::bonus ? 1 : 0);
  return known_us(shape.prompt || gamma == 0 ? pair.plain_sampling(shape.batch) : pair.sampling(gamma, shape.batch));
}

StepTimes surface_steps(const std::string& device, bool datasheet, const CostSetting& setting) {
  const SharedPair pair = pair_of(device, datasheet, setting);
  return {.target_us =
              [pair, device, convention = setting.convention](const sim::StepShape& shape) {
                return inside_us(pair->target_pass(shape.tokens, shape.batch, std::llround(shape.context)), device) +
                       sampling_us(*pair, shape, convention);
              },
          .drafter_us =
              [pair, device, role = drafting_role(setting.drafter)](const sim::StepShape& shape) {
                return inside_us(drafter_latency(*pair, role, shape), device);
              }};
}

}  // namespace

CostEntry roofline() {
  return {.name = "roofline",
          .summary = "times of passes from a data sheet: what they move and compute at the device's limits",
          .source = "Williams2009",
          .parameters = surface_parameters(),
          .texts = {{"cost.device", "roofline: a shipped data sheet; foredraft list devices"}, target(), draft()},
          .cost = nullptr,
          .cost_at =
              [](const CostValues& values, const CostSetting& setting) {
                return surface_cost(setting.texts.find("cost.device")->second, true, values, setting);
              },
          .step_times =
              [](const CostSetting& setting) {
                return surface_steps(setting.texts.find("cost.device")->second, true, setting);
              }};
}

CostEntry measured() {
  return {.name = "measured",
          .summary = "times of passes from a measured profile: its table, else its fit",
          .source = "ours",
          .parameters = surface_parameters(),
          .texts = {{"cost.profile", "measured: a profile of foredraft calibrate or foredraft-gpu"}, target(), draft()},
          .cost = nullptr,
          .cost_at =
              [](const CostValues& values, const CostSetting& setting) {
                return surface_cost(setting.texts.find("cost.profile")->second, false, values, setting);
              },
          .step_times =
              [](const CostSetting& setting) {
                return surface_steps(setting.texts.find("cost.profile")->second, false, setting);
              }};
}

}  // namespace foredraft::experiments::costs
