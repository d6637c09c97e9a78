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
#include <vector>

#include "core/random_stream.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/policy.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "foredraft/words.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/process/threshold.hpp"
#include "sim/simulator.hpp"

/// Optimal stopping: the minimum probability for one more draft.
namespace foredraft::sim {

/// The price, c * the best long-run speedup: one more draft pays if its token is emitted with a probability above it.
/// Found by iterating over the possible acceptances: one sequence (Iid, Positional), or 2,048 values of alpha at the
/// centers of slices of equal probability (BetaMixture), which determine the price to about 1e-4.
[[nodiscard]] double stopping_price(const AcceptanceProcess& process, std::int64_t gamma, double c,
                                    Convention convention);

/// The same if each token's acceptance probability is drawn from Beta(alpha s, (1 - alpha) s), s the concentration.
/// Found from 2^15 sequences of tokens (fewer if they are long), which determine the price to about 0.5 %.
[[nodiscard]] double stopping_price_of_tokens(double alpha, double concentration, std::int64_t gamma, double c,
                                              Convention convention);

/// Draft length at this price, at most gamma, for constant acceptance and for Iid and Positional processes.
[[nodiscard]] std::int64_t drafts_at_price(double alpha, double price, std::int64_t gamma, Convention convention);
[[nodiscard]] std::int64_t drafts_at_price(const AcceptanceProcess& process, double price, std::int64_t gamma,
                                           Convention convention);

// ---- Steppers: accepted positions of single iterations. Each stepper implements `accepted_steps(iteration,
// after_acceptance, limit)`, the number of token positions accepted before the first rejection, at most `limit`. For
// the Markov chain, the bonus token is also a position.

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

  /// True if the leading bits equal the first threshold that does not exceed them.
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

  Thresholds survival_;                         // followed by an entry that never ties
  std::array<std::uint32_t, 257> from_byte_{};  // [b]: thresholds of at least 256 b
};

/// Thresholds given the previous token: [0] rejected, [1] accepted (only for the Markov chain).
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

/// Draws an alpha from Beta(a, b) per iteration, then one uniform per drafted token.
class LatentStepper {
 public:
  LatentStepper(const BetaMixture& mixture, std::int64_t positions, const RunKey& key, std::uint64_t block)
      : distribution_(mixture.a, mixture.b),
        latent_(key.seed, {.purpose = Purpose::latent_alpha, .point = key.point, .block = block}),
        draws_(key, bernoulli_draws, block, static_cast<std::uint64_t>(positions)) {}

  [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, bool /*after_acceptance*/, std::int64_t limit) {
    return accepted_steps(iteration, draw_alpha(iteration), limit);
  }

  /// In two steps, for a drafter that knows alpha.
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

/// Calls `use(make_stepper)`, with make_stepper(key, block), for any process except Runs and Trace.
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

// ---- Sources: single iterations with varying draft lengths. Each source implements `next(iteration, remaining)`, the
// outcome of the next iteration of a text that has `remaining` more tokens; `restart(after_acceptance)`, which starts a
// text; and `state()` < `states()`, which determines all later iterations. After `settling()` iterations the start has
// no influence.

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

/// ConstantGamma with any stepper, for sequences.
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

/// Plus2Minus1 with any stepper.
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

  /// Enough iterations to get from any length to any other, twice.
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

/// InputCopy with a stepper that includes the position of the bonus token. After an edit, iterations draft nothing
/// until text and input are aligned again.
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

// ---- Drafters that combine several.

/// StagedDrafter with a stepper of the draft model's tokens. The inner drafts of a round are drawn one by one.
template <class Stepper>
class StagedSource : public MemorylessSource {
 public:
  StagedSource(const IterationShape& shape, const StagedDrafter& drafter, Stepper stepper, const RandomStream& inner)
      : shape_(shape), drafter_(drafter), stepper_(std::move(stepper)), inner_(inner) {}

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    IterationShape shape = shape_;
    shape.gamma = 0;
    for (std::int64_t left = shape_.gamma; left > 0; left -= drafter_.inner_gamma + 1) {
      const std::int64_t inner_drafts = std::min(left - 1, drafter_.inner_gamma);
      std::int64_t accepted = 0;
      while (accepted < inner_drafts && inner_.uniform() < drafter_.inner_alpha) ++accepted;
      shape.gamma += accepted + 1;
    }
    return varying_iteration(shape, stepper_.accepted_steps(iteration, false, shape.gamma), remaining);
  }

 private:
  IterationShape shape_;
  StagedDrafter drafter_;
  Stepper stepper_;
  RandomStream inner_;
};

