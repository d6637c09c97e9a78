// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// A table of texts, rendered for a terminal, a Markdown page, a LaTeX paper (booktabs) or as CSV.
namespace foredraft::experiments {

struct Table {
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align;
  };
  std::string caption;  ///< one sentence; in Markdown and, as a comment, in LaTeX
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as wide as `columns`
};

/// Columns two blanks apart, no blanks at line ends.
[[nodiscard]] std::string to_text(const Table& table);
[[nodiscard]] std::string to_markdown(const Table& table);
/// A tabular with \toprule, \midrule, \bottomrule; special characters escaped, +- and minus signs as mathematics.
[[nodiscard]] std::string to_latex(const Table& table);
[[nodiscard]] std::string to_csv(const Table& table);

}  // namespace foredraft::experiments
