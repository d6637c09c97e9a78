// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/intervals.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/tally.hpp"

namespace foredraft::sim {

/// A measured request that is complete.
struct CompletedRequest {
  std::int64_t latency_ns;      ///< arrival to last token
  std::int64_t wait_ns;         ///< arrival to admission
  std::int64_t first_token_ns;  ///< arrival to first token
  std::int64_t tokens;          ///< of the output
};

/// Counts of a replica's measured requests and of its window, which opens with the admission of the first of them and
/// ends with the last token of the last.
class MeasuredWindow {
 public:
  /// `requests`: measured requests, at least 1; `longest`: shape of the longest draft.
  MeasuredWindow(std::uint64_t requests, const IterationShape& longest, std::optional<double> latency_goal_us)
      : requests_(requests), requests_left_(requests), latency_goal_us_(latency_goal_us), counts_(longest) {}

  /// True when all measured requests are complete.
  [[nodiscard]] bool complete() const { return requests_left_ == 0; }

  /// Opens the window. `in_system_sum_ns`: integral of the requests in the system over the time so far; `served`:
  /// requests served at once.
  void begin(std::int64_t now_ns, Int128 in_system_sum_ns, std::int64_t served);

  /// Counts a pass over `batch` sequences, if the window is open.
  void add_pass(std::int64_t batch) {
    if (!open_) return;
    ++passes_;
    rows_ += batch;
  }

  /// Counts emitted tokens of any request, if the window is open.
  void add_tokens(std::int64_t tokens) {
    if (open_) tokens_ += tokens;
  }

  /// Counts an iteration of a measured request.
  void add_iteration(const VaryingIteration& iteration) { counts_.add(iteration); }

  void add_request(const CompletedRequest& request);

  /// Ends the batches whose measured requests are all complete; batches that end at the same time are merged. Arguments
  /// as of begin().
  void end_batches(std::int64_t now_ns, Int128 in_system_sum_ns) {
    if (requests_left_ <= batch_end_) end_batch(sums(now_ns, in_system_sum_ns));
  }

  /// The tally of one replica, whose number and warm-up requests are 0. All measured requests must be complete.
  [[nodiscard]] Tally tally(std::int64_t now_ns, Int128 in_system_sum_ns) &&;

 private:
  /// Histogram and sum of a duration.
  struct Durations {
    DurationHistogram counts;
    Int128 sum_ns = 0;

    void add(std::int64_t duration_ns) {
      counts.add(duration_ns);
      sum_ns += duration_ns;
    }
  };

  /// Sums over the window so far; no quantiles.
  [[nodiscard]] ServingValues sums(std::int64_t now_ns, Int128 in_system_sum_ns) const;

  void end_batch(const ServingValues& until);

  std::uint64_t requests_;
  std::uint64_t requests_left_;
  std::optional<double> latency_goal_us_;

  // Since the window opened.
  bool open_ = false;
  std::int64_t opened_ns_ = 0;
  Int128 in_system_before_ns_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t passes_ = 0;
  std::int64_t rows_ = 0;

  // Batches of the window, as of Replica::batches.
  std::vector<ServingValues> batches_;
  ServingValues batch_start_{};     // sums when the current one began
  Int128 tokens_before_batch_ = 0;  // of measured requests
  std::uint64_t batch_requests_ = 1;
  std::uint64_t batch_end_ = 0;  // remaining measured requests when the batch ends

  // For measured requests.
  OutcomeCounts counts_;
  Durations latency_;
  Durations first_token_;
  Durations per_token_;
  Durations tpot_;
  Int128 wait_sum_ns_ = 0;
  Int128 measured_tokens_ = 0;
  Int128 tokens_in_goal_ = 0;
};

}  // namespace foredraft::sim
