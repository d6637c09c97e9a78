// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/translation_times.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <utility>

#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/reproduce/figure_account.hpp"
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

namespace {

constexpr std::array<std::int64_t, 9> sentence_batches{1, 2, 4, 8, 16, 32, 64, 128, 256};
constexpr std::array<std::int64_t, 3> told_sentence_batches{1, 32, 128};
constexpr std::uint64_t served_batches = 200;
constexpr std::uint64_t replicas = 20;

/// Of a host that launches work and a device that computes meanwhile, the longer one, part by part.
BatchTimes longer(const BatchTimes& host, const BatchTimes& device) {
  return {.setup_ms = std::max(host.setup_ms, device.setup_ms), .step_ms = std::max(host.step_ms, device.step_ms)};
}

/// Mean iterations where all sentences of a batch go on by what the one accepts that accepts fewest.
double lockstep_iterations(double alpha, std::int64_t batch) {
  return analytic::expected_iterations(block_distribution(std::pow(alpha, static_cast<double>(batch))),
                                       translation_tokens());
}

/// A line of the figure: plain decoding with some beams, or (0 beams) SpecDec, every sentence at its own pace or not.
struct TranslationSystem {
  std::string_view name;
  std::int64_t beams;
  Batching pace = Batching::ragged;
};
constexpr TranslationSystem beam_search{"Transformer-base, beam 5", 5};
constexpr TranslationSystem own_pace{"SpecDec, own pace", 0};

/// Printed for all sentences together; the speedup is over beam search.
struct PrintedSpeed {
  double tokens_per_iteration;
  double speedup;
};

/// Whose time counts: the roofline knows no program, the printed times no batch.
struct Clock {
  std::string_view name;
  bool program;
};
constexpr std::array clocks{Clock{"device alone", false}, Clock{"device and program", true}};

/// Batches of sentences on a device, by one clock.
struct Translation {
  Clock clock;
  const TranslationDevice& device;
  PrintedSpeed printed;
  double alpha;

  /// What the papers' program takes at batch 1, where a device of theirs computes for a fraction of that: encoders and
  /// "Others" from the module profile [Xia2022, Table 18], steps as long as the printed speedups say.
  [[nodiscard]] BatchTimes program(const TranslationSystem& system) const {
    const analytic::BlockLatency profile = specdec_profile();
    const auto tokens = static_cast<double>(translation_tokens());
    const bool plain = system.beams > 0;
    const double setup_ms = plain ? profile.target_encoder_ms : analytic::setup_ms(profile);
    const double speedup = !plain ? printed.speedup : system.beams == 1 ? specdec_greedy_speedup() : 1.0;
    const double steps = plain ? tokens : tokens / printed.tokens_per_iteration;
    return {.setup_ms = setup_ms, .step_ms = (specdec_beam_ms() / speedup - setup_ms) / steps};
  }

  [[nodiscard]] BatchTimes times(const TranslationSystem& system, std::int64_t batch, std::int64_t context) const {
    const BatchTimes computing =
        system.beams > 0 ? device.plain(batch, system.beams, context) : device.specdec(batch, context);
    return clock.program ? longer(program(system), computing) : computing;
  }

  /// By closed forms; caches are half as long as sentences on average.
  [[nodiscard]] double latency_ms(const TranslationSystem& system, std::int64_t batch) const {
    const BatchTimes of_batch = times(system, batch, translation_tokens() / 2);
    const double steps = system.beams > 0                    ? static_cast<double>(translation_tokens())
                         : system.pace == Batching::lockstep ? lockstep_iterations(alpha, batch)
                                                             : own_pace_iterations(alpha, batch);
    return of_batch.setup_ms + steps * of_batch.step_ms;
  }

