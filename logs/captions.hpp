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

/// Of Markdown.
inline constexpr std::size_t max_heading_level = 6;

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
  /// Runs that nothing names speculate if they stand above the only captions, and these say that all below runs without
  /// a drafter that it could have: "The same without MTP:".
  void name_above(LogContents& contents) const;

 private:
  struct Caption {
    std::int64_t line;
    std::optional<Arm> arm = {};               ///< empty: none from here on
    std::optional<std::string> requests = {};  ///< concurrent
    bool of_options = false;                   ///< those are of a command, which may be another one's
    bool of_change = false;                    ///< "Before:"
    bool of_read = true;
    bool denies = false;     ///< a drafter: "without MTP"
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

}  // namespace foredraft::logs
