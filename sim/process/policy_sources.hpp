// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/process/threshold.hpp"
#include "sim/simulator.hpp"

/// The threshold of an optimally stopping drafter: the minimum probability for one more draft.
namespace foredraft::sim {

/// The next draft pays if its token is emitted with a probability above `price` = c * the best long-run speedup. Found
/// by iterating over the acceptances that the drafter can have: one sequence (Iid, Positional), or 2,048 values of
/// alpha at the centers of equal slices of its distribution (BetaMixture), which determine the price to about 1e-4.
[[nodiscard]] double stopping_price(const AcceptanceProcess& process, std::int64_t gamma, double c,
                                    Convention convention);

/// Draft length at this price, at most gamma, for constant acceptance and for Iid and Positional processes.
[[nodiscard]] std::int64_t drafts_at_price(double alpha, double price, std::int64_t gamma, Convention convention);
[[nodiscard]] std::int64_t drafts_at_price(const AcceptanceProcess& process, double price, std::int64_t gamma,
                                           Convention convention);

// ---- Accepted steps of an iteration, for loops over single iterations. Each stepper implements
// `accepted_steps(iteration, after_acceptance, limit)`: how many of the next token positions are accepted before the
// first rejection, at most `limit`. A step is a token position; the Markov chain also steps over the bonus token.

/// Survival thresholds of an iteration, with an index by the first byte of a draw.
class SurvivalRow {
 public:
  SurvivalRow() = default;
  explicit SurvivalRow(Thresholds survival);

  /// Number of thresholds above these leading bits.
  [[nodiscard]] std::size_t above(std::uint32_t leading) const {
    const std::uint32_t byte = leading >> 8U;
    const std::uint32_t* end = survival_.high.data() + from_byte_[byte];
    const std::uint32_t* position = survival_.high.data() + from_byte_[byte + 1];
    if (end - position > few) {
      position = std::partition_point(position, end, [leading](std::uint32_t high) { return high > leading; });
    } else {
      while (position != end && *position > leading) ++position;
    }
    return static_cast<std::size_t>(position - survival_.high.data());
  }

  /// Whether the leading bits tie with the first threshold that does not exceed them, if there is one.
  [[nodiscard]] bool ties(std::size_t position, std::uint32_t leading) const {
    return survival_.high[position] == leading;
  }

  /// Number of thresholds above the whole draw, from the first tied one on.
  [[nodiscard]] std::size_t above_tied(std::size_t position, std::uint32_t leading, std::uint64_t trailing) const {
    while (ties(position, leading) && trailing < survival_.low[position]) ++position;
    return position;
  }

 private:
  static constexpr std::ptrdiff_t few = 8;

  Thresholds survival_;                         // and a last entry that ties with nothing
  std::array<std::uint32_t, 257> from_byte_{};  // [b]: thresholds of at least 256 b
};

/// Thresholds given the previous token: [0] rejected, [1] accepted, which only the Markov chain has.
using ThresholdsByState = std::array<Thresholds, 2>;
using SurvivalByState = std::array<SurvivalRow, 2>;

[[nodiscard]] std::shared_ptr<const SurvivalByState> survival_by_state(const AcceptanceProcess& process,
                                                                       std::int64_t positions);
[[nodiscard]] std::shared_ptr<const ThresholdsByState> acceptance_by_state(const AcceptanceProcess& process,
                                                                           std::int64_t positions);

/// One draw per iteration against survival thresholds.
class SurvivalStepper {
 public:
  SurvivalStepper(std::shared_ptr<const SurvivalByState> survival, const RunKey& key, std::uint64_t block)
      : survival_(std::move(survival)), draws_(key, survival_draws, block, 1) {}

  [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, bool after_acceptance, std::int64_t limit) {
    const SurvivalRow& row = (*survival_)[after_acceptance ? 1 : 0];
    const std::uint32_t bits = draws_.leading(iteration, 0);
    std::size_t steps = row.above(bits);
    if (row.ties(steps, bits)) steps = row.above_tied(steps, bits, draws_.trailing(iteration, 0));
    return std::min(static_cast<std::int64_t>(steps), limit);
  }

 private:
  std::shared_ptr<const SurvivalByState> survival_;
  Draws draws_;
};

/// One draw per drafted token.
class BernoulliStepper {
 public:
  BernoulliStepper(std::shared_ptr<const ThresholdsByState> acceptance, const RunKey& key, std::uint64_t block)
      : acceptance_(std::move(acceptance)), draws_(key, bernoulli_draws, block, acceptance_->front().size()) {}

  [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, bool after_acceptance, std::int64_t limit) {
    const Thresholds& row = (*acceptance_)[after_acceptance ? 1 : 0];
    std::int64_t steps = 0;
    while (steps < limit) {
      const auto position = static_cast<std::size_t>(steps);
      if (!draws_.below(row[position], iteration, position)) break;
      ++steps;
    }
    return steps;
  }

