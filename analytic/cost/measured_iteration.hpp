#pragma once

/// Speedup from times of passes that grow with the tokens they verify: S = tokens * plain / (drafting + verify +
/// overhead). With v = verify / plain and c = one draft pass / plain this is tokens / (passes * c + v + overhead /
/// plain); v = 1 where passes are bound by memory, v = gamma + 1 where they are bound by computing. [Xia2023, Eq. 4;
/// Leviathan2023, Thm. 3.8 is v = 1]
namespace foredraft::analytic {

/// A time and how well it is known: half the width of its 95 % interval over the time, >= 0.
struct KnownTime {
  double time;
  double spread;
};

/// One iteration at one batch and context, in one unit. Times > 0, `drafting` >= 0; overhead >= 0, taken as exact.
struct MeasuredIteration {
  KnownTime plain;     ///< a token of plain decoding
  KnownTime drafting;  ///< all drafts of the iteration
  KnownTime verify;    ///< the target's pass over them
  double overhead;     ///< whatever else the iteration costs
};

/// drafting + verify + overhead.
[[nodiscard]] double iteration_time(const MeasuredIteration& iteration);

/// `tokens_per_iteration` > 0.
[[nodiscard]] double speedup(double tokens_per_iteration, const MeasuredIteration& iteration);

/// Half the width of the 95 % interval of the speedup over the speedup, the errors of the three times independent:
/// sqrt(s_plain^2 + (s_drafting drafting / iteration)^2 + (s_verify verify / iteration)^2).
[[nodiscard]] double speedup_spread(const MeasuredIteration& iteration);

/// v: the pass that verifies over the plain pass.
[[nodiscard]] double verification_growth(const MeasuredIteration& iteration);

/// Tokens of an iteration that pay for it: its time over that of a plain token.
[[nodiscard]] double break_even_tokens(const MeasuredIteration& iteration);

}  // namespace foredraft::analytic
