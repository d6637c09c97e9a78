// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu_bench/kernels/storage.hpp"
#include "latency/profile/cell.hpp"

namespace foredraft::gpu_bench {

/// One decoding loop that is run: who drafts how much for whom, and how much of it is accepted.
struct LoopCell {
  std::string target, drafter;  ///< names of shapes; heads stand on the target itself
  latency::Role drafting = latency::Role::autoregressive_drafting;  ///< one of the three drafting roles
  std::string dtype;                                                ///< "fp16", "bf16", "fp32"
  latency::Launch launch = latency::Launch::graph;
  std::int64_t gamma = 1;    ///< drafts of each sequence an iteration, at least 1
  double alpha = 0.0;        ///< every draft behind accepted ones is accepted with this probability
  std::int64_t batch = 1;    ///< sequences, each going on by its own number of tokens
  std::int64_t context = 0;  ///< tokens that each already holds; it does not grow

  auto operator<=>(const LoopCell&) const = default;
};

/// "t5-base from t5-small (autoregressive_drafting) fp32 gamma 5 alpha 0.8 batch 2 context 192": for messages.
[[nodiscard]] std::string to_text(const LoopCell& cell);

/// Throws DomainError for a role that drafts nothing, counts below their least and an alpha outside [0, 1].
void check_loop_cell(const LoopCell& cell);

/// How many drafts each request of an iteration is to accept: i.i.d. acceptance with probability alpha, so that at
/// least k of gamma are accepted with probability alpha^k.
///
/// Counts are read off that law at the points of a golden-ratio sequence (frac(n / 1.618...)) instead of random ones:
/// of n points the share below any border is off by O(log n / n), not 1 / sqrt(n). A loop that runs a few dozen
/// iterations then has the law's mean to about a per cent, and what remains between prediction and measurement is the
/// model's error and not the luck of the draws.
class ForcedAcceptance {
 public:
  /// alpha in [0, 1], gamma >= 1; throws DomainError.
  ForcedAcceptance(double alpha, std::int64_t gamma);

  /// The next counts, 0 to gamma, one a request.
  void next(std::span<std::int32_t> accepted);

 private:
  std::vector<double> survival_;  ///< P(at least k accepted), k = 1 to gamma
  std::uint64_t point_ = 0;       ///< of [0, 1), as a fraction of 2^64
};

/// What becomes of a row of the target's logits before an iteration is verified (loop_run.hpp says why).
enum class ForcedRow {
  copy,                ///< of the drafter's row: the draft is accepted
  copy_without_draft,  ///< the same with -inf at the draft: it is rejected
  own                  ///< left as the target computed it
};

/// Of the row of draft `position` (0 to gamma) in a request that is to accept `accepted` of its gamma drafts.
[[nodiscard]] FOREDRAFT_HOST_DEVICE constexpr ForcedRow forced_row(std::int64_t position, std::int64_t accepted,
                                                                   std::int64_t gamma) {
  if (position < accepted) return ForcedRow::copy;
  return position == accepted && position < gamma ? ForcedRow::copy_without_draft : ForcedRow::own;
}

}  // namespace foredraft::gpu_bench
