// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "core/csv.hpp"
#include "experiments/reproduce/registry.hpp"

namespace foredraft::tests {

/// The rows of an experiment's first artifact, without the header.
inline std::vector<std::vector<std::string>> data_lines(const experiments::ExperimentResult& result) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream text(result.artifacts.at(0).content);
  for (std::string line; std::getline(text, line);) lines.push_back(split_csv_line(line).value());
  lines.erase(lines.begin());
  return lines;
}

}  // namespace foredraft::tests
