// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/claims/printed_cells.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>

namespace foredraft::experiments {

RoundedValue printed_cell(std::string_view table, std::string_view label_column, std::string_view label,
                          std::string_view column) {
  const PublishedTable published = published_table(table);
  for (std::size_t row = 0; row < published.size(); ++row) {
    if (published.text(row, label_column) == label) return rounded(published.number(row, column));
  }
  throw std::logic_error(fmt::format("{}: no row {}", table, label));
}

std::vector<RoundedValue> printed_cells(std::string_view table, const std::vector<std::string>& columns,
                                        const std::function<bool(const PublishedTable&, std::size_t)>& chosen) {
  const PublishedTable published = published_table(table);
  std::vector<RoundedValue> cells;
  for (std::size_t row = 0; row < published.size(); ++row) {
    for (const std::string& column : columns) {
      if (chosen(published, row) && published.is_number(row, column))
        cells.push_back(rounded(published.number(row, column)));
    }
  }
  return cells;
}

double least(std::span<const double> values) { return *std::min_element(values.begin(), values.end()); }

double greatest(std::span<const double> values) { return *std::max_element(values.begin(), values.end()); }

CellAnswer contradicted(const RoundedValue& ours, std::string arithmetic) {
  return with_finding(exact_cell(ours, {}), std::move(arithmetic));
}

}  // namespace foredraft::experiments
