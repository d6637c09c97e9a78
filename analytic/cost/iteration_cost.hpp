// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/decoding_cost.hpp"
#include "foredraft/words.hpp"

/// What an iteration costs against plain decoding. [Leviathan2023, Thm. 3.8, Thm. 3.11]
/// With c alone the target verifies all positions of an iteration in the time of one step, without overhead.
namespace foredraft::analytic {

/// Time of one iteration in target steps: 1 + draft_passes * c. c >= 0 is the draft/target time of one step.
[[nodiscard]] double iteration_cost(std::int64_t gamma, double c, Drafting drafting);

/// Walltime improvement: tokens per iteration over iteration cost.
[[nodiscard]] double speedup(double tokens_per_iteration, std::int64_t gamma, double c, Drafting drafting);

/// The same for any costs of an iteration with `draft_passes` >= 0 passes, which may be a mean; endless text, so that
/// costs paid once a sequence do not count.
[[nodiscard]] double speedup(double tokens_per_iteration, double draft_passes, const DecodingCost& cost);

/// Plain steps that an iteration of this speedup takes beyond `steps`; negative where it takes fewer. All > 0.
[[nodiscard]] double implied_cost(double tokens_per_iteration, double speedup, double steps);

/// Of sequences of `length` tokens on average in `iterations` on average, both > 0, what is paid once a sequence
/// included: (length + plain_sequence) / (sequence + iterations (iteration + draft_passes draft_pass)).
/// [Xia2023, Eq. 4] and the costs that it leaves out.
[[nodiscard]] double sequence_speedup(double length, double iterations, double draft_passes, const DecodingCost& cost);

/// Arithmetic operations against plain decoding: (gamma * operations_ratio + verified positions) / tokens, with
/// max_tokens(gamma, convention) verified positions. `operations_ratio` (c-hat) is per drafted token whatever the
/// drafter.
[[nodiscard]] double operations_factor(double tokens_per_iteration, std::int64_t gamma, double operations_ratio,
                                       Convention convention);

/// Target weight and KV-cache reads against plain decoding: 1 / tokens. The drafter's own reads are not counted.
[[nodiscard]] double memory_access_factor(double tokens_per_iteration);

}  // namespace foredraft::analytic
