// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "foredraft/words.hpp"

/// Sentences that differ in length and in acceptance: one row of a histogram over sentences each.
namespace foredraft::experiments {

struct SentencePopulation {
  double mean_length;  ///< tokens, >= 1; lengths are Erlang(3) of this mean (a spread of 58 %), rounded up
  /// Acceptance of a sentence: 1 / (1 + exp(-(location + spread * Z))), Z standard normal. Both finite.
  double location;
  double spread;  ///< >= 0; 0: all sentences alike
  std::int64_t gamma;
  Convention convention;
  std::uint64_t sentences;  ///< >= 1
};

struct Sentence {
  std::int64_t tokens;
  std::int64_t iterations;
};

/// Simulates every sentence by one draw per drafted token, its last iteration cut short. A sentence keeps all its draws
/// if `location` or `spread` changes, so iterations never increase with `location`.
[[nodiscard]] std::vector<Sentence> simulate_sentences(const SentencePopulation& population, std::uint64_t seed);

/// Total tokens divided by total iterations.
[[nodiscard]] double tokens_per_iteration(const std::vector<Sentence>& sentences);

}  // namespace foredraft::experiments
