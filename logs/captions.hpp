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

/// Bytes at the beginning of a log whose words say what its runs are: a text is shorter, a log would take long.
inline constexpr std::size_t first_bytes = 65536;

/// Whether a line, of whose words `size` bytes are left, may be the heading of what is below: a longer one is a
/// sentence, unless marks enclose it ("=== assisted (K=5, schedule=constant) ===").
[[nodiscard]] bool may_be_heading(std::string_view line, std::size_t size);

/// The arm that the line above a run or a table names, if it names only one.
[[nodiscard]] std::optional<Arm> arm_in_caption(std::string_view caption);

/// Whether the arm below a caption is that of the line that leads to it: the caption names none, it does.
[[nodiscard]] bool names_arm_above(std::string_view caption, std::string_view lead);

/// The arms that lines above runs name.
class RunCaptions {
 public:
  /// `caption`: the line above line `number`, where something was read (`of_read`) or may be read at the end; may be
  /// empty.
  void note(std::string_view caption, std::int64_t number, bool of_read);
  /// Text at the beginning of a log: a diff that adds a drafter says which of "Before:" and "After:" drafts.
  void note_change(std::string_view text);
  /// A heading of Markdown that names an arm is a caption of all up to the next one of its level, if one without and
  /// one with speculation are of that level: a title that names a drafter may be that of a text about it.
  void note_heading(std::string_view heading, std::int64_t number);
  /// Something was read below the last heading: the next command is another one's.
  void note_reading() { is_read_ = true; }
  /// A command line or a table below a heading of its own at line `number` ends what the last caption says, but a
  /// command (`goes_on`) directly below a heading not what that says.
  void end(std::int64_t number, bool goes_on);
  /// Gives observations the arm of the last caption above them, if the log has one format; with windows or requests,
  /// only if a caption names the arm without speculation, or has the words of one that drafts without those for that
  /// ("7b:" beside "spec 7b:"). Those with acceptance keep their decoding. `all`: also
  /// captions above lines that were not read at once.
  void name_runs(LogContents& contents, bool all) const;

 private:
  struct Caption {
    std::int64_t line;
    std::optional<Arm> arm = {};               ///< empty: none from here on
    std::optional<std::string> requests = {};  ///< concurrent
    bool of_options = false;                   ///< those are of a command, which may be another one's
    bool of_change = false;                    ///< "Before:"
    bool of_read = true;
    std::size_t level = 0;   ///< of a heading; 0: of none
    std::string words = {};  ///< without those of the arm
    bool is_beside = false;  ///< names no arm, and another caption the same with one
  };
  static void drop_lone_headings(std::span<const Observation> runs, std::vector<Caption>& captions);
  [[nodiscard]] std::vector<Caption> with_plain(std::span<const Observation> runs) const;

  std::vector<Caption> captions_ = {};
  std::vector<Caption> unnamed_ = {};  ///< labels that name no arm
  std::size_t bytes_ = 0;
  std::size_t level_ = 0;  ///< of the last heading, if it names an arm
  bool is_read_ = false;
  bool adds_drafter_ = false, removes_drafter_ = false;
};

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