/// IndependentDrafts with a stepper of single drafts. The longest accepted one counts.
template <class Stepper>
class LongestSource : public MemorylessSource {
 public:
  LongestSource(const IterationShape& shape, std::int64_t drafts, Stepper stepper)
      : shape_(shape), drafts_(static_cast<std::uint64_t>(drafts)), stepper_(std::move(stepper)) {}

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    std::int64_t longest = 0;
    for (std::uint64_t draft = 0; draft < drafts_; ++draft) {
      longest = std::max(longest, stepper_.accepted_steps(iteration * drafts_ + draft, false, shape_.gamma));
    }
    return varying_iteration(shape_, longest, remaining);
  }

 private:
  IterationShape shape_;
  std::uint64_t drafts_;
  Stepper stepper_;
};

// ---- Policies for which each token has its own acceptance probability.

/// Draws acceptance probabilities of the tokens of a block, and which are accepted.
class TokenAcceptance {
 public:
  /// `positions`: maximum tokens per iteration.
  TokenAcceptance(double alpha, double concentration, std::int64_t positions, const RunKey& key, std::uint64_t block)
      : alpha_(alpha),
        positions_(static_cast<std::uint64_t>(positions)),
        acceptance_(key.seed, {.purpose = Purpose::latent_alpha, .point = key.point, .block = block}),
        draws_(key, bernoulli_draws, block, positions_) {
    if (alpha > 0.0 && alpha < 1.0) distribution_.emplace(alpha * concentration, (1.0 - alpha) * concentration);
  }

  [[nodiscard]] BetaVariate draw(std::uint64_t iteration, std::int64_t position) {
    if (!distribution_) return {alpha_, 1.0 - alpha_};
    return distribution_->draw(acceptance_, iteration * positions_ + static_cast<std::uint64_t>(position));
  }

  [[nodiscard]] bool accepts(const BetaVariate& acceptance, std::uint64_t iteration, std::int64_t position) {
    return draws_.below(threshold_of(acceptance.value, acceptance.complement), iteration,
                        static_cast<std::uint64_t>(position));
  }

 private:
  double alpha_;
  std::uint64_t positions_;
  std::optional<BetaDistribution> distribution_;  ///< empty if alpha is 0 or 1
  RandomStream acceptance_;
  Draws draws_;
};

/// A drafter that continues until its `Stop` ends the draft. Rejections are unknown before verification. A Stop
/// implements `restart()` at the start of a text; `begin()` at the start of an iteration; `goes_on(acceptance)` after a
/// token with this acceptance probability, false to stop; and `learn(iteration)` after verification.
template <class Stop>
class ConfidenceSource : public MemorylessSource {
 public:
  ConfidenceSource(const IterationShape& longest, TokenAcceptance tokens, Stop stop)
      : longest_(longest), tokens_(tokens), stop_(std::move(stop)) {}

  void restart(bool /*after_acceptance*/) { stop_.restart(); }

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    IterationShape shape = longest_;
    shape.gamma = 0;
    std::int64_t steps = 0;
    stop_.begin();
    for (bool goes_on = true; goes_on && shape.gamma < longest_.gamma; ++shape.gamma) {
      const BetaVariate acceptance = tokens_.draw(iteration, shape.gamma);
      const bool alive = steps == shape.gamma;
      if (alive && tokens_.accepts(acceptance, iteration, shape.gamma)) ++steps;
      goes_on = stop_.goes_on(acceptance.value);
    }
    const VaryingIteration result = varying_iteration(shape, steps, remaining);
    stop_.learn(result);
    return result;
  }

 private:
  IterationShape longest_;
  TokenAcceptance tokens_;
  Stop stop_;
};

/// A Stop that learns nothing.
class FixedStop {
 public:
  void restart() {}
  void begin() {}
  void learn(const VaryingIteration& /*iteration*/) {}
};

class ConfidenceStop : public FixedStop {
 public:
  explicit ConfidenceStop(const ConfidenceThreshold& policy)
      : min_acceptance_(std::pow(policy.threshold, 1.0 / policy.bias)) {}

  [[nodiscard]] bool goes_on(double acceptance) const { return acceptance >= min_acceptance_; }

 private:
  double min_acceptance_;  ///< acceptance probability with a confidence equal to the threshold
};

class RejectionStop : public FixedStop {
 public:
  explicit RejectionStop(const RejectionProbability& policy)
      : min_survival_(std::pow(1.0 - policy.threshold, 1.0 / policy.bias)) {}

