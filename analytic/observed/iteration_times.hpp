// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "foredraft/quantities.hpp"

/// Evaluates the times of a log: the cost of prompt tokens, and what reduces the speedup that acceptance alone would
/// give.
namespace foredraft::analytic {

// ---- Cost of prompt tokens in iterations that also decode, from windows with different prompt rates.

/// One window of a server's log.
struct MixedWindow {
  double iteration_ms;         ///< > 0: mean time of an iteration, including prompts
  double prompt_tokens_per_s;  ///< >= 0
};

struct PrefillTime {
  Estimate decode_ms;            ///< time of an iteration without prompt tokens
  Estimate per_prompt_token_ms;  ///< > 0
};

/// Least-squares fit of iterations per second to prompt tokens per second (D28). Nullopt for fewer than 8 windows, if
/// the standard deviation of the prompt rates is below 1 % of their mean, or if the cost of prompts is not significant
/// (95 %). Throws DomainError for a value out of range.
[[nodiscard]] std::optional<PrefillTime> prefill_time(std::span<const MixedWindow> windows);

// ---- Chain of factors from the speedup at the cost of one decode step per iteration (`promised`) to the measured
// speedup. The product is exact for any estimates. Derivation D25 in docs/model.md.

/// Measurements at one load. All times have the same unit and are > 0 (drafting >= 0); standard errors are >= 0.
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
  engine_overhead,  ///< (V + D) / T_s; above 1 if drafting overlaps with other work
  plain_overhead,   ///< T_1 / P: overhead of autoregressive decoding
  iteration_cost,   ///< the rest: T_1 / T_s divided by the known factors
};

struct ChainLink {
  ChainFactor factor;
  double value;
  double standard_error;
  double share;  ///< of log(speedup / promised); all sum to 1. NaN if speedup = promised
};

struct SpeedupChain {
  double promised;               ///< tokens per iteration, which is the speedup if an iteration takes one decode step
  std::vector<ChainLink> links;  ///< only factors with known times, in the order of ChainFactor
  Estimate speedup;              ///< tokens * T_1 / T_s, which equals promised times all links
  /// The smallest factor and all factors that are not significantly (95 %) larger. Empty if none is below 1.
  std::vector<ChainFactor> causes;
  bool overlapped;  ///< V + D > T_s: the parts overlap, and their sum is an upper bound of an iteration
};

/// The chain of factors. Errors of different times are independent. Throws DomainError for a time out of range.
[[nodiscard]] SpeedupChain speedup_chain(const ChainTimes& times);

}  // namespace foredraft::analytic
