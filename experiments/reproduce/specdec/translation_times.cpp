// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/translation_times.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <functional>

#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/reproduce/declaration.hpp"
#include "experiments/reproduce/registry.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"
#include "latency/models/model_registry.hpp"
#include "sim/estimates.hpp"
#include "sim/system/serving_simulation.hpp"

namespace foredraft::experiments {
namespace {

latency::CostSurface pass_surface(const std::string& device, const std::string& model, latency::Role role) {
  return {read_profile(device).profile,
          latency::model_registry(),
          {.model = model, .role = role, .source_length = translation_tokens(), .setting = {.dtype = "fp32"}}};
}

double pass_ms(const latency::CostSurface& surface, const latency::PassPoint& point) {
  return 1e-3 * surface.at(point).time_us;
}

std::vector<double> block_distribution(double alpha) {
  std::vector<double> pmf;
  for (std::int64_t tokens = 1; tokens <= specdec_block; ++tokens) {
    pmf.push_back(analytic::tokens_probability({alpha, specdec_block, Convention::no_bonus}, tokens));
  }
  return pmf;
}

}  // namespace

std::int64_t translation_tokens() { return std::llround(specdec_mean_tokens()); }

BatchTimes longer(const BatchTimes& host, const BatchTimes& device) {
  return {.setup_ms = std::max(host.setup_ms, device.setup_ms), .step_ms = std::max(host.step_ms, device.step_ms)};
}

TranslationDevice::TranslationDevice(const std::string& device, const std::string& drafter)
    : target_(pass_surface(device, "transformer-base", latency::Role::decoder_pass)),
      drafting_(pass_surface(device, drafter, latency::Role::block_drafting)),
      target_encoder_(pass_surface(device, "transformer-base", latency::Role::encoder_pass)),
      drafter_encoder_(pass_surface(device, drafter, latency::Role::encoder_pass)) {}

BatchTimes TranslationDevice::plain(std::int64_t batch, std::int64_t beam, std::int64_t context) const {
  return {.setup_ms = pass_ms(target_encoder_, {.batch = batch}),
          .step_ms = pass_ms(target_, {.batch = batch * beam, .tokens = 1, .context = context})};
}

BatchTimes TranslationDevice::specdec(std::int64_t batch, std::int64_t context) const {
  const latency::PassPoint block{.batch = batch, .tokens = specdec_block, .context = context};
  return {.setup_ms = pass_ms(target_encoder_, {.batch = batch}) + pass_ms(drafter_encoder_, {.batch = batch}),
          .step_ms = pass_ms(drafting_, block) + pass_ms(target_, block)};
}

ProgramTimes program_times(const SpecdecSpeed& printed) {
  const analytic::BlockLatency profile = specdec_profile();
  const double beam_ms = specdec_beam_ms();
  const auto tokens = static_cast<double>(translation_tokens());
  const auto steps_of = [](double sentence_ms, double setup_ms, double steps) {
    return BatchTimes{.setup_ms = setup_ms, .step_ms = (sentence_ms - setup_ms) / steps};
  };
  return {.beam = steps_of(beam_ms, profile.target_encoder_ms, tokens),
          .greedy = steps_of(beam_ms / specdec_greedy_speedup(), profile.target_encoder_ms, tokens),
          .specdec =
              steps_of(beam_ms / printed.speedup, analytic::setup_ms(profile), tokens / printed.tokens_per_iteration)};
}

double translation_alpha(double tokens_per_iteration) {
  const auto tokens = static_cast<double>(translation_tokens());
  const auto excess = [&](double alpha) { return tokens / own_pace_iterations(alpha, 1) - tokens_per_iteration; };
  constexpr int bits = 40;
  return boost::math::tools::bisect(excess, 0.0, 1.0, boost::math::tools::eps_tolerance<double>(bits)).first;
}

double own_pace_iterations(double alpha, std::int64_t batch) {
  return analytic::slowest_iterations(analytic::iterations_survival(block_distribution(alpha), translation_tokens()),
                                      batch);
}

double lockstep_iterations(double alpha, std::int64_t batch) {
  return analytic::expected_iterations(block_distribution(std::pow(alpha, static_cast<double>(batch))),
                                       translation_tokens());
}

namespace {

constexpr std::array<std::int64_t, 9> sentence_batches{1, 2, 4, 8, 16, 32, 64, 128, 256};
constexpr std::array<std::int64_t, 3> told_sentence_batches{1, 32, 128};
constexpr std::int64_t beam_width = 5;
constexpr std::uint64_t served_batches = 200;
constexpr std::uint64_t replicas = 20;

/// Whose time counts: the roofline knows no program, the printed times no batch.
struct Clock {
  std::string_view name;
  bool program;
};
constexpr std::array clocks{Clock{"device alone", false}, Clock{"device and program", true}};

/// Caches are half as long as sentences on average.
std::int64_t mean_context() { return translation_tokens() / 2; }

struct TranslationSetting {
  ProgramTimes program;
  double alpha;
};

TranslationSetting translation_setting(const SpecdecSpeed& printed) {
  return {.program = program_times(printed), .alpha = translation_alpha(printed.tokens_per_iteration)};
}

BatchTimes on_clock(const Clock& clock, const BatchTimes& program, const BatchTimes& device) {
  return clock.program ? longer(program, device) : device;
}

double batch_ms(const BatchTimes& times, double steps) { return times.setup_ms + steps * times.step_ms; }

BatchTimes specdec_times(const Clock& clock, const TranslationSetting& setting, const TranslationDevice& device,
                         std::int64_t batch, std::int64_t context) {
  return on_clock(clock, setting.program.specdec, device.specdec(batch, context));
}

double beam_ms(const Clock& clock, const TranslationSetting& setting, const TranslationDevice& device,
               std::int64_t batch) {
  return batch_ms(on_clock(clock, setting.program.beam, device.plain(batch, beam_width, mean_context())),
                  static_cast<double>(translation_tokens()));
}

double specdec_ms(const Clock& clock, const TranslationSetting& setting, const TranslationDevice& device,
                  std::int64_t batch) {
  return batch_ms(specdec_times(clock, setting, device, batch, mean_context()),
                  own_pace_iterations(setting.alpha, batch));
}

/// A speedup that no paper prints, in the text and in the scorecard.
void add_speedup(ExperimentResult& result, const std::string& id, const std::string& row, std::int64_t batch,
                 double speedup, const std::string& note) {
  result.text += fmt::format(" {:.2f}x at batch {}", speedup, batch);
  result.rows.push_back({.experiment = id,
                         .row = row,
                         .column = fmt::format("speedup over beam search at batch {}", batch),
                         .ours = speedup,
                         .note = note});
}

/// One line of emnlp-figure5.
struct TranslationSystem {
  std::string_view name;
  std::function<double(const Clock& clock, std::int64_t batch)> latency_ms;
  bool simulated;
  Batching batching;
};

/// Batch after batch of sentences, each with the setup of a batch on top.
Estimate simulated_latency_ms(const Clock& clock, const TranslationSetting& setting, const TranslationDevice& device,
                              const TranslationSystem& system, std::int64_t batch, std::uint64_t point,
                              const ExperimentSettings& settings) {
  const auto rows = static_cast<std::uint64_t>(batch);
  const auto simulator = sim::make_serving_simulator(
      {.acceptance = Iid{setting.alpha},
       .gamma = {{1, batch, specdec_block}},
       .convention = Convention::no_bonus,
       .drafting = Drafting::free,  // drafting is in the time of the step
       .batching = system.batching,
       .max_batch = batch,
       .arrivals = {.kind = ArrivalKind::closed, .clients = batch},
       .prompt = {.tokens = 0.0},
       .output = {.tokens = static_cast<double>(translation_tokens())},
       .target_us =
           [&](const StepShape& shape) {
             const auto context = static_cast<std::int64_t>(shape.context);
             return 1e3 * specdec_times(clock, setting, device, shape.batch, context).step_ms;
           },
       .drafter_us = {},
       .requests = served_batches / replicas * rows,
       .warmup_requests = rows,
       .replicas = replicas});
  const sim::Tally tally =
      sim::run(*simulator, {.seed = settings.seed, .point = point, .stop = settings.stop}, settings.threads);
  // Who is answered sends the next sentence at once: behind the first batch, a sentence is there for the time of one.
  Estimate latency = sim::serving_estimates(tally.serving).latency.mean_ms;
  latency.mean += specdec_times(clock, setting, device, batch, 0).setup_ms;
  return latency;
}

ExperimentResult emnlp_figure5(const Declaration& declared, const ExperimentSettings& settings) {
  const PublishedTable& ablation = published_table("emnlp_table2");
  const std::size_t row = ablation.size() - 1;
  const TranslationSetting setting = translation_setting(
      {.tokens_per_iteration = ablation.value(row, "tok"), .speedup = ablation.value(row, "speed_x")});
  const TranslationDevice device("p100", "specdec-drafter-12-2");
  const std::array systems{
      TranslationSystem{"Transformer-base, beam 5",
                        [&](const Clock& clock, std::int64_t batch) { return beam_ms(clock, setting, device, batch); },
                        false, Batching::ragged},
      TranslationSystem{"Transformer-base, greedy",
                        [&](const Clock& clock, std::int64_t batch) {
                          return batch_ms(
                              on_clock(clock, setting.program.greedy, device.plain(batch, 1, mean_context())),
                              static_cast<double>(translation_tokens()));
                        },
                        false, Batching::ragged},
      TranslationSystem{
          "SpecDec, own pace",
          [&](const Clock& clock, std::int64_t batch) { return specdec_ms(clock, setting, device, batch); }, true,
          Batching::ragged},
      TranslationSystem{"SpecDec, lockstep",
                        [&](const Clock& clock, std::int64_t batch) {
                          return batch_ms(specdec_times(clock, setting, device, batch, mean_context()),
                                          lockstep_iterations(setting.alpha, batch));
                        },
                        true, Batching::lockstep}};
  ExperimentResult result{.text = declared.text("caption", {translation_tokens(), ablation.text(row, "tok"),
                                                            ablation.text(row, "speed_x")})};
  DataText data = declared.data();
  std::uint64_t point = 0;
  for (const Clock& clock : clocks) {
    for (const TranslationSystem& system : systems) {
      for (const std::int64_t batch : sentence_batches) {
        data.row().cell(clock.name).cell(system.name).cell(static_cast<double>(batch));
        data.cell(static_cast<double>(batch * translation_tokens())).cell(system.latency_ms(clock, batch));
        data.cell(system.simulated
                      ? std::optional(simulated_latency_ms(clock, setting, device, system, batch, point++, settings))
                      : std::nullopt);
      }
      if (!system.simulated) continue;
      const std::string name = fmt::format("{}, {}", clock.name, system.name);
      result.text += fmt::format(" {}:", name);
      for (const std::int64_t batch : told_sentence_batches) {
        add_speedup(result, declared.id(), name, batch,
                    systems[0].latency_ms(clock, batch) / system.latency_ms(clock, batch),
                    declared.text(clock.program && batch == 1 ? "from_printed" : "from_sheet"));
      }
      result.text += "\n";
    }
  }
  result.artifacts = {{declared.id() + ".csv", data.csv()}};
  return result;
}

ExperimentResult iclr_figure5(const Declaration& declared, const ExperimentSettings& /*settings*/) {
  const PublishedTable& main = published_table("iclr_table1");
  const std::size_t row = main.size() - 1;
  const TranslationSetting setting =
      translation_setting({.tokens_per_iteration = specdec_mean_tokens() / main.value(row, "iterations"),
                           .speedup = main.value(row, "speedup_rerun_x")});
  ExperimentResult result{.text = declared.text("caption", {translation_tokens(), main.text(row, "iterations"),
                                                            main.text(row, "speedup_rerun_x")})};
  DataText data = declared.data();
  using NamedSheet = std::pair<const char*, const char*>;
  for (const Clock& clock : clocks) {
    for (const auto& [name, sheet] : {NamedSheet{"P100", "p100"}, {"V100", "v100"}, {"A100", "a100-80gb"}}) {
      // The memory tables of this version have the drafter at the size of the target.
      const TranslationDevice device(sheet, "transformer-base");
      const auto speedup = [&, &of = clock](std::int64_t batch) {
        return beam_ms(of, setting, device, batch) / specdec_ms(of, setting, device, batch);
      };
      for (const std::int64_t batch : sentence_batches) {
        data.row().cell(clock.name).cell(name).cell(static_cast<double>(batch)).cell(speedup(batch));
      }
      const std::string label = fmt::format("{}, {}", clock.name, name);
      result.text += fmt::format(" {}:", label);
      for (const std::int64_t batch : told_sentence_batches) {
        add_speedup(result, declared.id(), label, batch, speedup(batch), declared.text("by_sheets"));
      }
      result.text += "\n";
    }
  }
  result.artifacts = {{declared.id() + ".csv", data.csv()}};
  return result;
}

}  // namespace

FigureCodes translation_figures() { return {{"emnlp-figure5", emnlp_figure5}, {"iclr-figure5", iclr_figure5}}; }

}  // namespace foredraft::experiments
