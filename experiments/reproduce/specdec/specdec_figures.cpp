// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/paper_formulas.hpp"
#include "experiments/reproduce/specdec/sentences.hpp"
#include "experiments/reproduce/specdec/translation.hpp"
#include "experiments/reproduce/table_account.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "inputs/devices.hpp"
#include "latency/models/model_registry.hpp"
#include "scenario/cost.hpp"
#include "sim/estimates.hpp"
#include "sim/simulate.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::uint64_t drawn_sentences = 6000;
constexpr double bin_width = 0.5;

struct SentenceKind {
  const char* name;
  double spread;  ///< of the logit of acceptance over sentences
};
/// How much acceptance varies between sentences is printed nowhere. A spread of 0.8 takes a mean of 0.91 to 0.82 and
/// 0.96 one standard deviation away.
constexpr std::array<SentenceKind, 2> sentence_kinds{
    {{"all sentences alike", 0.0}, {"acceptance varies between sentences", 0.8}}};

/// The sentences whose total tokens over total iterations are the printed ones.
std::vector<Sentence> matching_sentences(double tokens_per_iteration, double spread, std::uint64_t seed) {
  const auto draw = [&](double location) {
    return simulate_sentences({.mean_length = specdec_mean_tokens(),
                               .location = location,
                               .spread = spread,
                               .gamma = 25,
                               .convention = Convention::no_bonus,
                               .sentences = drawn_sentences},
                              seed);
  };
  constexpr int bits = 12;
  const double location =
      boost::math::tools::bisect(
          [&](double at) { return experiments::tokens_per_iteration(draw(at)) - tokens_per_iteration; }, -1.0, 6.0,
          boost::math::tools::eps_tolerance<double>(bits))
          .first;
  return draw(location);
}

/// Eq. 4 with the setup of the profile; the time of an iteration is what makes the whole set as fast as printed.
/// Sorted.
std::vector<double> sentence_speedups(const std::vector<Sentence>& sentences, double total_speedup) {
  const BlockLatency profile = specdec_profile();
  const double token_ms = (specdec_beam_ms() - profile.target_encoder_ms) / specdec_mean_tokens();
  const auto plain_ms = [&](const Sentence& sentence) {
    return profile.target_encoder_ms + static_cast<double>(sentence.tokens) * token_ms;
  };
  double all_plain_ms = 0.0;
  double iterations = 0.0;
  for (const Sentence& sentence : sentences) {
    all_plain_ms += plain_ms(sentence);
    iterations += static_cast<double>(sentence.iterations);
  }
  BlockLatency latency = profile;
  latency.draft_ms = 0.0;
  latency.verify_ms =
      (all_plain_ms / total_speedup - static_cast<double>(sentences.size()) * profile.setup_ms()) / iterations;
  std::vector<double> speedups;
  for (const Sentence& sentence : sentences) {
    speedups.push_back(plain_ms(sentence) / latency.sentence_ms(static_cast<double>(sentence.iterations)));
  }
  std::sort(speedups.begin(), speedups.end());
  return speedups;
}

void sentence_figure(FigureAccount& figure, const ExperimentSettings& settings) {
  figure.say_caption();
  for (const SentenceKind& kind : sentence_kinds) {
    const std::vector<double> speedups = sentence_speedups(
        matching_sentences(figure.value("tokens"), kind.spread, settings.seed), figure.value("speedup"));
    const auto between = [&](double low, double high) {
      return std::lower_bound(speedups.begin(), speedups.end(), high) -
             std::lower_bound(speedups.begin(), speedups.end(), low);
    };
    const auto n = static_cast<double>(speedups.size());
    for (int bin = 0; bin * bin_width <= speedups.back(); ++bin) {
      const double low = bin * bin_width;
      const double share = static_cast<double>(between(low, low + bin_width)) / n;
      figure.row(kind.name, low, low + bin_width, share, std::sqrt(share * (1 - share) / n));
    }
    const std::int64_t maximum = between(3.0, 7.0);
    const double share = static_cast<double>(maximum) / n;
    const auto quantile = [&](double level) { return speedups[static_cast<std::size_t>(level * (n - 1.0))]; };
    const std::string summary =
        figure.declared().said("summary_of_sentences", 100.0 * share, quantile(0.5), quantile(0.05), quantile(0.95));
    figure.say(fmt::format(" {}: {}\n", kind.name, summary));
    figure.score({.experiment = figure.declared().id(),
                  .row = kind.name,
                  .column = "share of sentences between 3x and 7x",
                  .ours = share,
                  .ours_interval = clopper_pearson(maximum, static_cast<std::int64_t>(speedups.size())),
                  .kind = Kind::simulated,
                  .note = "the text says most; " + summary});
  }
}

void iclr_figure2(FigureAccount& figure, const ExperimentSettings& /*settings*/) {
  const TableAccount account(declaration("iclr-table1"));
  const PublishedTable& main = account.published();
  figure.say_caption();
  for (std::size_t row = 0; row < main.size(); ++row) {
    const std::string speed = main.is_number(row, "speedup_rerun_x") ? "speedup_rerun_x" : "speedup_reported_x";
    if (!main.is_number(row, speed)) continue;
    const std::string& group = main.text(row, "group");
    figure.row(group == "Ours" ? "SpecDec and its parts" : group, main.text(row, "model"),
               main.value(row, "bleu_en_de"), main.value(row, speed), account.answer(row, speed)->ours);
  }
}

