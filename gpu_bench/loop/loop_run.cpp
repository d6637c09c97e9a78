// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/loop/loop_run.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/measure/measure.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "gpu_bench/run/profile_folder.hpp"

namespace foredraft::gpu_bench {
namespace {

/// 2^64 divided by the golden ratio: sums wrap around as fractions do.
constexpr std::uint64_t golden_step = 0x9E3779B97F4A7C15U;

constexpr int runs = 5;
constexpr std::string_view out_of_time = "the time limit came before its turn - give it more --minutes";
/// Minimum number of samples of a visit, in steps and iterations: a cell is not visited for fewer.
constexpr double min_samples = 4.0;
constexpr double min_budget_s = 1e-6;
/// For a fixed time a ratio is most accurate with sample counts proportional to one over the root of the times; an
/// iteration takes two to seven steps.
constexpr int decode_steps_a_round = 2;

/// Throws DomainError for a role that drafts nothing, counts below their minimum and an alpha outside [0, 1].
void check_loop_cell(const LoopCell& cell) {
  if (!drafts(cell.drafting)) throw DomainError(fmt::format("{} is not a drafting role", to_string(cell.drafting)));
  check_at_least("gamma", cell.gamma, 1);
  check_probability("alpha", cell.alpha);
  check_at_least("batch", cell.batch, 1);
  check_at_least("context", cell.context, 0);
}

/// The samples of one or several runs of a cell.
struct LoopSamples {
  std::vector<double> plain_us = {}, iteration_us = {};
  std::int64_t emitted = 0;     ///< tokens of all sequences
  std::int64_t iterations = 0;  ///< of all sequences, including those of the warm-up

  LoopSamples& operator+=(const LoopSamples& other) {
    plain_us.insert(plain_us.end(), other.plain_us.begin(), other.plain_us.end());
    iteration_us.insert(iteration_us.end(), other.iteration_us.begin(), other.iteration_us.end());
    emitted += other.emitted;
    iterations += other.iterations;
    return *this;
  }
};

LoopRow row_of(const LoopCell& cell, const LoopSamples& samples) {
  return {.cell = cell,
          .plain = latency::summarise(samples.plain_us),
          .iteration = latency::summarise(samples.iteration_us),
          .tokens_per_iteration = static_cast<double>(samples.emitted) / static_cast<double>(samples.iterations)};
}

/// Median over all pairs of max/min - 1; nullopt for fewer than two.
std::optional<double> difference_of_two(const std::vector<double>& values) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto [low, high] = std::minmax(values[i], values[j]);
      differences.push_back(high / low - 1.0);
    }
  }
  if (differences.empty()) return std::nullopt;
  std::sort(differences.begin(), differences.end());
  return latency::percentile(differences, 0.5);
}

LoopRow row_of(const LoopCell& cell, const std::vector<LoopSamples>& of_runs) {
  LoopSamples together;
  std::vector<double> speedups;
  for (const LoopSamples& samples : of_runs) {
    together += samples;
    speedups.push_back(speedup(row_of(cell, samples)));
  }
  LoopRow row = row_of(cell, together);
  row.between_runs = difference_of_two(speedups);
  return row;
}

void check_emitted(const LoopCell& cell, std::span<const std::int32_t> accepted, const IterationTaken& taken) {
  const auto batch = static_cast<std::size_t>(cell.batch);
  const auto gamma = static_cast<std::size_t>(cell.gamma);
  const auto reject = [&](std::size_t request, const std::string& what) {
    throw std::runtime_error(fmt::format("{}: the verifier did not emit what it was forced to: request {} {}",
                                         to_text(cell), request, what));
  };
  if (taken.drafts.size() != batch * gamma || taken.tokens.size() != batch * (gamma + 1) ||
      taken.emitted_counts.size() != batch) {
    throw std::logic_error("the sizes of an iteration differ from those of its cell");
  }
  for (std::size_t b = 0; b < batch; ++b) {
    const auto kept = static_cast<std::size_t>(accepted[b]);
    const auto drafts = taken.drafts.subspan(b * gamma, gamma);
    const auto tokens = taken.tokens.subspan(b * (gamma + 1), gamma + 1);
    if (taken.emitted_counts[b] != accepted[b] + 1) {
      reject(b, fmt::format("emitted {} tokens, not {}", taken.emitted_counts[b], accepted[b] + 1));
    }
    if (!std::ranges::equal(drafts.first(kept), tokens.first(kept)))
      reject(b, "emitted tokens that differ from its drafts");
    if (kept < gamma && tokens[kept] == drafts[kept]) reject(b, "emitted the draft that it rejected");
    if (tokens[kept] < 0) reject(b, "emitted no token after its drafts");
  }
}

