#pragma once

#include <string>
#include <vector>

#include "experiments/reproduce/experiment.hpp"
#include "experiments/text/table.hpp"

namespace foredraft::experiments {

/// `stem`.csv, .tex and .md of one table.
[[nodiscard]] std::vector<Artifact> table_artifacts(const std::string& stem, const Table& table);

}  // namespace foredraft::experiments
