// SPDX-License-Identifier: Apache-2.0
#include "experiments/text/data_text.hpp"

#include <fmt/ranges.h>
#include <stdexcept>

#include "core/numbers.hpp"
#include "experiments/text/csv.hpp"

namespace foredraft::experiments {

DataText::DataText(std::vector<std::string> columns) : columns_(std::move(columns)) {}

DataText& DataText::row() {
  rows_.emplace_back();
  return *this;
}

DataText& DataText::cell(std::string_view text) {
  rows_.back().push_back(csv_cell(text));
  return *this;
}

DataText& DataText::cell(double number) {
  rows_.back().push_back(number_text(number));
  return *this;
}

DataText& DataText::cell(std::optional<double> number) {
  rows_.back().push_back(number ? number_text(*number) : std::string());
  return *this;
}

DataText& DataText::cell(const std::optional<Estimate>& estimate) {
  if (!estimate) return cell(std::string_view()).cell(std::string_view());
  return cell(estimate->mean).cell(estimate->standard_error);
}

std::string DataText::csv() const {
  std::string text = csv_header(columns_);
  for (const auto& cells : rows_) {
    if (cells.size() != columns_.size()) throw std::logic_error("data text: a row has the wrong number of cells");
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

}  // namespace foredraft::experiments
