// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace foredraft::logs {

/// Writes tables of HTML as Markdown has them: a line for each row, a ruling below the first. A cell of several columns
/// is followed by empty ones, and one of several rows has empty ones below it, as people merge cells in Markdown.
class HtmlTables {
 public:
  /// Appends whole lines to `into`, and a table when its end has arrived. Line numbers behind a table stay correct,
  /// unless its rows share lines. A table in another one, and in a JSON value, stays as it is.
  void append(std::string_view lines, std::string& into);
  /// Appends what is left of a table without an end, unchanged.
  void finish(std::string& into);

 private:
  std::string table_ = {};  ///< from its tag on
};

}  // namespace foredraft::logs
