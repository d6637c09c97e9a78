// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/comparison.hpp"
#include "core/problems.hpp"
#include "inputs/advice_request.hpp"
#include "inputs/request_field.hpp"

/// A request to compare logs by file names, from the command `compare` or Python's compare().
namespace foredraft::inputs {

struct ComparisonRequest {
  std::vector<std::string> logs = {};             ///< A and B, or only one
  std::vector<std::string> plain = {};            ///< logs of the same load without speculation
  std::vector<std::string> require = {};          ///< see parse_requirement()
  std::optional<std::string> baseline = {};       ///< file with stored runs of an earlier log, used as A
  std::optional<std::string> save_baseline = {};  ///< new file for the runs of A
  std::optional<double> gpu_hour_price = {};
  std::optional<std::int64_t> gpus = {};
};

/// The source that messages about a request name.
inline constexpr std::string_view comparison_source = "foredraft compare";

/// All fields except files.
[[nodiscard]] std::span<const RequestField<ComparisonRequest>> comparison_fields();

/// Adds problems for invalid requirements and contradicting values.
void check(const ComparisonRequest& request, ProblemList& problems);

/// Reads the files of a checked request, all logs in one call, which rejects logs with equal bytes. Throws InputError
/// for files that cannot be read.
[[nodiscard]] answers::ComparisonQuestion read_comparison(const ComparisonRequest& request, const ReadLogs& read);

/// Writes the file of --save-baseline if runs were compared and all requirements are met; true if written. Throws
/// InputError for an existing file.
[[nodiscard]] bool save_baseline(const ComparisonRequest& request, const answers::ComparisonQuestion& question,
                                 const answers::Comparison& comparison);

}  // namespace foredraft::inputs
