// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "foredraft/scenario.hpp"
#include "sim/uniform_index.hpp"

/// Probabilities as integers, so that rounding never decides acceptance. A probability within 1e-15 of 1 is as accurate
/// as one half, and 0 and 1 are exact.
namespace foredraft::sim {

/// A probability in units of 2^-80. A uniform of 80 bits, 16 leading and 64 trailing, is below it with exactly that
/// probability; the trailing bits matter only if the leading ones tie with `high`.
struct Threshold {
  std::uint32_t high;  ///< leading 16 bits, or 65536 for certainty (then low = 0)
  std::uint64_t low;   ///< trailing 64 bits
  bool operator==(const Threshold&) const = default;
};

/// A row of thresholds in the layout of the counting loops.
struct Thresholds {
  std::vector<std::uint32_t> high;
  std::vector<std::uint64_t> low;

  void reserve(std::size_t size);
  void push_back(const Threshold& threshold);
  [[nodiscard]] std::size_t size() const { return high.size(); }
  [[nodiscard]] Threshold operator[](std::size_t i) const { return {high[i], low[i]}; }
};

/// A product of probabilities in fixed point with 127 fractional bits. Uses only integers, so results are the same on
/// every machine. A product of a million factors is accurate to 2^-107, far below the 2^-80 of a threshold.
class FixedProbability {
 public:
  /// Multiplies by `probability` = 1 - complement. Uses the smaller of the two, so both ends of [0, 1] are accurate.
  void multiply(double probability, double complement);

  /// Rounded to nearest.
  [[nodiscard]] Threshold threshold() const;

 private:
  Uint128 value_ = Uint128{1} << 127U;
};

/// The threshold of one probability: exact for every double of at least 2^-27, else to 2^-81.
[[nodiscard]] Threshold threshold_of(double probability, double complement);

// ---- Acceptance processes as rows of thresholds, except Runs and traces, which depend on more than one previous
// token.

/// [k]: acceptance of position k given that all before it in the iteration were accepted; `after_acceptance`: the token
/// before the iteration was accepted (used only for the Markov chain). A Beta mixture becomes the positional process
/// with the same distribution of an iteration: (a + k) / (a + b + k).
[[nodiscard]] Thresholds acceptance_thresholds(const AcceptanceProcess& process, std::int64_t positions,
                                               bool after_acceptance);

/// [k]: position k and all before it in the iteration accepted. Never increases with k.
[[nodiscard]] Thresholds survival_thresholds(const AcceptanceProcess& process, std::int64_t positions,
                                             bool after_acceptance);

}  // namespace foredraft::sim
