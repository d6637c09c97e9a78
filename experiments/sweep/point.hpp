#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/sweep_config.hpp"

namespace foredraft::experiments {

/// The points of a sweep, one at a time: index -> inputs. Nothing grows with their number.
class Points {
 public:
  explicit Points(const SweepConfig& config);

  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// Position on each axis; the last axis varies fastest. index < count().
  [[nodiscard]] std::vector<std::size_t> coordinates(std::uint64_t index) const;

  [[nodiscard]] PointInputs inputs(std::uint64_t index) const;

  /// The CSV cells of the inputs, each with a comma behind it: one per axis, then one per fixed input.
  void append_cells(std::uint64_t index, std::string& row) const;

  /// The names that go with append_cells.
  [[nodiscard]] std::vector<std::string> columns() const;

 private:
  const SweepConfig* config_;
  std::uint64_t count_;
  PointInputs base_;                                  ///< the fixed inputs
  std::vector<std::vector<std::string>> axis_cells_;  ///< rendered once
  std::string fixed_cells_;
};

}  // namespace foredraft::experiments
