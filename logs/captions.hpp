// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "logs/arms.hpp"
#include "logs/observation.hpp"

/// Lines above runs and tables that say what drafted: "### Baseline", "With MTP, K = 3:".
namespace foredraft::logs {

/// The arm that the line above a run or a table names, if it names only one.
[[nodiscard]] std::optional<Arm> arm_in_caption(std::string_view caption);

/// The arms that lines of a log name.
class RunCaptions {
 public:
  /// `caption`: the line above line `number`, where something was read; may be empty.
  void note(std::string_view caption, std::int64_t number);
  /// Runs that do not name their arm belong to that of the line above them, in a log of one format; so do windows and
  /// requests, if one such line says that it is above those without speculation.
  void name_runs(LogContents& contents) const;

 private:
  struct Caption {
    std::int64_t line;
    Arm arm;
  };
  std::vector<Caption> captions_ = {};
};

/// Warns of rows of a table that do not say whether they speculate, beside others that do: they are not compared.
void tell_unused_rows(LogContents& contents);

}  // namespace foredraft::logs
