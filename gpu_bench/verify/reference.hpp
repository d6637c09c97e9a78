// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu_bench/verify/verification.hpp"

/// What a verifier must emit, in double precision from the same logits and draws, one request at a time.
namespace foredraft::gpu_bench {

/// Logits of one request, as they are stored, row after row.
struct ReferenceRequest {
  std::span<const double> target_logits;  ///< [drafts + 1, vocabulary]
  std::span<const double> draft_logits;   ///< [drafts, vocabulary]
  std::span<const std::int32_t> drafts;
  std::int64_t vocabulary;
  DrawStream draws;
  unsigned request;  ///< position in the batch: which draws are its own
};

struct ReferenceTokens {
  std::vector<std::int32_t> tokens;  ///< accepted drafts and the token behind them
  bool fault;                        ///< of any row of the request's drafts, tested or not
  /// How far the nearest decision was from falling the other way, as a probability: kernels in single precision may
  /// differ where this is below their rounding.
  double margin;
};

/// Rejection sampling [Leviathan2023, Alg. 1]: accept drafts while u < p/q, then draw from max(0, p - q) by inverse CDF
/// over rising tokens, or from p behind the last draft. Draws: (accept, position), (replacement, position) and
/// (bonus_token, drafts).
[[nodiscard]] ReferenceTokens reference_rejection_sampling(const ReferenceRequest& request);

}  // namespace foredraft::gpu_bench
