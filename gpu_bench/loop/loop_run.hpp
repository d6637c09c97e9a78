// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu_bench/run/profile_run.hpp"
#include "latency/profile/cell.hpp"
#include "latency/profile/measurement.hpp"
#include "latency/profile/profile.hpp"

/// A real decoding loop, compared with autoregressive decoding: it runs the forward passes, and a verifier accepts and
/// rejects drafts. Only which drafts are accepted is determined beforehand. Independent of clock and device.
///
/// An iteration of a device, its clock running:
///
///     drafting   the passes of drafting_passes.hpp, tokens drawn from the logits of each
///     target     one pass over the last token and the drafts of each sequence, gamma + 1 tokens
///                [the clock stands still: the logits are forced]
///     verifying  rejection sampling by the verifier that the profile times as fused_exact
///
/// Forcing: at accepted positions the target's row becomes a copy of the drafter's (p = q accepts for any random
/// number); at the first rejected one that copy gets -inf at the draft (p = 0 there, so the rule rejects and samples
/// from the rest); after the last draft the target's own row stays. Rows after a rejection are unchanged. While the
/// clock is stopped the drafter's logits are also copied to where the verifier reads them: the last product of an
/// engine's pass would write there directly.
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

/// How a row of the target's logits is changed before an iteration is verified (rationale above).
enum class ForcedRow {
  copy,                ///< a copy of the drafter's row: the draft is accepted
  copy_without_draft,  ///< the same with -inf at the draft: it is rejected
  own                  ///< unchanged
};

/// For the row of draft `position` (0 to gamma) of a request that accepts `accepted` of its gamma drafts.
[[nodiscard]] constexpr ForcedRow forced_row(std::int64_t position, std::int64_t accepted, std::int64_t gamma) {
  if (position < accepted) return ForcedRow::copy;
  return position == accepted && position < gamma ? ForcedRow::copy_without_draft : ForcedRow::own;
}

/// Time and output of one iteration; valid until the next call of the same side.
struct IterationTaken {
  double us = 0.0;                               ///< sum of the timed intervals
  std::span<const std::int32_t> drafts;          ///< [batch, gamma]
  std::span<const std::int32_t> tokens;          ///< [batch, gamma + 1]; undefined after the last emitted one
  std::span<const std::int32_t> emitted_counts;  ///< [batch]
};

/// Functions of a device for one cell. Both may throw Interrupted.
struct LoopSide {
  /// Microseconds of the target's pass over one token of each sequence, including sampling a token from each row of
  /// logits.
  std::function<double()> decode_step;
  /// One iteration in which request b accepts accepted[b] drafts, 0 to gamma.
  std::function<IterationTaken(std::span<const std::int32_t> accepted)> iterate;
};

struct LoopDevice {
  /// Throws MemoryError or DomainError if the cell cannot be run.
  std::function<LoopSide(const LoopCell&)> side_of;
  std::function<double()> now_s;  ///< any steady clock
};

struct LoopRow {
  LoopCell cell;
  latency::SampleSummary plain;       ///< of a step; a file of rows holds its median, interval and number of samples
  latency::SampleSummary iteration;   ///< of an iteration, likewise
  double tokens_per_iteration = 0.0;  ///< of one sequence, as emitted by the verifier
  /// Run-to-run variation: median over pairs of runs of max/min - 1 of the speedup; nullopt for a single run.
  std::optional<double> between_runs = {};
};

/// Tokens per second of all sequences together.
[[nodiscard]] double plain_tokens_per_s(const LoopRow& row);
[[nodiscard]] double tokens_per_s(const LoopRow& row);

/// Speedup: tokens_per_s / plain_tokens_per_s, and its 95 % interval from those of the two medians, taken as
/// independent.
[[nodiscard]] double speedup(const LoopRow& row);
[[nodiscard]] Interval speedup_ci95(const LoopRow& row);

struct LoopResult {
  MeasureEnd end = MeasureEnd::done;
  std::vector<LoopRow> rows = {};  ///< in the order of the cells
  std::vector<latency::Missing> missing = {};
};

/// Runs all cells five times: decode steps and iterations in turn, by the protocol of measure(), at least four of each.
/// The first run gives each cell an equal share of the time, the others an equal number of samples. A disturbance of
/// some seconds affects one or two runs of a cell, which does not change the median of five. A visit is
/// skipped if the minimum of samples, at the pace of the cell's last visit, would not fit into the rest of `budget_s`.
/// A cell without a visit has no pace yet, so its first visit begins while any time is left and may exceed the budget;
/// the first cell is always visited. `keep` receives all rows so far after every visit. Throws DomainError for invalid
/// cells, std::runtime_error if a verifier does not emit what it was forced to: the accepted drafts and one token more.
[[nodiscard]] LoopResult run_loop(const std::vector<LoopCell>& cells, double budget_s, const LoopDevice& device,
                                  const std::function<void(const std::vector<LoopRow>&)>& keep,
                                  const std::function<void(const std::string&)>& say);

}  // namespace foredraft::gpu_bench
