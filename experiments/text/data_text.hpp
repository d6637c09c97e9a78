// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/intervals.hpp"

namespace foredraft::experiments {

/// Rows of numbers and words as CSV text: named columns, empty cells where a row has no such value.
class DataText {
 public:
  explicit DataText(std::vector<std::string> columns);

  /// Begins a row; its cells follow from left to right.
  DataText& row();
  DataText& cell(std::string_view text);
  DataText& cell(double number);
  DataText& cell(std::optional<double> number);
  /// Two cells: mean and standard error, or two empty ones.
  DataText& cell(const std::optional<Estimate>& estimate);

  /// The whole text. Throws std::logic_error when a row has the wrong number of cells.
  [[nodiscard]] std::string csv() const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace foredraft::experiments
