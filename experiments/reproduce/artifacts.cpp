// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/artifacts.hpp"

namespace foredraft::experiments {

std::vector<Artifact> table_artifacts(const std::string& stem, const Table& table) {
  return {{stem + ".csv", to_csv(table)}, {stem + ".tex", to_latex(table)}, {stem + ".md", to_markdown(table)}};
}

std::vector<Artifact> table_artifacts(const std::string& stem, const Table& table, const DataText& data) {
  return {{stem + ".csv", data.csv()}, {stem + ".tex", to_latex(table)}, {stem + ".md", to_markdown(table)}};
}

}  // namespace foredraft::experiments
