// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "logs/json_values.hpp"

/// JSON that users' own scripts write, as rows of tables.
namespace foredraft::logs {

/// A run, with its keys as headings.
struct JsonRecord {
  std::vector<std::string> headings = {}, cells = {};
  std::int64_t line = 0;
};

/// The runs in a value, at most `most`: the objects with something measured, of which the parts of one run (its
/// settings, its times) are one. A key that names an arm, or the runs of an object, is the name of a run. What the
/// objects around a run say of its load, setup or draft length holds for it too. `line`: where the value begins;
/// `name`: the words before it, if they name an arm.
[[nodiscard]] std::vector<JsonRecord> records_in(const JsonValue& value, std::int64_t line, std::size_t most,
                                                 const std::string& name);

}  // namespace foredraft::logs