 private:
  std::shared_ptr<const ThresholdsByState> acceptance_;
  Draws draws_;
};

/// An alpha from Beta(a, b) for each iteration, then one draw per drafted token.
class LatentStepper {
 public:
  LatentStepper(const BetaMixture& mixture, std::int64_t positions, const RunKey& key, std::uint64_t block)
      : distribution_(mixture.a, mixture.b),
        latent_(key.seed, {.purpose = Purpose::latent_alpha, .point = key.point, .block = block}),
        draws_(key, bernoulli_draws, block, static_cast<std::uint64_t>(positions)) {}

  [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, bool /*after_acceptance*/, std::int64_t limit) {
    return accepted_steps(iteration, draw_alpha(iteration), limit);
  }

  /// The same in two steps, for a drafter that knows alpha.
  [[nodiscard]] BetaVariate draw_alpha(std::uint64_t iteration) { return distribution_.draw(latent_, iteration); }
  [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, const BetaVariate& alpha, std::int64_t limit) {
    const Threshold threshold = threshold_of(alpha.value, alpha.complement);
    std::int64_t steps = 0;
    while (steps < limit && draws_.below(threshold, iteration, static_cast<std::uint64_t>(steps))) ++steps;
    return steps;
  }

 private:
  BetaDistribution distribution_;
  RandomStream latent_;
  Draws draws_;
};

/// `use(make_stepper)`, of make_stepper(key, block), for `positions` of any process but Runs and Trace.
template <class Use>
[[nodiscard]] std::unique_ptr<Simulator> over_steppers(const AcceptanceProcess& process, std::int64_t positions,
                                                       Path path, const Use& use) {
  if (path == Path::fast) {
    return use([table = survival_by_state(process, positions)](const RunKey& key, std::uint64_t block) {
      return SurvivalStepper(table, key, block);
    });
  }
  if (const auto* mixture = std::get_if<BetaMixture>(&process)) {
    return use([distribution = *mixture, positions](const RunKey& key, std::uint64_t block) {
      return LatentStepper(distribution, positions, key, block);
    });
  }
  return use([table = acceptance_by_state(process, positions)](const RunKey& key, std::uint64_t block) {
    return BernoulliStepper(table, key, block);
  });
}

// ---- Iterations of varying draft lengths, for loops over single iterations. Each source implements `next(iteration,
// remaining)`, the outcome of the next iteration of a text that has `remaining` more tokens;
// `restart(after_acceptance)`, the beginning of a text after a token that was accepted or not; and `state()`, below
// `states()`, which determines all later iterations. `settling` iterations forget the beginning.

inline constexpr std::int64_t endless_tokens = std::numeric_limits<std::int64_t>::max();

[[nodiscard]] inline VaryingIteration varying_iteration(const IterationShape& shape, std::int64_t steps,
                                                        std::int64_t remaining) {
  return {shape.gamma, outcome_in_text(shape, steps, remaining)};
}

/// Sources of independent iterations.
class MemorylessSource {
 public:
  void restart(bool /*after_acceptance*/) {}
  [[nodiscard]] std::size_t state() const { return 0; }
  [[nodiscard]] std::size_t states() const { return 1; }
  [[nodiscard]] std::uint64_t settling() const { return 0; }
};

/// ConstantGamma over any stepper, for sequences.
template <class Stepper>
class ConstantSource {
 public:
  ConstantSource(const IterationShape& shape, bool is_chain, Stepper stepper)
      : shape_(shape),
        positions_(is_chain ? shape.max_tokens() : shape.gamma),
        is_chain_(is_chain),
        stepper_(std::move(stepper)) {}

  void restart(bool after_acceptance) { after_acceptance_ = after_acceptance; }

  [[nodiscard]] Outcome next(std::uint64_t iteration, std::int64_t remaining) {
    const std::int64_t steps = stepper_.accepted_steps(iteration, after_acceptance_, std::min(positions_, remaining));
    after_acceptance_ = is_chain_ && steps == positions_;
    return outcome_in_text(shape_, steps, remaining);
  }

 private:
  IterationShape shape_;
  std::int64_t positions_;
  bool is_chain_;
  Stepper stepper_;
  bool after_acceptance_ = false;
};

/// Plus2Minus1 over any stepper.
template <class Stepper>
class HeuristicSource {
 public:
  HeuristicSource(const IterationShape& longest, const Plus2Minus1& policy, bool is_chain, Stepper stepper)
      : shape_(longest),
        longest_(longest.gamma),
        start_(std::min(policy.start, longest.gamma)),
        is_chain_(is_chain),
        stepper_(std::move(stepper)) {
    restart(false);
  }

  void restart(bool after_acceptance) {
    shape_.gamma = start_;
    after_acceptance_ = after_acceptance;
  }

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    const std::int64_t positions = is_chain_ ? shape_.max_tokens() : shape_.gamma;
    const std::int64_t steps = stepper_.accepted_steps(iteration, after_acceptance_, std::min(positions, remaining));
    const VaryingIteration result = varying_iteration(shape_, steps, remaining);
    after_acceptance_ = is_chain_ && steps == positions;
    shape_.gamma = result.outcome.accepted == shape_.gamma ? std::min(shape_.gamma + 2, longest_)
                                                           : std::max<std::int64_t>(shape_.gamma - 1, 1);
    return result;
  }

