// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/decoding_cost.hpp"
#include "foredraft/words.hpp"

/// Cost of an iteration relative to autoregressive decoding. [Leviathan2023, Thm. 3.8, Thm. 3.11] Functions of c assume
/// that the target verifies all positions of an iteration in the time of one decode step, without overhead.
namespace foredraft::analytic {

/// Time of one iteration in decode steps: 1 + draft_passes * c. c >= 0 is the time of a draft step divided by that of a
/// decode step.
[[nodiscard]] double iteration_cost(std::int64_t gamma, double c, Drafting drafting);

/// Speedup: tokens per iteration divided by the cost of an iteration.
[[nodiscard]] double speedup(double tokens_per_iteration, std::int64_t gamma, double c, Drafting drafting);

/// Speedup in endless text for any costs. `draft_passes` >= 0 may be a mean.
[[nodiscard]] double speedup(double tokens_per_iteration, double draft_passes, const DecodingCost& cost);

/// Decode steps that an iteration with this speedup takes in addition to `steps`; negative if it takes fewer.
/// Arguments > 0.
[[nodiscard]] double implied_cost(double tokens_per_iteration, double speedup, double steps);

/// Speedup of sequences including the costs paid once per sequence, for a mean `length` of tokens and a mean number of
/// `iterations`, both > 0: (length + plain_sequence) / (sequence + iterations (iteration + draft_passes draft_pass)).
/// [Xia2023, Eq. 4], plus the costs that it omits.
[[nodiscard]] double sequence_speedup(double length, double iterations, double draft_passes, const DecodingCost& cost);

/// Mean draft passes of an iteration if the draft length varies with mean `mean_gamma` and is at least 1.
[[nodiscard]] double mean_draft_passes(double mean_gamma, Drafting drafting);

/// Arithmetic operations relative to autoregressive decoding: (gamma * operations_ratio + verified positions) / tokens.
/// Verified positions are gamma, or gamma + 1 with a bonus token. gamma may be a mean. `operations_ratio` (c-hat) is
/// per drafted token for any drafter.
[[nodiscard]] double operations_factor(double tokens_per_iteration, double gamma, double operations_ratio,
                                       Convention convention);

/// Reads of target weights and KV cache relative to autoregressive decoding: 1 / tokens.
[[nodiscard]] double memory_access_factor(double tokens_per_iteration);

// ---- Speedup from times of forward passes that grow with the tokens they verify: S = tokens * (plain +
// plain_sampling) / (drafting + verify + sampling + overhead). If sampling is free, with v = verify / plain and c = one
// draft pass / plain, this is tokens / (passes * c + v + overhead / plain); v = 1 if passes are memory-bound, v = gamma
// + 1 if they are compute-bound. [Xia2023, Eq. 4; Leviathan2023, Thm. 3.8 is v = 1]

/// A time and its uncertainty: half the width of its 95 % interval divided by the time, >= 0.
struct KnownTime {
  double time;
  double spread;
};

/// Times of one iteration at one batch size and context length, in the same unit, >= 0; the overhead is exact.
struct MeasuredIteration {
  KnownTime plain;                        ///< the target's decode step without speculation
  KnownTime drafting;                     ///< all draft passes of the iteration
  KnownTime verify;                       ///< the target's forward pass over the drafts
  double overhead;                        ///< everything else in an iteration
  KnownTime plain_sampling = {0.0, 0.0};  ///< sampling one token without speculation
  KnownTime sampling = {0.0, 0.0};        ///< sampling the drafts, accepting them, sampling the token after them
};

/// plain + plain_sampling.
[[nodiscard]] double plain_time(const MeasuredIteration& iteration);

/// drafting + verify + sampling + overhead.
[[nodiscard]] double iteration_time(const MeasuredIteration& iteration);

/// `tokens_per_iteration` > 0.
[[nodiscard]] double speedup(double tokens_per_iteration, const MeasuredIteration& iteration);

/// Relative half width of the 95 % interval of the speedup, for independent errors of all times: the square root of the
/// sum of (spread * time / whole)^2, where whole is the time of the iteration or decode step that the part belongs to.
[[nodiscard]] double speedup_spread(const MeasuredIteration& iteration);

/// v: the verification pass divided by the decode step.
[[nodiscard]] double verification_growth(const MeasuredIteration& iteration);

/// Break-even tokens per iteration: time of an iteration / plain_time.
[[nodiscard]] double break_even_tokens(const MeasuredIteration& iteration);

/// Cost of a million tokens on a device of `price_per_hour` >= 0 that generates `tokens_per_s` > 0.
[[nodiscard]] double price_per_million_tokens(double price_per_hour, double tokens_per_s);

}  // namespace foredraft::analytic
