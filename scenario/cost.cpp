// SPDX-License-Identifier: Apache-2.0
#include "scenario/cost.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "foredraft/scenario.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"

namespace foredraft::scenario {
namespace {

struct Iteration {
  std::int64_t gamma;
  Convention convention;
  std::int64_t drafts = 1;  ///< each has gamma tokens
};

/// Time of the verified tokens after the first, in decode steps of the target.
double grown(double verify_growth, const Iteration& iteration) {
  const std::int64_t tokens = max_tokens(iteration.drafts * iteration.gamma, iteration.convention);
  return verify_growth * static_cast<double>(std::max<std::int64_t>(tokens - 1, 0));
}

std::optional<DecodingCost> cost_of(const ConstantRatio& cost, const Iteration& iteration) {
  if (!cost.c) return std::nullopt;
  DecodingCost all = constant_ratio(*cost.c);
  all.iteration += grown(cost.verify_growth, iteration);
  return all;
}

/// [Xia2023, Eq. 4]
std::optional<DecodingCost> cost_of(const MeasuredTimes& cost, const Iteration& iteration) {
  return DecodingCost{
      .iteration = (cost.verify_ms + cost.overhead_ms) / cost.step_ms + grown(cost.verify_growth, iteration),
      .draft_pass = cost.draft_ms / cost.step_ms,
      .sequence = (cost.target_encoder_ms + cost.drafter_encoder_ms + cost.fixed_ms) / cost.step_ms,
      .plain_sequence = cost.target_encoder_ms / cost.step_ms};
}

std::optional<DecodingCost> cost_of(const LookedUpTimes& cost, const Iteration& iteration) {
  if (!cost.times) throw std::logic_error("the times of passes were not read");
  return cost.times->cost(cost, iteration.gamma, iteration.convention);
}

}  // namespace

const LookedUpTimes* looked_up(const Cost& cost) {
  if (const auto* roofline = std::get_if<Roofline>(&cost)) return roofline;
  return std::get_if<Measured>(&cost);
}

std::optional<DecodingCost> decoding_cost(const Scenario& scenario, std::int64_t gamma) {
  if (std::holds_alternative<Server>(scenario.fidelity)) return std::nullopt;
  const auto* several = std::get_if<IndependentDrafts>(&scenario.drafter);
  const Iteration iteration{gamma, scenario.convention, several == nullptr ? 1 : several->drafts};
  std::optional<DecodingCost> all =
      std::visit([&](const auto& cost) { return cost_of(cost, iteration); }, scenario.cost);
  if (all) all->draft_pass *= pass_weight(scenario.drafter, gamma);
  return all;
}

std::optional<DecodingCost> decoding_cost(const Scenario& scenario) { return decoding_cost(scenario, scenario.gamma); }

std::optional<double> draft_step(Scenario scenario) {
  scenario.drafter = AutoregressiveDrafter{};
  const std::optional<DecodingCost> all = decoding_cost(scenario);
  return all ? std::optional(all->draft_pass) : std::nullopt;
}

double verify_growth(const Cost& cost) {
  if (const auto* ratio = std::get_if<ConstantRatio>(&cost)) return ratio->verify_growth;
  const auto* times = std::get_if<MeasuredTimes>(&cost);
  return times == nullptr ? 0.0 : times->verify_growth;
}

bool gamma_varies(const Scenario& scenario) {
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  return (process != nullptr && !std::holds_alternative<ConstantGamma>(process->policy)) ||
         draft_length_varies(scenario.drafter);
}

namespace {

using CostParameter = MemberParameter<Cost>;

constexpr double longest_ms = 1e9;
constexpr ValueRange time_ms{.maximum = longest_ms};
constexpr ValueRange positive_ms{.minimum = 1e-9, .maximum = longest_ms};
constexpr ValueRange devices{.minimum = 1.0, .maximum = 1024.0};
constexpr ValueRange efficiency{.minimum = 0.01, .maximum = 1.0};
constexpr ValueRange time_us{.maximum = 1e9};

constexpr CostParameter paid(Paid paid, CostParameter parameter) {
  parameter.paid = paid;
  return parameter;
}

template <class Alternative>
constexpr CostParameter growth() {
  return parameter<Cost, &Alternative::verify_growth>(
      "cost.verify_growth", "constant_ratio, block: decode steps that each verified token after the first adds",
      {.maximum = 1e6}, Given::implied);
}
template <class Alternative>
constexpr CostParameter overhead() {
  return parameter<Cost, &Alternative::overhead_ms, Alternative>(
      "cost.overhead_ms", "block, roofline, measured: other time per iteration", time_ms, Given::by_default);
}
template <double MeasuredTimes::*field>
constexpr CostParameter once_a_sequence(std::string_view name, std::string_view summary) {
  return paid(Paid::once_a_sequence, parameter<Cost, field>(name, summary, time_ms, Given::by_default));
}
/// Parameters of a deployment with data-sheet times, and overrides of the engine's efficiencies.
template <auto Field>
constexpr CostParameter deployed(std::string_view name, const ValueRange& range, std::string_view summary,
                                 Given given = Given::implied) {
  return paid(Paid::also_by_servers, parameter<Cost, Field>(name, summary, range, given));
}

constexpr std::array ratio_parameters{
    parameter<Cost, &ConstantRatio::c>("c", "draft/target time of one step; without it no speedup", {},
                                       Given::optional),
    growth<ConstantRatio>()};

constexpr std::array given_times{
    parameter<Cost, &MeasuredTimes::step_ms>(
        "cost.step_ms", "block: one token of autoregressive decoding, the baseline of the speedup", positive_ms),
    parameter<Cost, &MeasuredTimes::draft_ms>("cost.draft_ms", "block: one forward pass of the drafter (t_d)", time_ms),
    parameter<Cost, &MeasuredTimes::verify_ms>("cost.verify_ms",
                                               "block: one forward pass of the target over a draft (t_v)", positive_ms),
    overhead<MeasuredTimes>(),
    once_a_sequence<&MeasuredTimes::target_encoder_ms>(
        "cost.target_encoder_ms",
        "block: the target's encoder or prefill, once per sequence; also part of "
        "autoregressive decoding"),
    once_a_sequence<&MeasuredTimes::drafter_encoder_ms>("cost.drafter_encoder_ms",
                                                        "block: the drafter's encoder or prefill, once per sequence"),
    once_a_sequence<&MeasuredTimes::fixed_ms>("cost.fixed_ms", "block: other time per sequence, only with speculation"),
    growth<MeasuredTimes>()};

template <class Alternative>
constexpr std::array<CostParameter, 6> looked_up_parameters(std::string_view source, std::string_view summary) {
  return {
      paid(Paid::also_by_servers, parameter<Cost, &LookedUpTimes::source, Alternative>(source, summary)),
      paid(Paid::also_by_servers, parameter<Cost, &LookedUpTimes::target, Alternative>(
                                      "cost.target", "roofline, measured: target model; foredraft list models")),
      paid(Paid::also_by_servers, parameter<Cost, &LookedUpTimes::draft, Alternative>(
                                      "cost.draft", "roofline, measured: draft model; for heads the target itself")),
      parameter<Cost, &LookedUpTimes::batch, Alternative>("cost.batch", "roofline, measured: batch size",
                                                          {.minimum = 1.0, .maximum = 65536.0}, Given::by_default),
      parameter<Cost, &LookedUpTimes::context, Alternative>(
          "cost.context", "roofline, measured: context length in tokens", {.maximum = 1e6}, Given::by_default),
      overhead<Alternative>()};
}

constexpr std::array deployment{
    deployed<&Roofline::assume>("cost.assume", {},
                                "roofline: the architecture to read the target's config.json as, if its own is unknown",
                                Given::optional),
    deployed<&Roofline::target_format>(
        "cost.target_format", {},
        "roofline: format of the target's weights: fp32, bf16, fp16, fp8, int8, int4, nvfp4, "
        "mxfp4, q4_k_m, ...; default: of its config.json or checkpoint, else fp16",
        Given::optional),
    deployed<&Roofline::draft_format>("cost.draft_format", {}, "roofline: format of the draft model's weights",
                                      Given::optional),
    deployed<&Roofline::kv_format>("cost.kv_format", {},
                                   "roofline: format of both KV caches; default: as the weights, bf16 if these are "
                                   "narrower",
                                   Given::optional),
    deployed<&Roofline::target_tp>("cost.target_tp", devices, "roofline: devices that share the target"),
    deployed<&Roofline::draft_tp>("cost.draft_tp", devices, "roofline: devices that share the draft model"),
    deployed<&Roofline::target_pp>("cost.target_pp", devices, "roofline: pipeline stages of the target"),
    deployed<&Roofline::expert_skew>(
        "cost.expert_skew", {.maximum = 1.0},
        "roofline: 0: tokens choose their experts independently; 1: all share them; default: "
        "as measured, docs/step-times.md",
        Given::optional),
    deployed<&Roofline::bandwidth_efficiency>(
        "cost.bandwidth_efficiency", efficiency,
        "roofline: fraction of the data sheet's bandwidth that the engine attains", Given::optional),
    deployed<&Roofline::compute_efficiency>("cost.compute_efficiency", efficiency,
                                            "roofline: fraction of its matrix peak", Given::optional),
    deployed<&Roofline::step_overhead_us>("cost.step_overhead_us", time_us,
                                          "roofline: overhead of every forward pass in addition to its operators",
                                          Given::optional),
    deployed<&Roofline::iteration_us>(
        "cost.iteration_us", time_us,
        "roofline: overhead of an iteration of speculation in addition to its forward passes; "
        "default of these four: values of engines, docs/step-times.md",
        Given::optional),
    deployed<&Roofline::memory_utilization>("cost.memory_utilization", efficiency,
                                            "roofline: fraction of a device's memory for weights and KV cache"),
    deployed<&Roofline::ignore_memory>("cost.ignore_memory", flag_range,
                                       "roofline: 1: answer even if the deployment does not fit into memory"),
    deployed<&Roofline::allow_vocabulary_mismatch>(
        "cost.allow_vocabulary_mismatch", flag_range,
        "roofline: 1: allow a draft model whose vocabulary differs from the target's")};

constexpr std::array profile_parameters =
    looked_up_parameters<Measured>("cost.profile", "measured: a profile of foredraft calibrate or foredraft-gpu");
constexpr std::array roofline_parameters = [] {
  const std::array sheet = looked_up_parameters<Roofline>(
      "cost.device", "roofline: a shipped data sheet, or FILE.toml; foredraft list devices");
  std::array<CostParameter, sheet.size() + deployment.size()> all{};
  std::ranges::copy(deployment, std::ranges::copy(sheet, all.begin()).out);
  return all;
}();

}  // namespace

const std::vector<Member<Cost>>& costs() {
  static const std::vector<Member<Cost>> all{
      {.name = "constant_ratio",
       .summary = "a forward pass of the drafter takes c decode steps of the target, a verification one, for any gamma",
       .source = "Leviathan2023, Thm. 3.8",
       .value = ConstantRatio{},
       .parameters = ratio_parameters},
      {.name = "block",
       .summary = "measured times: T = encoders + fixed + iterations (draft passes t_d + t_v + overhead)",
       .source = "Xia2023, Eq. 4",
       .value = MeasuredTimes{},
       .parameters = given_times},
      {.name = "roofline",
       .summary = "forward-pass times estimated from a data sheet, at the efficiency that engines attain",
       .source = "Williams2009",
       .value = Roofline{},
       .parameters = roofline_parameters},
      {.name = "measured",
       .summary = "forward-pass times from a measured profile: its table, else its fit",
       .source = "ours",
       .value = Measured{},
       .parameters = profile_parameters}};
  return all;
}

std::string_view name_of(const Cost& cost) { return entry_of(costs(), cost).name; }

}  // namespace foredraft::scenario
