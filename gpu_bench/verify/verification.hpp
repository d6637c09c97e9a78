// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "gpu_bench/verify/draws.hpp"

/// The verification step of speculative decoding, from logits to emitted tokens, for a batch of requests.
///
/// What a verifier makes of logits that are no numbers: NaN counts as -inf, so that its token is never drawn; +inf as
/// the largest finite fp32, so that such tokens share all of the probability. A row without any finite logit gives
/// every token the probability 0: of a target, every draft is rejected and token 0 is emitted; of a drafter, every
/// draft that the target could emit is accepted (p/q is infinite). `faults` says which requests have such a row. 0/0
/// rejects. A rejection that leaves no residual (p = q) draws the token from p. A draft outside the vocabulary ends the
/// drafts of its request, as padding does.
namespace foredraft::gpu_bench {

/// Behind the last token of a row of outputs; also what pads drafts.
inline constexpr std::int32_t no_token = -1;

/// Sizes that decide the cost of a verification.
struct VerificationShape {
  std::int64_t batch = 1;       ///< requests
  std::int64_t gamma = 5;       ///< the most drafts a request has, 0 to 1,023
  std::int64_t vocabulary = 1;  ///< 1 to 2^24
};

/// What the drafter and the target leave behind. Rows are contiguous, those of a request one after another; rows of
/// positions behind a request's last draft (of the target: behind the one after it) are never read.
template <class Storage>
struct VerificationInput {
  const Storage* target_logits;      ///< [batch, gamma + 1, vocabulary]
  const Storage* draft_logits;       ///< [batch, gamma, vocabulary]
  const std::int32_t* drafts;        ///< [batch, gamma]
  const std::int32_t* draft_counts;  ///< [batch]: drafts of each request, 0 to gamma
  const float* draft_log_sum_exps;   ///< [batch, gamma], known from drafting; or null
  unsigned batch, gamma, vocabulary;
  DrawStream draws;
};

/// What a verifier emits: the accepted drafts and the token behind them.
struct VerificationOutput {
  std::int32_t* tokens;          ///< [batch, gamma + 1], no_token behind the last
  std::int32_t* emitted_counts;  ///< [batch]: 1 to gamma + 1
  std::uint32_t* faults;         ///< [batch]: 1 where a row that was read held NaN or +inf, or nothing finite
};

}  // namespace foredraft::gpu_bench