  void begin() { survival_ = 1.0; }
  [[nodiscard]] bool goes_on(double acceptance) { return (survival_ *= acceptance) >= min_survival_; }

 private:
  double min_survival_;    ///< probability that all drafts are accepted, if their confidence is 1 - threshold
  double survival_ = 1.0;  ///< probability that all drafts so far are accepted
};

/// Entropy in nats of a drafter's distribution with this confidence in the token and the rest spread over
/// `alternatives`.
[[nodiscard]] double row_entropy(double confidence, std::int64_t alternatives);

class EntropyStop : public FixedStop {
 public:
  explicit EntropyStop(const EntropyThreshold& policy) : policy_(policy) {}

  [[nodiscard]] bool goes_on(double acceptance) const {
    return std::sqrt(row_entropy(std::pow(acceptance, policy_.bias), policy_.alternatives)) <= policy_.threshold;
  }

 private:
  EntropyThreshold policy_;
};

class AdaptiveEntropyStop {
 public:
  AdaptiveEntropyStop(const AdaptiveEntropy& policy, std::int64_t longest) : policy_(policy), longest_(longest) {
    restart();
  }

  void restart() {
    threshold_ = policy_.first_threshold;
    accepted_over_drafted_ = target;
  }
  void begin() {}
  [[nodiscard]] bool goes_on(double acceptance) const {
    constexpr double factor = 0.2;
    return 1.0 - std::sqrt(factor * row_entropy(std::pow(acceptance, policy_.bias), policy_.alternatives)) >=
           threshold_;
  }
  void learn(const VaryingIteration& iteration) {
    accepted_over_drafted_ +=
        weight * (static_cast<double>(iteration.outcome.accepted) / static_cast<double>(iteration.gamma) -
                  accepted_over_drafted_);
    if (accepted_over_drafted_ < target) {
      threshold_ += step;
    } else if (iteration.outcome.accepted != longest_) {
      threshold_ -= step;
    }
  }

 private:
  static constexpr double target = 0.9;
  static constexpr double weight = 0.5;  ///< of the last iteration in the running mean
  static constexpr double step = 0.001;  ///< (1 - beta_2) * epsilon with the paper's epsilon = 0.01, beta_2 = 0.9

  AdaptiveEntropy policy_;
  std::int64_t longest_;
  double threshold_ = 0.0;
  double accepted_over_drafted_ = 0.0;
};

class DynamicStop {
 public:
  explicit DynamicStop(const DynamicThreshold& policy) : policy_(policy) { restart(); }

  void restart() {
    threshold_ = policy_.first_threshold;
    seen_.clear();
    accepted_ = 0;
  }
  void begin() { drafted_.clear(); }
  [[nodiscard]] bool goes_on(double acceptance) {
    drafted_.push_back(std::pow(acceptance, policy_.bias));
    return drafted_.back() >= threshold_;
  }
  void learn(const VaryingIteration& iteration);

 private:
  struct Tested {
    double confidence;
    bool accepted;
  };

  DynamicThreshold policy_;
  double threshold_ = 0.0;
  std::vector<double> drafted_;  ///< confidences of this iteration
  std::vector<Tested> seen_;     ///< in this text, by descending confidence
  std::int64_t accepted_ = 0;    ///< of these
};

/// OptimalTokenStopping: the acceptance of a token is known before it is drafted.
class KnownTokensSource : public MemorylessSource {
 public:
  KnownTokensSource(const IterationShape& longest, TokenAcceptance tokens, double price)
      : longest_(longest), price_(price), tokens_(tokens) {}

  [[nodiscard]] VaryingIteration next(std::uint64_t iteration, std::int64_t remaining) {
    IterationShape shape = longest_;
    shape.gamma = min_gamma(longest_.convention);
    known_.clear();
    for (double survival = 1.0; shape.gamma < longest_.gamma; ++shape.gamma) {
      known_.push_back(tokens_.draw(iteration, static_cast<std::int64_t>(known_.size())));
      survival *= known_.back().value;
      if (survival <= price_) break;
    }
    std::int64_t steps = 0;
    for (bool alive = true; alive && steps < shape.gamma;) {
      const auto position = static_cast<std::size_t>(steps);
      const BetaVariate acceptance = position < known_.size() ? known_[position] : tokens_.draw(iteration, steps);
      alive = tokens_.accepts(acceptance, iteration, steps);
      if (alive) ++steps;
    }
    return varying_iteration(shape, steps, remaining);
  }

 private:
  IterationShape longest_;
  double price_;
  TokenAcceptance tokens_;
  std::vector<BetaVariate> known_;  ///< of this iteration
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
