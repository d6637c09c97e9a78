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

/// A comparison of logs by the names of their files: what the command `compare` and Python's compare() ask.
namespace foredraft::inputs {

struct ComparisonRequest {
  std::vector<std::string> logs = {};             ///< A and B, or one
  std::vector<std::string> plain = {};            ///< the same load without speculation
  std::vector<std::string> require = {};          ///< as in parse_requirement()
  std::optional<std::string> baseline = {};       ///< file with the stored runs of an earlier log, as A
  std::optional<std::string> save_baseline = {};  ///< a new file for the runs of A
  std::optional<double> gpu_hour_price = {};
  std::optional<std::int64_t> gpus = {};
};

/// Where messages of a request come from.
inline constexpr std::string_view comparison_source = "foredraft compare";

/// All but the files.
[[nodiscard]] std::span<const RequestField<ComparisonRequest>> comparison_fields();

/// Adds a problem for each requirement that cannot be read and for what does not go together.
void check(const ComparisonRequest& request, ProblemList& problems);

/// Reads what a checked request names, all logs in one call, so that no two may hold the same bytes. Throws InputError
/// for files that cannot be read.
[[nodiscard]] answers::ComparisonQuestion read_comparison(const ComparisonRequest& request, const ReadLogs& read);

/// Writes the file of --save-baseline if no requirement is missed; whether it was written. Throws InputError for a file
/// that is there.
[[nodiscard]] bool save_baseline(const ComparisonRequest& request, const answers::ComparisonQuestion& question,
                                 const answers::Comparison& comparison);

}  // namespace foredraft::inputs
