// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/problems.hpp"
#include "experiments/text/text_lines.hpp"

namespace foredraft::experiments {

/// Far beyond any batch or context, and small enough for the product of three to fit into 64 bits.
inline constexpr std::int64_t max_table_count = 1'000'000;

/// A CSV table that a user wrote: a header, columns in any order, lines that begin with # skipped. Everything that is
/// wrong with it is collected, to be said at once.
class UserTable {
 public:
  /// `text` must outlive this. There are no rows below a header that lacks a required column, or has one that is
  /// unknown or there twice. Throws InputError on a line of more than max_line_bytes.
  UserTable(std::string_view text, const std::string& file, std::vector<std::string> required,
            std::vector<std::string> optional = {});

  /// Goes to the next row that has a cell for each column; false at the end.
  [[nodiscard]] bool next();

  /// Of this row; empty for an optional column that is not there.
  [[nodiscard]] std::string cell(std::string_view column) const;

  /// Of this row; where the cell is none, that is refused and the least value returned.
  std::int64_t count(std::string_view column, std::int64_t minimum, std::int64_t maximum = max_table_count);
  double positive(std::string_view column);
  double probability(std::string_view column);
  /// One that can stand in a CSV cell as it is; refused where it is empty, holds a comma or a quote, or
  /// looks like a formula.
  std::string name(std::string_view column);

  /// A problem of this row, in the words of the caller.
  void refuse(std::string key, std::string text, std::string why);
  [[nodiscard]] bool row_refused() const { return row_refused_; }

  /// Throws InputError `file:line: ...`: the first twenty problems, and how many more. `nothing` is one where there
  /// was neither a row nor another problem: "holds no step".
  void done(const std::string& nothing);

 private:
  void read_header(const std::vector<std::string>& cells);

  TextLines lines_;
  ProblemList problems_;
  std::vector<std::string> required_, optional_, header_, cells_;
  std::int64_t line_ = 1, rows_ = 0;
  std::size_t refused_ = 0;
  bool row_refused_ = false;
  bool readable_ = true;  ///< false: the header is broken
};

}  // namespace foredraft::experiments