latency::CostSurface pass_surface(const std::string& device, const std::string& model, latency::Role role) {
  return {inputs::read_profile(device).profile,
          latency::model_registry(),
          {.model = model, .role = role, .source_length = translation_tokens(), .setting = {.dtype = "fp32"}}};
}

double pass_ms(const latency::CostSurface& surface, const latency::ForwardPassPoint& point) {
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
  const latency::ForwardPassPoint block{.batch = batch, .tokens = specdec_block, .context = context};
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

/// Greedy decoding relative to beam search, in [Xia2022, Table 1] as in every table that prints both.
double greedy_speedup() {
  const PublishedTable& main = published_table("iclr_table1");
  return main.value(main.row_where({{"model", "AT verifier (b = 1)"}}), "speedup_rerun_x");
}

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

/// Whose time counts: the roofline knows no program, the printed times no batch.
struct Clock {
  std::string_view name;
  bool program;
};
constexpr std::array clocks{Clock{"device alone", false}, Clock{"device and program", true}};

/// Passes that draft and verify in one step.
class BlockSteps final : public ForwardPassTimes {
 public:
  explicit BlockSteps(std::function<double(const StepShape&)> step_us) : step_us_(std::move(step_us)) {}

  [[nodiscard]] std::optional<DecodingCost> cost(const LookedUpTimes& /*asked*/, std::int64_t /*gamma*/,
                                                 Convention /*convention*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] double target_us(const StepShape& shape, Convention /*convention*/) const override {
    return step_us_(shape);
  }
  void check_memory(const StepShape& /*shape*/) const override {}
  [[nodiscard]] double drafter_us(const StepShape& /*shape*/) const override { return 0.0; }

 private:
  std::function<double(const StepShape&)> step_us_;
};

/// Batches of sentences on a device, by one clock.
struct Translation {
  Clock clock;
  const TranslationDevice& device;
  double tokens_per_iteration;  ///< printed for all sentences together
  double speedup;               ///< the same; over beam search
  double alpha = translation_alpha(tokens_per_iteration);

  /// What the papers' program takes at batch 1, where a device of theirs computes for a fraction of that: encoders and
  /// "Others" from the module profile [Xia2022, Table 18], steps as long as the printed speedups say.
  [[nodiscard]] BatchTimes program(const TranslationSystem& system) const {
    const BlockLatency profile = specdec_profile();
    const auto tokens = static_cast<double>(translation_tokens());
    const bool plain = system.beams > 0;
    const double setup_ms = plain ? profile.target_encoder_ms : profile.setup_ms();
    const double faster = !plain ? speedup : system.beams == 1 ? greedy_speedup() : 1.0;
    const double steps = plain ? tokens : tokens / tokens_per_iteration;
    return {.setup_ms = setup_ms, .step_ms = (specdec_beam_ms() / faster - setup_ms) / steps};
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
    Measured steps;
    steps.times = std::make_shared<const BlockSteps>([&, system](const StepShape& shape) {
      return 1e3 * times(system, shape.batch, static_cast<std::int64_t>(shape.context)).step_ms;
    });
    const auto simulator =
        sim::make_simulator({.fidelity = Server{.acceptance = Iid{alpha},
                                                .batching = system.pace,
                                                .max_batch = batch,
                                                .arrivals = {.kind = ArrivalKind::closed, .clients = batch},
                                                .output = {.tokens = static_cast<double>(translation_tokens())}},
                             .gamma = specdec_block,
                             .convention = Convention::no_bonus,
                             .drafter = BlockDrafter{},
                             .cost = steps},
                            {.requests = served_batches * rows, .replicas = replicas, .warmup_requests = rows});
    const sim::Tally tally =
        sim::run(*simulator, {.seed = settings.seed, .point = point, .stop = settings.stop}, settings.threads);
    // Who is answered sends the next sentence at once: behind the first batch, a sentence is there for the time of one.
    Estimate latency = sim::serving_estimates(tally.serving).latency_ms;
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
  const TranslationDevice device("p100", "specdec-drafter-12-2");
  figure.say_caption();
  std::uint64_t point = 0;
  for (const Clock& clock : clocks) {
    const Translation translation{clock, device, figure.value("tokens"), figure.value("speedup")};
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
  figure.say_caption();
  using NamedSheet = std::pair<const char*, const char*>;
  for (const Clock& clock : clocks) {
    for (const auto& [name, sheet] : {NamedSheet{"P100", "p100"}, {"V100", "v100"}, {"A100", "a100-80gb"}}) {
      // The memory tables of this version have the drafter at the size of the target.
      const TranslationDevice device(sheet, "transformer-base");
      const Translation translation{clock, device, figure.value("tokens"), figure.value("speedup")};
      for (const std::int64_t batch : sentence_batches) {
        figure.row(clock.name, name, batch,
                   translation.latency_ms(beam_search, batch) / translation.latency_ms(own_pace, batch));
      }
      tell_speedups(figure, translation, own_pace, name, false);
    }
  }
}

}  // namespace

ExperimentCodes specdec_figures() {
  return {{"emnlp-figure5", emnlp_figure5},
          {"emnlp-figure6", sentence_figure},
          {"iclr-figure2", iclr_figure2},
          {"iclr-figure4", sentence_figure},
          {"iclr-figure5", iclr_figure5}};
}

}  // namespace foredraft::experiments
