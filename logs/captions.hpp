// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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

/// Maximum number of tables of a log that are told apart.
inline constexpr std::size_t max_told_tables = 64;

/// A table of which runs were read.
struct ReadTable {
  std::int64_t first_line = 0, last_line = 0;  ///< of its rows
  std::string caption = {};                    ///< the line above it
};

/// Several tables of one log that measure the same run otherwise are of several setups: what is above them, or their
/// number, becomes the kind of their prompts. Tables of one setup are those whose captions have the same words besides
/// those of their arms, and whose runs agree, and tables of repeated runs.
void keep_tables_apart(std::span<const ReadTable> tables, LogContents& contents);

/// Rows without names that measure the same run far otherwise are no repetitions: where nothing is plain, their lines
/// become the kinds of their prompts.
void keep_rows_apart(LogContents& contents);

/// Warns of rows of a table that do not say whether they speculate, beside others that do: they are not compared.
void tell_unused_rows(LogContents& contents);

}  // namespace foredraft::logs
