// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu_bench/loop/loop_cell.hpp"
#include "gpu_bench/run/profile_run.hpp"
#include "latency/profile/measurement.hpp"
#include "latency/profile/profile.hpp"

/// A real decoding loop beside plain decoding: passes that are really made, drafts that a real verifier accepts and
/// rejects. Only which drafts are accepted is settled beforehand. Knows no clock and no device.
///
/// An iteration of a device, its clock running:
///
///     drafting   the passes of drafting_passes.hpp, tokens drawn from the logits of each
///     target     one pass over the last token and the drafts of each sequence, gamma + 1 tokens
///                [the clock stands still: the logits are forced]
///     verifying  rejection sampling by the verifier that the profile times as fused_exact
///
/// Forcing: at accepted positions the target's row becomes a copy of the drafter's (p = q accepts whatever the rule
/// draws); at the first rejected one that copy gets -inf at the draft (p = 0 there, so that the rule rejects and draws
/// from what is left); behind the last draft the target's own row stays. Rows behind a rejection are left as they are.
/// While the clock stands still the drafter's logits are also brought to where the verifier reads them: the last
/// product of an engine's pass would write there at once.
namespace foredraft::gpu_bench {

/// What one iteration took and emitted; valid until the next call of the same side.
struct IterationTaken {
  double us = 0.0;                               ///< sum of the timed stretches
  std::span<const std::int32_t> drafts;          ///< [batch, gamma]
  std::span<const std::int32_t> tokens;          ///< [batch, gamma + 1], behind the last emitted one anything
  std::span<const std::int32_t> emitted_counts;  ///< [batch]
};

/// What a device does for one cell. Either may throw Interrupted.
struct LoopSide {
  /// Microseconds of the target's pass over one token of each sequence and of a token drawn from each row of logits.
  std::function<double()> plain_step;
  /// One iteration in which request b accepts accepted[b] drafts, 0 to gamma.
  std::function<IterationTaken(std::span<const std::int32_t> accepted)> iterate;
};

struct LoopDevice {
  /// Throws MemoryError or DomainError where the cell cannot be run.
  std::function<LoopSide(const LoopCell&)> side_of;
  std::function<double()> now_s;  ///< any steady clock
};

/// A median time with its 95 % interval.
struct LoopTime {
  double median_us = 0.0;
  Interval ci95_us{};
  std::int64_t samples = 0;
};

/// A cell that was run, once or some time later again; the times are those of all its runs together.
struct LoopRow {
  LoopCell cell;
  LoopTime plain;                     ///< of a step
  LoopTime iteration;                 ///< of an iteration
  double tokens_per_iteration = 0.0;  ///< of one sequence, as the verifier emitted them
  /// What two of its runs differ by: the larger speedup over the smaller less 1, median of all pairs of runs; nothing
  /// of a single run.
  std::optional<double> between_runs = {};
};

/// Tokens a second of all sequences together.
[[nodiscard]] double plain_tokens_per_s(const LoopRow& row);
[[nodiscard]] double tokens_per_s(const LoopRow& row);

/// tokens_per_s over plain_tokens_per_s, and its 95 % interval from those of the two medians, taken as independent.
[[nodiscard]] double speedup(const LoopRow& row);
[[nodiscard]] Interval speedup_ci95(const LoopRow& row);

struct LoopResult {
  MeasureEnd end = MeasureEnd::done;
  std::vector<LoopRow> rows = {};  ///< in the order of the cells
  std::vector<latency::Missing> missing = {};
};

/// Runs all cells five times over: plain steps and iterations in turn, by the protocol of measure(), a few of each even
/// where no time is left. The first run gives each cell an equal share of the time, the others each as many samples.
/// What disturbs the machine for some seconds meets one run of a cell, or two: the medians of five stay where they are.
/// `keep` gets all rows that are known whenever there are more. Throws DomainError for cells that are none,
/// std::runtime_error where a verifier does not emit what it was forced to: the accepted drafts and one token more.
[[nodiscard]] LoopResult run_loop(const std::vector<LoopCell>& cells, double budget_s, const LoopDevice& device,
                                  const std::function<void(const std::vector<LoopRow>&)>& keep,
                                  const std::function<void(const std::string&)>& say);

}  // namespace foredraft::gpu_bench
