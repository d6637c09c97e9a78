// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/observation.hpp"

/// Which runs of a log are of one setup, and which must not be compared with each other.
namespace foredraft::logs {

/// Maximum number of tables of a log that are told apart.
inline constexpr std::size_t max_told_tables = 64;

/// A table from which runs were read.
struct ReadTable {
  std::int64_t first_line = 0, last_line = 0;  ///< of its rows
  std::string caption = {};                    ///< the line above it
  std::string name = {};                       ///< of a part below a command; empty: the caption
};

/// Keeps tables of different setups apart: the caption of a table, or its number, becomes the category of its runs.
/// Tables are of different setups if they have the same run with other values, or captions with other words (besides
/// those of arms and loads) and each a run with and one without speculation. A caption that names a repetition is of
/// the same setup as the one with the same words.
void keep_tables_apart(std::span<const ReadTable> tables, LogContents& contents);

/// Where a part of a log begins: a heading ("## With MTP"), a caption (as a heading below all others) or a command.
struct LogSection {
  std::int64_t line = 0;
  std::string words = {};
  bool apart = true;  ///< no text is directly above it: else it may be a line of a log
};

/// The words of the section that a line with a gap above it begins: of a caption ("With MTP:", or any short line above
/// a fence of code, `fenced`, or "Build 9159") or a command ("$ llama-server"); empty for lines of logs and for other
/// text.
[[nodiscard]] std::string section_in(std::string_view line, bool fenced);

/// Adds a section, up to a limit.
void note_section(std::vector<LogSection>& sections, LogSection section);

/// What is below several headings, captions or commands that measure the same otherwise is of several setups, as tables
/// are (keep_tables_apart); runs of equal commands or captions are repeated ones, and so are those of headings that
/// only count ("2nd run"). If each setup has one arm only, those that draft become drafters of their own, so that all
/// are compared with the plain one; so do windows and requests without a plain one. Of several setups with both arms,
/// windows and requests become runs, whose loads tell setups apart. Tables stay.
void keep_sections_apart(std::span<const LogSection> sections, LogContents& contents);

/// Rows without names that measure the same run far otherwise are no repetitions: where nothing is plain, their lines
/// become the kinds of their prompts.
void keep_rows_apart(LogContents& contents);

/// Warns (W18) of rows of tables that do not say whether they speculate, beside others that do: they are not compared.
void tell_unused_rows(LogContents& contents);

}  // namespace foredraft::logs
