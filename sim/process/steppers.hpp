// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "core/random_stream.hpp"
#include "foredraft/acceptance.hpp"
#include "foredraft/simulate.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/threshold.hpp"
#include "sim/simulator.hpp"

/// Accepted positions of single iterations. Each stepper implements `accepted_steps(iteration, after_acceptance,
/// limit)`, the number of token positions accepted before the first rejection, at most `limit`. For the Markov chain
/// and InputCopy, the bonus token is also a position.
namespace foredraft::sim {

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

}  // namespace foredraft::sim
