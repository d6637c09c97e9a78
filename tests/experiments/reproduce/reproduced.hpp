// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/csv.hpp"
#include "experiments/reproduce/registry.hpp"

namespace foredraft::tests {

using experiments::ExperimentResult;
using experiments::ScorecardRow;

inline ExperimentResult reproduced(std::string_view id) {
  return experiments::run_experiment(id, {.seed = 1, .threads = 2, .note = [](std::string_view) {}});
}

inline std::ptrdiff_t rows_with(const ExperimentResult& result, experiments::Kind kind, experiments::Verdict verdict) {
  return std::ranges::count_if(result.rows,
                               [&](const ScorecardRow& row) { return row.kind == kind && row.verdict == verdict; });
}

inline const ScorecardRow& row_of(const ExperimentResult& result, std::string_view row, std::string_view column) {
  const auto found = std::ranges::find_if(
      result.rows, [&](const ScorecardRow& entry) { return entry.row == row && entry.column == column; });
  if (found == result.rows.end()) throw std::logic_error(std::string(row) + ", " + std::string(column));
  return *found;
}

/// The rows of an experiment's first artifact, without the header.
inline std::vector<std::vector<std::string>> data_lines(const ExperimentResult& result) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream text(result.artifacts.at(0).content);
  for (std::string line; std::getline(text, line);) lines.push_back(split_csv_line(line).value());
  lines.erase(lines.begin());
  return lines;
}

}  // namespace foredraft::tests
