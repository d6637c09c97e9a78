// SPDX-License-Identifier: Apache-2.0
#include "sim/process/sequence_simulator.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/check.hpp"
#include "core/random_stream.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/process/policy_sources.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/process/simulators.hpp"

namespace foredraft::sim {
namespace {

double exponential(RandomStream& random) { return -std::log1p(-random.uniform()); }

/// A standard normal variate [Box1958]; the first of the pair.
double standard_normal(RandomStream& random) {
  const double radius = std::sqrt(2.0 * exponential(random));
  return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

/// Acceptance belongs to the position in the text: the next iteration begins after a rejected position.
std::int64_t iterations_of(std::int64_t tokens, double alpha, std::int64_t gamma, Convention convention,
                           RandomStream& random) {
  const std::int64_t most = max_tokens(gamma, convention);
  std::int64_t iterations = 0;
  std::int64_t in_iteration = 0;
  for (std::int64_t position = 0; position < tokens; ++position) {
    if (in_iteration == 0) ++iterations;
    ++in_iteration;
    const bool accepted = random.uniform() < alpha;
    if (!accepted || in_iteration == most) in_iteration = 0;
  }
  return iterations;
}

}  // namespace

std::vector<Sentence> simulate_sentences(const SentencePopulation& population, std::uint64_t seed) {
  if (!(population.mean_length >= 1.0)) throw DomainError("invalid mean_length (must be at least 1)");
  check_positive("mean_length", population.mean_length);
  check_nonnegative("abs(location)", std::abs(population.location));
  check_nonnegative("spread", population.spread);
  check_at_least("gamma", population.gamma, min_gamma(population.convention));
  if (population.sentences < 1) throw DomainError("invalid sentences=0 (must be at least 1)");
  std::vector<Sentence> sentences;
  sentences.reserve(population.sentences);
  for (std::uint64_t i = 0; i < population.sentences; ++i) {
    RandomStream lengths(seed, {.purpose = Purpose::sequence_length, .point = 0, .block = i});
    RandomStream latent(seed, {.purpose = Purpose::latent_alpha, .point = 0, .block = i});
    RandomStream accept(seed, {.purpose = Purpose::bernoulli, .point = 0, .block = i});
    constexpr double shape = 3.0;
    const double length =
        population.mean_length / shape * (exponential(lengths) + exponential(lengths) + exponential(lengths));
    const auto tokens = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(length)));
    const double alpha = 1.0 / (1.0 + std::exp(-(population.location + population.spread * standard_normal(latent))));
    sentences.push_back({.tokens = tokens,
                         .iterations = iterations_of(tokens, alpha, population.gamma, population.convention, accept)});
  }
  return sentences;
}

double tokens_per_iteration(const std::vector<Sentence>& sentences) {
  if (sentences.empty()) throw DomainError("invalid sentences (must have at least one entry)");
  double tokens = 0.0;
  double iterations = 0.0;
  for (const Sentence& sentence : sentences) {
    tokens += static_cast<double>(sentence.tokens);
    iterations += static_cast<double>(sentence.iterations);
  }
  return tokens / iterations;
}

namespace {

class SequenceSimulator final : public Simulator {
 public:
  SequenceSimulator(const AcceptanceProcess& process, const IterationShape& shape, const SequenceLength& law,
                    const BlockPlan& plan, Path path)
      : mixture_(latent(process, path)),
        shape_(shape),
        law_(law),
        steps_(steps_per_iteration(process, shape)),
        plan_(plan),
        path_(path),
        is_chain_(std::holds_alternative<Markov>(process)),
        start_(long_run_acceptance(process)) {
    if (mixture_) return;
    for (const std::size_t state : {0U, 1U}) {
      if (state == 1 && !is_chain_) continue;
      if (path == Path::fast) {
        survival_[state] = SurvivalRow(survival_thresholds(process, steps_, state == 1));
      } else {
        acceptance_[state] = acceptance_thresholds(process, steps_, state == 1);
      }
    }
  }

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    if (mixture_)
      return run_block(LatentStepper(*mixture_, static_cast<std::uint64_t>(steps_), key, block), key, block);
    if (path_ == Path::fast) return run_block(SurvivalStepper(survival_, key, block), key, block);
    return run_block(BernoulliStepper(acceptance_, key, block), key, block);
  }

 private:
  static std::optional<BetaMixture> latent(const AcceptanceProcess& process, Path path) {
    const auto* mixture = std::get_if<BetaMixture>(&process);
    return mixture != nullptr && path == Path::reference ? std::optional(*mixture) : std::nullopt;
  }

  template <class Stepper>
  [[nodiscard]] Tally run_block(Stepper stepper, const RunKey& key, std::uint64_t block) const {
    OutcomeCounts counts(shape_);
    RandomStream lengths(key.seed, {.purpose = Purpose::sequence_length, .point = key.point, .block = block});
    Draws starts(key, chain_start_draws, block, 1);
    const std::uint64_t sequences = plan_.in_block(block);
    std::uint64_t iteration = 0;
    StopMeter stop(key.stop);
    for (std::uint64_t sequence = 0; sequence < sequences; ++sequence) {
      std::int64_t remaining = draw_length(law_, lengths);
      bool after_acceptance = is_chain_ && starts.below(start_, sequence, 0);
      while (remaining >= shape_.max_tokens()) {
        const std::int64_t steps = stepper.accepted_steps(iteration++, after_acceptance, steps_);
        const Outcome outcome = iteration_outcome(shape_, steps);
        stop.spend(1 + steps);
        counts.add(outcome);
        remaining -= outcome.tokens;
        after_acceptance = is_chain_ && steps == steps_;
      }
      while (remaining > 0) {
        const std::int64_t steps = stepper.accepted_steps(iteration++, after_acceptance, std::min(steps_, remaining));
        const Outcome outcome = last_outcome(shape_, steps, remaining);
        stop.spend(1 + steps);
        counts.add(outcome);
        remaining -= outcome.tokens;
        after_acceptance = false;  // steps < steps_: a rejection, or the end of the text
      }
      counts.end_unit();
    }
    return counts.tally();
  }

  std::optional<BetaMixture> mixture_;
  IterationShape shape_;
  SequenceLength law_;
  std::int64_t steps_;
  BlockPlan plan_;
  Path path_;
  bool is_chain_;
  Threshold start_;
  SurvivalByState survival_;
  ThresholdsByState acceptance_;
};

}  // namespace

std::unique_ptr<Simulator> make_sequence_simulator(const AcceptanceProcess& process, const IterationShape& shape,
                                                   const SequenceLength& law, std::uint64_t sequences, Path path) {
  return std::make_unique<SequenceSimulator>(process, shape, law, plan_sequences(sequences, law.tokens), path);
}

}  // namespace foredraft::sim
