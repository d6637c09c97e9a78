// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/intervals.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/words.hpp"

/// Iteration times at other draft lengths, as far as a log determines them. All times in one unit.
///
/// T(gamma, batch) = decode step + drafts + growth of verification + engine. Verification time grows in stairs (tiles
/// and graph sizes), so nothing is extrapolated: two points do not determine a line.
namespace foredraft::analytic {

/// One logged iteration time.
struct LoggedTime {
  std::int64_t gamma;                               ///< >= 1; an engine's gamma 0 is not autoregressive decoding
  double batch;                                     ///< sequences in flight, > 0; identifies the load
  Estimate time;                                    ///< > 0
  std::optional<Estimate> drafting = std::nullopt;  ///< all drafts of the iteration, if the engine logs them
};

/// Autoregressive decoding at one load, the baseline.
struct PlainTime {
  double batch;
  Estimate time;  ///< per token (TPOT), > 0
};

/// The times of a log. Several entries of one gamma and batch size are combined.
struct ObservedTimes {
  std::vector<LoggedTime> logged;
  std::vector<PlainTime> plain;  ///< may be empty; at most one per batch size
  Drafting drafting;             ///< block: all drafts in one forward pass, whose time does not depend on gamma
};

struct TimeAt {
  enum class Knowledge {
    measured,      ///< logged at this gamma and batch
    interpolated,  ///< between two logged gamma of this batch size: from the lower end of one to the upper end of the
                   ///< other
    bounded,       ///< below the shortest logged gamma: at most its time, at least that of autoregressive decoding
    unknown,       ///< above the longest logged gamma, or at a batch size that was not logged
  };
  Knowledge knowledge;
  double value;  ///< NaN if bounded or unknown
  double low;    ///< of a 95 % interval; NaN if unknown
  double high;
};

/// Throws DomainError for times or errors out of range, drafting longer than its iteration, a baseline time given
/// twice.
void check_times(const ObservedTimes& times);

/// gamma >= 1. Throws DomainError as check_times.
[[nodiscard]] TimeAt time_at(const ObservedTimes& times, std::int64_t gamma, double batch);

/// The baseline time of a batch size; nullopt if there is none.
[[nodiscard]] std::optional<Estimate> plain_time_at(const ObservedTimes& times, double batch);

/// Break-even tokens per iteration: iteration time divided by baseline time; unknown without one.
[[nodiscard]] TimeAt break_even_tokens(const ObservedTimes& times, std::int64_t gamma, double batch);

// ---- Cost of prompt tokens in iterations that also decode, from windows with different prompt rates.

/// One window of a server.
struct MixedWindow {
  double iteration_ms;         ///< > 0: mean time of an iteration, including prompts
  double prompt_tokens_per_s;  ///< >= 0
};

struct PrefillTime {
  Estimate decode_ms;            ///< an iteration without prompt tokens
  Estimate per_prompt_token_ms;  ///< > 0
};

/// Least-squares fit of iterations per second to prompt tokens per second (D28). Nullopt for fewer than 8 windows, or
/// if the cost of prompts is not significant (95 %). Throws DomainError for a value out of range.
[[nodiscard]] std::optional<PrefillTime> prefill_time(std::span<const MixedWindow> windows);

// ---- Chain of factors from the speedup that acceptance promises to the measured one. An identity: the product is
// exact for any estimates. Derivation D25 in docs/model.md.

/// Measurements at one load, all times in one unit and > 0 (drafting >= 0), with standard errors >= 0.
struct ChainTimes {
  Estimate tokens;       ///< per iteration, >= 1
  Estimate plain_token;  ///< T_1: time per token of autoregressive decoding (TPOT), including all overhead
  Estimate iteration;    ///< T_s: one iteration of speculative decoding, including all overhead
  std::optional<Estimate> drafting = std::nullopt;      ///< D: all drafts of an iteration
  std::optional<Estimate> verification = std::nullopt;  ///< V: the target's forward pass over them
  std::optional<Estimate> decode_step = std::nullopt;   ///< P: the target's forward pass in autoregressive decoding
};

enum class ChainFactor {
  verification,     ///< P / V
  drafting,         ///< V / (V + D)
  engine_overhead,  ///< (V + D) / T_s; above 1 if drafting overlaps with the rest
  plain_overhead,   ///< T_1 / P: overhead of autoregressive decoding
  iteration_cost,   ///< everything that the times do not separate: T_1 / T_s divided by the known factors
};

struct ChainLink {
  ChainFactor factor;
  double value;
  double standard_error;
  double share;  ///< of log(speedup / promised); all sum to 1. NaN if speedup = promised
};

struct SpeedupChain {
  double promised;               ///< tokens per iteration: the speedup if an iteration took one decode step
  std::vector<ChainLink> links;  ///< in the order of ChainFactor; only factors with known times
  Estimate speedup;              ///< tokens * T_1 / T_s = promised times all links
  /// The factor that costs most, and those that noise (95 %) does not distinguish from it. Empty if none is below 1.
  std::vector<ChainFactor> causes;
  bool overlapped;  ///< V + D > T_s: the sum of the parts is an upper bound of an iteration
};

/// The chain of factors. Errors of different times are independent. Throws DomainError for a time out of range.
[[nodiscard]] SpeedupChain speedup_chain(const ChainTimes& times);

}  // namespace foredraft::analytic
