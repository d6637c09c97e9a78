// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/process/beta_variate.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/process/threshold.hpp"

/// How far an iteration gets, for loops that go through iterations one after another. Each stepper answers
/// `accepted_steps(iteration, after_acceptance, limit)`: how many of the next token positions are accepted before the
/// first rejection, at most `limit`. A step is a token position; the Markov chain also steps over the bonus token.
namespace foredraft::sim {

/// Survival thresholds of an iteration, with a table by the first byte of a draw that says where to look.
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

  /// Whether the first threshold not above the leading bits, if there is one, has the same.
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

  Thresholds survival_;                         // and one more entry that ties with nothing
  std::array<std::uint32_t, 257> from_byte_{};  // [b]: thresholds of at least 256 b
};

/// Rows of thresholds by what happened to the token before: [0] rejected, [1] accepted.
using ThresholdsByState = std::array<Thresholds, 2>;
using SurvivalByState = std::array<SurvivalRow, 2>;

/// One draw an iteration against survival thresholds.
class SurvivalStepper {
 public:
  SurvivalStepper(const SurvivalByState& survival, const RunKey& key, std::uint64_t block)
      : survival_(survival), draws_(key, survival_draws, block, 1) {}

  [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, bool after_acceptance, std::int64_t limit) {
    const SurvivalRow& row = survival_[after_acceptance ? 1 : 0];
    const std::uint32_t bits = draws_.leading(iteration, 0);
    std::size_t steps = row.above(bits);
    if (row.ties(steps, bits)) steps = row.above_tied(steps, bits, draws_.trailing(iteration, 0));
    return std::min(static_cast<std::int64_t>(steps), limit);
  }

 private:
  const SurvivalByState& survival_;
  Draws draws_;
};

/// One draw a drafted token.
class BernoulliStepper {
 public:
  BernoulliStepper(const ThresholdsByState& acceptance, const RunKey& key, std::uint64_t block)
      : acceptance_(acceptance), draws_(key, bernoulli_draws, block, acceptance[0].size()) {}

  [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, bool after_acceptance, std::int64_t limit) {
    const Thresholds& row = acceptance_[after_acceptance ? 1 : 0];
    std::int64_t steps = 0;
    while (steps < limit) {
      const auto position = static_cast<std::size_t>(steps);
      if (!draws_.below(row[position], iteration, position)) break;
      ++steps;
    }
    return steps;
  }

 private:
  const ThresholdsByState& acceptance_;
  Draws draws_;
};

/// An alpha from Beta(a, b) for each iteration, then one draw a drafted token.
class LatentStepper {
 public:
  LatentStepper(const BetaMixture& mixture, std::uint64_t positions, const RunKey& key, std::uint64_t block)
      : law_(mixture.a, mixture.b),
        latent_(key.seed, {.purpose = Purpose::latent_alpha, .point = key.point, .block = block}),
        draws_(key, bernoulli_draws, block, positions) {}

  [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, bool /*after_acceptance*/, std::int64_t limit) {
    return accepted_steps(iteration, draw_alpha(iteration), limit);
  }

  /// In two steps, for a drafter that looks at alpha first.
  [[nodiscard]] BetaVariate draw_alpha(std::uint64_t iteration) { return law_.draw(latent_, iteration); }
  [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, const BetaVariate& alpha, std::int64_t limit) {
    const Threshold threshold = threshold_of(alpha.value, alpha.complement);
    std::int64_t steps = 0;
    while (steps < limit && draws_.below(threshold, iteration, static_cast<std::uint64_t>(steps))) ++steps;
    return steps;
  }

 private:
  BetaLaw law_;
  RandomStream latent_;
  Draws draws_;
};

}  // namespace foredraft::sim