  /// Batch after batch of sentences, each with the setup of a batch on top.
  [[nodiscard]] Estimate simulated_latency_ms(const TranslationSystem& system, std::int64_t batch, std::uint64_t point,
                                              const ExperimentSettings& settings) const {
    const auto rows = static_cast<std::uint64_t>(batch);
    const auto simulator = sim::make_serving_simulator(
        {.acceptance = Iid{alpha},
         .gamma = {{1, batch, specdec_block}},
         .convention = Convention::no_bonus,
         .drafting = Drafting::free,  // drafting is in the time of the step
         .batching = system.pace,
         .max_batch = batch,
         .arrivals = {.kind = ArrivalKind::closed, .clients = batch},
         .prompt = {.tokens = 0.0},
         .output = {.tokens = static_cast<double>(translation_tokens())},
         .target_us =
             [&](const StepShape& shape) {
               return 1e3 * times(system, shape.batch, static_cast<std::int64_t>(shape.context)).step_ms;
             },
         .drafter_us = {},
         .requests = served_batches / replicas * rows,
         .warmup_requests = rows,
         .replicas = replicas});
    const sim::Tally tally =
        sim::run(*simulator, {.seed = settings.seed, .point = point, .stop = settings.stop}, settings.threads);
    // Who is answered sends the next sentence at once: behind the first batch, a sentence is there for the time of one.
    Estimate latency = sim::serving_estimates(tally.serving).latency.mean_ms;
    latency.mean += times(system, batch, 0).setup_ms;
    return latency;
  }
};

/// Speedups that no paper prints, in the text and in the scorecard.
void tell_speedups(FigureAccount& figure, const Translation& translation, const TranslationSystem& system,
                   std::string_view name, bool from_printed) {
  const std::string row = fmt::format("{}, {}", translation.clock.name, name);
  figure.say(fmt::format(" {}:", row));
  for (const std::int64_t batch : told_sentence_batches) {
    const double speedup = translation.latency_ms(beam_search, batch) / translation.latency_ms(system, batch);
    const bool is_input = from_printed && translation.clock.program && batch == 1;
    figure.say(fmt::format(" {:.2f}x at batch {}", speedup, batch));
    figure.score(row, fmt::format("speedup over beam search at batch {}", batch), speedup,
                 figure.declared().text(is_input ? "from_printed" : "from_sheet"));
  }
  figure.say("\n");
}

void emnlp_figure5(FigureAccount& figure, const ExperimentSettings& settings) {
  const PublishedTable& ablation = published_table("emnlp_table2");
  const std::size_t row = ablation.size() - 1;
  const PrintedSpeed printed{ablation.value(row, "tok"), ablation.value(row, "speed_x")};
  const TranslationDevice device("p100", "specdec-drafter-12-2");
  figure.say_declared("caption", {translation_tokens(), ablation.text(row, "tok"), ablation.text(row, "speed_x")});
  std::uint64_t point = 0;
  for (const Clock& clock : clocks) {
    const Translation translation{clock, device, printed, translation_alpha(printed.tokens_per_iteration)};
    for (const TranslationSystem& system : {beam_search, TranslationSystem{"Transformer-base, greedy", 1}, own_pace,
                                            TranslationSystem{"SpecDec, lockstep", 0, Batching::lockstep}}) {
      for (const std::int64_t batch : sentence_batches) {
        std::optional<Estimate> simulated;
        if (system.beams == 0) simulated = translation.simulated_latency_ms(system, batch, point++, settings);
        figure.row(clock.name, system.name, batch, batch * translation_tokens(), translation.latency_ms(system, batch),
                   simulated);
      }
      if (system.beams == 0) tell_speedups(figure, translation, system, system.name, true);
    }
  }
}

void iclr_figure5(FigureAccount& figure, const ExperimentSettings& /*settings*/) {
  const PublishedTable& main = published_table("iclr_table1");
  const std::size_t row = main.size() - 1;
  const PrintedSpeed printed{specdec_mean_tokens() / main.value(row, "iterations"), main.value(row, "speedup_rerun_x")};
  figure.say_declared("caption",
                      {translation_tokens(), main.text(row, "iterations"), main.text(row, "speedup_rerun_x")});
  using NamedSheet = std::pair<const char*, const char*>;
  for (const Clock& clock : clocks) {
    for (const auto& [name, sheet] : {NamedSheet{"P100", "p100"}, {"V100", "v100"}, {"A100", "a100-80gb"}}) {
      // The memory tables of this version have the drafter at the size of the target.
      const TranslationDevice device(sheet, "transformer-base");
      const Translation translation{clock, device, printed, translation_alpha(printed.tokens_per_iteration)};
      for (const std::int64_t batch : sentence_batches) {
        figure.row(clock.name, name, batch,
                   translation.latency_ms(beam_search, batch) / translation.latency_ms(own_pace, batch));
      }
      tell_speedups(figure, translation, own_pace, name, false);
    }
  }
}

}  // namespace

FigureCodes translation_figures() { return {{"emnlp-figure5", emnlp_figure5}, {"iclr-figure5", iclr_figure5}}; }

}  // namespace foredraft::experiments
