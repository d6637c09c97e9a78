// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/random_stream.hpp"
#include "foredraft/acceptance.hpp"
#include "foredraft/policy.hpp"
#include "foredraft/words.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/process/policy_sources.hpp"
#include "sim/process/steppers.hpp"
#include "sim/process/stopping_price.hpp"
#include "sim/process/threshold.hpp"
#include "sim/simulator.hpp"

/// Sources of drafters that know something about the acceptance of a draft: each token, or each iteration, has its own
/// acceptance probability.
namespace foredraft::sim {

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