  [[nodiscard]] std::size_t state() const {
    return 2 * static_cast<std::size_t>(shape_.gamma) + (after_acceptance_ ? 1 : 0);
  }
  [[nodiscard]] std::size_t states() const { return 2 * static_cast<std::size_t>(longest_) + 2; }

  /// Enough to get from any length to any other, twice.
  [[nodiscard]] std::uint64_t settling() const {
    constexpr std::uint64_t margin = 64;
    return 2 * static_cast<std::uint64_t>(longest_) + margin;
  }

 private:
  IterationShape shape_;
  std::int64_t longest_;
  std::int64_t start_;
  bool is_chain_;
  Stepper stepper_;
  bool after_acceptance_ = false;
};

/// InputCopy over a stepper that also steps over the position of a bonus token: behind an edit, iterations that draft
/// nothing until text and input are aligned again.
template <class Stepper>
class RealigningSource {
 public:
  RealigningSource(const IterationShape& shape, std::int64_t realign, Stepper stepper)
      : shape_(shape), realign_(realign), stepper_(std::move(stepper)) {}

  void restart(bool /*after_acceptance*/) { left_ = 0; }

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    if (left_ > 0) {
      --left_;
      return {min_gamma(shape_.convention), {.tokens = 1, .accepted = 0, .tested = 0}};
    }
    const std::int64_t positions = std::min(shape_.max_tokens(), remaining);
    const std::int64_t steps = stepper_.accepted_steps(iteration, false, positions);
    if (steps < positions) left_ = realign_;
    return varying_iteration(shape_, steps, remaining);
  }

  [[nodiscard]] std::size_t state() const { return static_cast<std::size_t>(left_); }
  [[nodiscard]] std::size_t states() const { return static_cast<std::size_t>(realign_) + 1; }
  [[nodiscard]] std::uint64_t settling() const { return 0; }

 private:
  IterationShape shape_;
  std::int64_t realign_;
  Stepper stepper_;
  std::int64_t left_ = 0;
};

/// ConfidenceThreshold: each token has its own acceptance probability. The drafter does not know what is rejected.
class ConfidenceSource : public MemorylessSource {
 public:
  ConfidenceSource(const IterationShape& longest, double alpha, const ConfidenceThreshold& policy, const RunKey& key,
                   std::uint64_t block)
      : longest_(longest),
        alpha_(alpha),
        min_acceptance_(std::pow(policy.threshold, 1.0 / policy.bias)),
        acceptance_(key.seed, {.purpose = Purpose::latent_alpha, .point = key.point, .block = block}),
        draws_(key, bernoulli_draws, block, static_cast<std::uint64_t>(longest.gamma)) {
    if (alpha > 0.0 && alpha < 1.0)
      distribution_.emplace(alpha * policy.concentration, (1.0 - alpha) * policy.concentration);
  }

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    IterationShape shape = longest_;
    shape.gamma = 0;
    std::int64_t steps = 0;
    for (bool goes_on = true; goes_on && shape.gamma < longest_.gamma; ++shape.gamma) {
      const auto position = static_cast<std::uint64_t>(shape.gamma);
      const BetaVariate acceptance = draw_acceptance(iteration * static_cast<std::uint64_t>(longest_.gamma) + position);
      const bool alive = steps == shape.gamma;
      if (alive && draws_.below(threshold_of(acceptance.value, acceptance.complement), iteration, position)) ++steps;
      goes_on = acceptance.value >= min_acceptance_;
    }
    return varying_iteration(shape, steps, remaining);
  }

 private:
  [[nodiscard]] BetaVariate draw_acceptance(std::uint64_t place) {
    return distribution_ ? distribution_->draw(acceptance_, place) : BetaVariate{alpha_, 1.0 - alpha_};
  }

  IterationShape longest_;
  double alpha_;
  std::optional<BetaDistribution> distribution_;  ///< if acceptance is not certain
  double min_acceptance_;                         ///< acceptance probability at which confidence reaches the threshold
  RandomStream acceptance_;
  Draws draws_;
};

/// OptimalStopping if the alpha of an iteration is known before its first draft.
class KnownAlphaSource : public MemorylessSource {
 public:
  KnownAlphaSource(const IterationShape& longest, const BetaMixture& mixture, double price, const RunKey& key,
                   std::uint64_t block)
      : longest_(longest), price_(price), stepper_(mixture, longest.gamma, key, block) {}

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    const BetaVariate alpha = stepper_.draw_alpha(iteration);
    IterationShape shape = longest_;
    shape.gamma = drafts_at_price(alpha.value, price_, longest_.gamma, longest_.convention);
    return varying_iteration(shape, stepper_.accepted_steps(iteration, alpha, shape.gamma), remaining);
  }

 private:
  IterationShape longest_;
  double price_;
  LatentStepper stepper_;
};

}  // namespace foredraft::sim
