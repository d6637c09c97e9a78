// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/command_line.hpp"

namespace foredraft::experiments {

inline const OptionSpec parquet_option{"format", "csv|parquet",
                                       "parquet: points.parquet beside points.csv; needs pyarrow"};

/// Whether the line asks for it.
[[nodiscard]] bool wants_parquet(CommandLine& line);

/// What sweep and merge print about a complete results folder.
[[nodiscard]] std::string sweep_report(const std::string& folder);

}  // namespace foredraft::experiments
