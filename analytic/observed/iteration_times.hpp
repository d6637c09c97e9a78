// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/intervals.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/words.hpp"

/// Iteration times at other draft lengths, as far as a log identifies them. Times in one unit throughout.
///
/// T(gamma, batch) = plain step + drafts + growth of verification + engine. Verification grows in stairs (tiles and
/// graph sizes), so nothing is continued beyond what was measured: two points make no line.
namespace foredraft::analytic {

/// One logged iteration time.
struct LoggedTime {
  std::int64_t gamma;                               ///< >= 1: an engine's gamma 0 is no plain decoding
  double batch;                                     ///< sequences in flight, > 0; loads are equal where this is
  Estimate time;                                    ///< > 0
  std::optional<Estimate> drafting = std::nullopt;  ///< of it: all drafts, where the engine logs them
};

/// Plain decoding at one load.
struct PlainTime {
  double batch;
  Estimate time;  ///< per token (TPOT), > 0
};

/// What a log says of times. Several entries of one gamma and batch are put together.
struct ObservedTimes {
  std::vector<LoggedTime> logged;
  std::vector<PlainTime> plain;  ///< may be empty; at most one a batch
  Drafting drafting;             ///< block: all drafts in one pass, whose time does not grow with gamma
};

struct TimeAt {
  enum class Knowledge {
    measured,      ///< logged at this gamma and batch
    interpolated,  ///< between two logged gamma of this batch: the interval is that of both
    bounded,       ///< below the shortest logged gamma: a shorter draft takes no longer, nor less than plain decoding
    unknown,       ///< above the longest logged gamma, or at a batch that was not logged
  };
  Knowledge knowledge;
  double value;  ///< NaN where bounded or unknown
  double low;    ///< of a 95 % interval; NaN where unknown
  double high;
};

/// Throws DomainError on times out of range: not finite, not > 0, standard errors < 0, drafting longer than its
/// iteration, two plain times of one batch.
void check_times(const ObservedTimes& times);

/// gamma >= 1. Throws DomainError as check_times.
[[nodiscard]] TimeAt time_at(const ObservedTimes& times, std::int64_t gamma, double batch);

/// The logged batches, ascending.
[[nodiscard]] std::vector<double> logged_batches(const ObservedTimes& times);

/// The plain time of a batch, where there is one.
[[nodiscard]] std::optional<Estimate> plain_time_at(const ObservedTimes& times, double batch);

/// Tokens per iteration above which speculative decoding pays at this gamma and batch: iteration time over plain time.
/// With the knowledge of the time; unknown without a plain time.
[[nodiscard]] TimeAt break_even_tokens(const ObservedTimes& times, std::int64_t gamma, double batch);

// ---- What prompts take of iterations that also decode, from windows with more and with fewer of them.

/// One window of a server.
struct MixedWindow {
  double iteration_ms;         ///< > 0: the mean time of an iteration, prompts included
  double prompt_tokens_per_s;  ///< >= 0
};

struct PrefillTime {
  Estimate decode_ms;            ///< an iteration without prompt tokens
  Estimate per_prompt_token_ms;  ///< > 0
};

/// Least squares of iterations per second over prompt tokens per second (D28). Nothing with fewer than 8 windows, or
/// where prompts take no time within 95 %. Throws DomainError on a value out of range.
[[nodiscard]] std::optional<PrefillTime> prefill_time(std::span<const MixedWindow> windows);

// ---- From the speedup that acceptance promises to the one that was measured, factor by factor. An identity: whatever
// is estimated, the product is exact. Derivation D25 in docs/model.md.

/// What was measured at one load, every time in one unit and > 0 (drafting >= 0), with its standard error >= 0.
struct ChainTimes {
  Estimate tokens;       ///< per iteration, >= 1
  Estimate plain_token;  ///< T_1: time per token of plain decoding (TPOT), everything included
  Estimate iteration;    ///< T_s: one iteration of speculative decoding, everything included
  std::optional<Estimate> drafting = std::nullopt;      ///< D: all drafts of an iteration
  std::optional<Estimate> verification = std::nullopt;  ///< V: the target's forward pass over them
  std::optional<Estimate> plain_pass = std::nullopt;    ///< P: the target's forward pass of plain decoding
};

enum class ChainFactor {
  verification,     ///< P / V
  drafting,         ///< V / (V + D)
  engine_overhead,  ///< (V + D) / T_s; above 1 where drafting overlaps with the rest
  plain_overhead,   ///< T_1 / P: what plain decoding pays too
  iteration_cost,   ///< all that the times do not split: T_1 / T_s over the known factors
};

struct ChainLink {
  ChainFactor factor;
  double value;
  double standard_error;
  double share;  ///< of the logarithm of speedup over promised; all add up to 1. NaN where nothing was lost or won
};

struct SpeedupChain {
  double promised;               ///< tokens per iteration: the speedup if an iteration took a plain step
  std::vector<ChainLink> links;  ///< in the order of ChainFactor; only factors whose times are known
  Estimate speedup;              ///< tokens * T_1 / T_s = promised times all links
  /// The factor that costs most, and those that noise (95 %) does not tell from it. Empty where none is below 1.
  std::vector<ChainFactor> causes;
  bool overlapped;  ///< V + D > T_s: the sum of the parts is an upper bound of an iteration
};

/// The standard errors of different times are taken as independent. Throws DomainError on a time out of range.
[[nodiscard]] SpeedupChain speedup_chain(const ChainTimes& times);

}  // namespace foredraft::analytic
