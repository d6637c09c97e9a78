// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "latency/surfaces/pass_work.hpp"

namespace foredraft::latency {

/// Measured times of one kind of pass, or their ratios to what a model says, and what lies between them.
///
/// Along tokens and along batch straight lines of log time over log count, along context straight lines of time over
/// context (what attention reads grows with it): exact at every measured point, and never beyond its two neighbours
/// between them. Points need not fill a grid: a batch or a context whose curve does not reach the tokens asked for is
/// passed over for the next one.
class StepTable {
 public:
  struct Row {
    PassPoint point;
    double time_us;
    double spread;  ///< half width of the 95 % interval over the time
  };
  struct Answer {
    double time_us;
    double spread;
    bool measured;  ///< a point of the table, not between points
  };

  /// Each point once.
  explicit StepTable(std::vector<Row> rows);

  /// Throws DomainError where a pass that has more to do takes less than (1 - largest_decrease) of the time of its
  /// neighbour with less, and their spreads do not explain it: `name` stands in the message. For tables of times.
  void refuse_decrease(const std::string& name) const;

  /// Nothing outside of what was measured. A time between points is as uncertain as its neighbours and the 95th
  /// percentile of the errors that leaving out one inner point makes.
  [[nodiscard]] std::optional<Answer> at(const PassPoint& point) const;

  [[nodiscard]] bool empty() const { return contexts_.empty(); }

  /// Twice the largest step downwards in published tables: 13 %, from 96 to 128 tokens of Llama-2-7B on an H100, where
  /// the library changes its tiles.
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