class LoopRun {
 public:
  LoopRun(const std::vector<LoopCell>& cells, double budget_s, const LoopDevice& device,
          const std::function<void(const std::vector<LoopRow>&)>& keep,
          const std::function<void(const std::string&)>& say)
      : cells_(cells),
        device_(device),
        keep_(keep),
        say_(say),
        start_s_(device.now_s()),
        end_s_(start_s_ + budget_s),
        samples_(cells.size()),
        weights_(cells.size(), 1.0),
        shortest_s_(cells.size(), 0.0),
        why_missing_(cells.size()) {
    check_positive("budget_s", budget_s);
    for (const LoopCell& cell : cells) {
      check_loop_cell(cell);
      acceptance_.emplace_back(cell.alpha, cell.gamma);
    }
  }

  LoopResult run() {
    LoopResult result;
    try {
      for (int run = 1; run <= runs; ++run) {
        for (std::size_t cell = 0; cell < cells_.size(); ++cell) visit(run, cell);
        if (run == 1) weigh();
      }
    } catch (const Interrupted&) {
      result.end = MeasureEnd::interrupted;
      std::replace(why_missing_.begin(), why_missing_.end(), std::string(), std::string("the run was interrupted"));
    }
    result.rows = rows();
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
      if (samples_[cell].empty()) result.missing.push_back({.what = to_text(cells_[cell]), .why = why_missing_[cell]});
    }
    return result;
  }

 private:
  /// The first cell is visited whatever the time is, so that there is something to show.
  void visit(int run, std::size_t cell) {
    const double now_s = device_.now_s();
    if (now_s + shortest_s_[cell] >= end_s_ && (run > 1 || cell > 0)) {
      if (samples_[cell].empty() && why_missing_[cell].empty()) why_missing_[cell] = out_of_time;
      return;
    }
    const double share_s = std::max(0.0, end_s_ - now_s) * share_of_rest(run, cell);
    say_(fmt::format("{:5.0f} s  run {} of {}, cell {} of {}: {}; {:.0f} s left", now_s - start_s_, run, runs, cell + 1,
                     cells_.size(), to_text(cells_[cell]), std::max(0.0, end_s_ - now_s)));
    const std::optional<std::string> failed = why_not_measured(
        [&] { samples_[cell].push_back(measured(cell, now_s + share_s, static_cast<std::uint64_t>(run))); });
    if (failed) {
      why_missing_[cell] = *failed;
    } else {
      keep_(rows());
    }
  }

  /// Times of a step and an iteration in us, so that from the second run on every cell gets as many samples as the
  /// others; failed cells get next to no time.
  void weigh() {
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
      if (samples_[cell].empty()) continue;
      const LoopRow row = row_of(cells_[cell], samples_[cell]);
      weights_[cell] = row.plain.median_us + row.iteration.median_us;
    }
  }

  [[nodiscard]] double share_of_rest(int run, std::size_t cell) const {
    const auto from_cell = weights_.begin() + static_cast<std::ptrdiff_t>(cell);
    const double of_a_run = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    return weights_[cell] / (std::accumulate(from_cell, weights_.end(), 0.0) + (runs - run) * of_a_run);
  }

  LoopSamples measured(std::size_t index, double until_s, std::uint64_t seed) {
    const LoopCell& cell = cells_[index];
    const double start_s = device_.now_s();
    const LoopSide side = device_.side_of(cell);
    LoopSamples samples;
    std::vector<std::int32_t> accepted(static_cast<std::size_t>(cell.batch));
    const auto iterate = [&] {
      acceptance_[index].next(accepted);
      const IterationTaken taken = side.iterate(accepted);
      check_emitted(cell, accepted, taken);
      for (const std::int32_t count : taken.emitted_counts) samples.emitted += count;
      samples.iterations += cell.batch;
      return Sample{.us = taken.us};
    };
    const double warm_up_s = device_.now_s();
    static_cast<void>(side.decode_step());
    static_cast<void>(iterate());
    const double now_s = device_.now_s();
    const double min_s = min_samples * (now_s - warm_up_s);
    shortest_s_[index] = now_s - start_s + min_s;
    latency::Protocol protocol;
    protocol.warm_up = 0;
    protocol.seed = seed;
    protocol.budget_s = std::max({until_s - now_s, min_s, min_budget_s});
    std::vector<latency::Measurement> arms = measure({{.name = "decode step",
                                                       .run = [&side] { return Sample{.us = side.decode_step()}; },
                                                       .samples_a_round = decode_steps_a_round},
                                                      {.name = "iteration", .run = iterate}},
                                                     protocol, device_.now_s);
    samples.plain_us = std::move(arms[0].samples_us);
    samples.iteration_us = std::move(arms[1].samples_us);
    return samples;
  }

  [[nodiscard]] std::vector<LoopRow> rows() const {
    std::vector<LoopRow> known;
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
      if (!samples_[cell].empty()) known.push_back(row_of(cells_[cell], samples_[cell]));
    }
    return known;
  }

  const std::vector<LoopCell>& cells_;
  const LoopDevice& device_;
  const std::function<void(const std::vector<LoopRow>&)>& keep_;
  const std::function<void(const std::string&)>& say_;
  double start_s_;
  double end_s_;
  std::vector<std::vector<LoopSamples>> samples_;  ///< of each cell, run by run
  std::vector<double> weights_;                    ///< of each cell, for its share of the time
  std::vector<double> shortest_s_;                 ///< of each cell: its last visit with the minimum of samples
  std::vector<ForcedAcceptance> acceptance_;       ///< of each cell: continues from run to run
  std::vector<std::string> why_missing_;
};

