// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/problems.hpp"
#include "logs/log_format.hpp"
#include "logs/observation.hpp"

/// Tables with speeds of which nothing was read.
namespace foredraft::logs {

struct UnusedTable {
  std::int64_t line = 0;      ///< of its first row
  std::string headings = {};  ///< as written, the first ones
  bool has_speeds = false;    ///< it names speeds or acceptance, and has numbers
  bool both_arms = false;     ///< it names a run without and one with speculation
  bool claimed = true;        ///< its headings are known
  Problem problem = {};       ///< why it was rejected; its text is empty if it was not
};

/// Precondition: the table has rows.
[[nodiscard]] UnusedTable unused_table(const WrittenTable& table);

/// Warns (W18) of each table, or adds an error if it has both arms and what was read has not: then it may hold the
/// answer. Without observations only problems are added.
void tell_unused_tables(std::span<const UnusedTable> tables, LogContents& contents, ProblemList& problems);

}  // namespace foredraft::logs
