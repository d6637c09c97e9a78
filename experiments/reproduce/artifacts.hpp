// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "experiments/reproduce/experiment.hpp"
#include "experiments/text/digest.hpp"
#include "experiments/text/table.hpp"

namespace foredraft::experiments {

/// `stem`.csv, .tex and .md of one table, its texts as they are.
[[nodiscard]] std::vector<Artifact> table_artifacts(const std::string& stem, const Table& table);

/// The same with data of their own for the CSV: plain numbers, a cell for every value.
[[nodiscard]] std::vector<Artifact> table_artifacts(const std::string& stem, const Table& table, const DataText& data);

}  // namespace foredraft::experiments
