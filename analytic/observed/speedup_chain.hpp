// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "foredraft/quantities.hpp"

/// From the speedup that acceptance promises to the one that was measured, factor by factor. An identity: whatever is
/// estimated, the product is exact. Derivation D25 in docs/model.md.
namespace foredraft::analytic {

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