double relative_half_width(const latency::SampleSummary& time) {
  return 0.5 * (time.median_ci95_us.high - time.median_ci95_us.low) / time.median_us;
}

}  // namespace

std::string to_text(const LoopCell& cell) {
  return fmt::format("{} from {} ({}) {} gamma {} alpha {} batch {} context {}", cell.target, cell.drafter,
                     to_string(cell.drafting), cell.dtype, cell.gamma, cell.alpha, cell.batch, cell.context);
}

ForcedAcceptance::ForcedAcceptance(double alpha, std::int64_t gamma) {
  check_probability("alpha", alpha);
  check_at_least("gamma", gamma, 1);
  double survival = 1.0;
  for (std::int64_t draft = 0; draft < gamma; ++draft) survival_.push_back(survival *= alpha);
}

void ForcedAcceptance::next(std::span<std::int32_t> accepted) {
  for (std::int32_t& count : accepted) {
    point_ += golden_step;
    const double uniform = static_cast<double>(point_ >> 11U) * 0x1.0p-53;
    const auto first_below =
        std::find_if(survival_.begin(), survival_.end(), [uniform](double survival) { return uniform >= survival; });
    count = static_cast<std::int32_t>(first_below - survival_.begin());
  }
}

double plain_tokens_per_s(const LoopRow& row) {
  return 1e6 * static_cast<double>(row.cell.batch) / row.plain.median_us;
}

double tokens_per_s(const LoopRow& row) {
  return 1e6 * static_cast<double>(row.cell.batch) * row.tokens_per_iteration / row.iteration.median_us;
}

double speedup(const LoopRow& row) { return tokens_per_s(row) / plain_tokens_per_s(row); }

Interval speedup_ci95(const LoopRow& row) {
  const double half = std::hypot(relative_half_width(row.plain), relative_half_width(row.iteration));
  return {speedup(row) * (1.0 - half), speedup(row) * (1.0 + half)};
}

LoopResult run_loop(const std::vector<LoopCell>& cells, double budget_s, const LoopDevice& device,
                    const std::function<void(const std::vector<LoopRow>&)>& keep,
                    const std::function<void(const std::string&)>& say) {
  return LoopRun(cells, budget_s, device, keep, say).run();
}

}  // namespace foredraft::gpu_bench
