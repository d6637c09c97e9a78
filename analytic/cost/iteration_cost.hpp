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

// ---- Speedup from times of passes that grow with the tokens they verify: S = tokens * (plain + plain_sampling) /
// (drafting + verify + sampling + overhead). Where sampling is free, with v = verify / plain and c = one draft pass /
// plain, this is tokens / (passes * c + v + overhead / plain); v = 1 where passes are bound by memory, v = gamma + 1
// where they are bound by computing. [Xia2023, Eq. 4; Leviathan2023, Thm. 3.8 is v = 1]

/// A time and how well it is known: half the width of its 95 % interval over the time, >= 0.
struct KnownTime {
  double time;
  double spread;
};

/// One iteration at one batch and context, in one unit. `plain` and `verify` > 0, the others >= 0; overhead is taken as
/// exact.
struct MeasuredIteration {
  KnownTime plain;                        ///< the target's pass of plain decoding
  KnownTime drafting;                     ///< the passes of all drafts of the iteration
  KnownTime verify;                       ///< the target's pass over them
  double overhead;                        ///< whatever else the iteration costs
  KnownTime plain_sampling = {0.0, 0.0};  ///< drawing the token of plain decoding
  KnownTime sampling = {0.0, 0.0};        ///< drawing the drafts, accepting them, drawing the token behind them
};

/// plain + plain_sampling.
[[nodiscard]] double plain_time(const MeasuredIteration& iteration);

/// drafting + verify + sampling + overhead.
[[nodiscard]] double iteration_time(const MeasuredIteration& iteration);

/// `tokens_per_iteration` > 0.
[[nodiscard]] double speedup(double tokens_per_iteration, const MeasuredIteration& iteration);

/// Half the width of the 95 % interval of the speedup over the speedup, the errors of all times independent: the root
/// of the sum of (spread * time / whole)^2, whole the iteration or the plain token that a time is part of.
[[nodiscard]] double speedup_spread(const MeasuredIteration& iteration);

/// v: the pass that verifies over the plain pass.
[[nodiscard]] double verification_growth(const MeasuredIteration& iteration);

/// Tokens of an iteration that pay for it: its time over plain_time.
[[nodiscard]] double break_even_tokens(const MeasuredIteration& iteration);

/// A pass of a model over a batch that computes while it reads: it takes the longer of the two. All >= 0, in any one
/// unit of time. [Williams2009]
struct BatchPass {
  double launch;   ///< paid whatever the pass does
  double weights;  ///< reading the weights
  double context;  ///< reading one cached token of one row
  double token;    ///< computing one new token of one row
};

/// launch + max(weights + context * rows * cached, token * rows * tokens): `rows` >= 1 of `tokens` >= 1 new tokens each
/// and `cached` >= 0 earlier ones.
[[nodiscard]] double pass_time(const BatchPass& pass, std::int64_t rows, std::int64_t tokens, double cached);

/// What a million tokens cost where a device of `price_per_hour` >= 0 yields `tokens_per_s` > 0 of them, in the
/// currency of the price. Throws DomainError for other arguments.
[[nodiscard]] double price_per_million_tokens(double price_per_hour, double tokens_per_s);

}  // namespace foredraft::analytic
