// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "latency/operations/step_operations.hpp"

namespace foredraft::latency {

/// Interpolates measured times of one kind of pass, or their ratios to a model's times.
///
/// The interpolation is linear in log time and log count along tokens and batch, and linear in time and context along
/// context. It is exact at every measured point and lies between the two neighbors. Points need not fill a grid: a
/// batch or context whose curve does not include the requested tokens is skipped.
class StepTable {
 public:
  struct Row {
    ForwardPassPoint point;
    double time_us;
    double spread;  ///< half width of the 95 % interval divided by the time
  };
  struct Answer {
    double time_us;
    double spread;
    bool measured;  ///< true for a point of the table, false between points
  };

  /// `rows` must not contain a point twice.
  explicit StepTable(std::vector<Row> rows);

  /// Throws DomainError if a larger pass takes less than (1 - largest_decrease) of the time of a smaller neighbor and
  /// their spreads do not explain it. `name`: table in the message. Only for tables of times.
  void reject_decrease(const std::string& name) const;

  /// nullopt outside of the measured range. The spread of an interpolated time combines those of its neighbors with the
  /// 95th percentile of leave-one-out errors of inner points.
  [[nodiscard]] std::optional<Answer> at(const ForwardPassPoint& point) const;

  [[nodiscard]] bool empty() const { return contexts_.empty(); }

  /// About twice the largest decrease in published tables: 13 %, from 96 to 128 tokens of Llama-2-7B on an H100, where
  /// the library changes its tile size.
  static constexpr double largest_decrease = 0.25;

 private:
  struct Anchor {
    double count;      ///< tokens, batch or context ...
    double log_count;  ///< ... and its logarithm
    double log_us;
    double spread;
  };
  using Curve = std::vector<Anchor>;  ///< by tokens
  struct Batch {
    double count, log_count;
    Curve curve;
  };
  struct Context {
    double count;
    std::vector<Batch> batches;
  };
  struct Found {
    double log_us, spread;
    bool measured;
  };

  static std::optional<Found> on_curve(const Curve& curve, double count, double log_count);
  static std::optional<Found> in_context(const Context& context, double batch, double log_batch, double tokens,
                                         double log_tokens);
  [[nodiscard]] double error_of_interpolation() const;

  std::vector<Context> contexts_;
  double interpolation_error_ = 0.0;
};

}  // namespace foredraft::latency
