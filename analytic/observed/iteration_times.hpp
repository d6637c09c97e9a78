// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "foredraft/quantities.hpp"

/// What the times of a log say: the cost of prompt tokens, and where the speedup that acceptance promises is lost.
namespace foredraft::analytic {

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
