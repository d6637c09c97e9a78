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

/// A decoding loop to run: target, drafter, draft length and acceptance.
struct LoopCell {
  std::string target, drafter;                                      ///< names of shapes; heads are part of the target
  latency::Role drafting = latency::Role::autoregressive_drafting;  ///< one of the three drafting roles
  std::string dtype;                                                ///< "fp16", "bf16", "fp32"
  latency::Launch launch = latency::Launch::graph;
  std::int64_t gamma = 1;    ///< drafts of each sequence per iteration, at least 1
  double alpha = 0.0;        ///< every draft after accepted ones is accepted with this probability
  std::int64_t batch = 1;    ///< sequences, each of which advances by its own number of tokens
  std::int64_t context = 0;  ///< context length; it does not grow

  auto operator<=>(const LoopCell&) const = default;
};

/// "t5-base from t5-small (autoregressive_drafting) fp32 gamma 5 alpha 0.8 batch 2 context 192": for messages.
[[nodiscard]] std::string to_text(const LoopCell& cell);

/// Throws DomainError for a role that drafts nothing, counts below their minimum and an alpha outside [0, 1].
void check_loop_cell(const LoopCell& cell);

/// Number of drafts that each request of an iteration accepts: i.i.d. acceptance with probability alpha, so at least k
/// of gamma are accepted with probability alpha^k.
///
/// Counts are the quantiles of that distribution at the points of a golden-ratio sequence (frac(n / 1.618...)) instead
/// of random ones: of n points the fraction below any bound is off by O(log n / n), not 1 / sqrt(n). A loop of a few
/// dozen iterations then has the distribution's mean to about a percent, and the difference between prediction and
/// measurement is the model's error instead of sampling noise.
class ForcedAcceptance {
 public:
  /// alpha in [0, 1], gamma >= 1; throws DomainError.
  ForcedAcceptance(double alpha, std::int64_t gamma);

  /// The next counts, 0 to gamma, one per request.
  void next(std::span<std::int32_t> accepted);

 private:
  std::vector<double> survival_;  ///< P(at least k accepted), k = 1 to gamma
  std::uint64_t point_ = 0;       ///< of [0, 1), as a fraction of 2^64
};

/// How a row of the target's logits is changed before an iteration is verified (rationale in loop_run.hpp).
enum class ForcedRow {
  copy,                ///< a copy of the drafter's row: the draft is accepted
  copy_without_draft,  ///< the same with -inf at the draft: it is rejected
  own                  ///< unchanged
};

/// For the row of draft `position` (0 to gamma) of a request that accepts `accepted` of its gamma drafts.
[[nodiscard]] FOREDRAFT_HOST_DEVICE constexpr ForcedRow forced_row(std::int64_t position, std::int64_t accepted,
                                                                   std::int64_t gamma) {
  if (position < accepted) return ForcedRow::copy;
  return position == accepted && position < gamma ? ForcedRow::copy_without_draft : ForcedRow::own;
}

}  // namespace foredraft::gpu_bench
