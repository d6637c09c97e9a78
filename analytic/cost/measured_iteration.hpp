// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Speedup from times of passes that grow with the tokens they verify: S = tokens * (plain + plain_sampling) /
/// (drafting + verify + sampling + overhead). Where sampling is free, with v = verify / plain and c = one draft pass /
/// plain, this is tokens / (passes * c + v + overhead / plain); v = 1 where passes are bound by memory, v = gamma + 1
/// where they are bound by computing. [Xia2023, Eq. 4; Leviathan2023, Thm. 3.8 is v = 1]
namespace foredraft::analytic {

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

}  // namespace foredraft::analytic
