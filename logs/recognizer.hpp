// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/problems.hpp"
#include "logs/anchors.hpp"
#include "logs/arm_order.hpp"
#include "logs/captions.hpp"
#include "logs/containers.hpp"
#include "logs/findings.hpp"
#include "logs/launches.hpp"
#include "logs/log_format.hpp"
#include "logs/log_tables.hpp"
#include "logs/log_values.hpp"
#include "logs/setups.hpp"
#include "logs/stated_acceptance.hpp"
#include "logs/stated_settings.hpp"

namespace foredraft::logs {

/// Offers the lines, values and tables of a log to the formats, and collects their results.
class Recognizer {
 public:
  /// As LogReader.
  Recognizer(std::string source, std::string_view format, std::span<const LogFormat> known);
  ~Recognizer() = default;  // and no moves: its parts refer to each other

  [[nodiscard]] const Anchors& anchors() const { return *anchors_; }

  /// Reads a line or value like the one before it with the same format, after a cheap test. Returns false for all
  /// others, which may belong to any format.
  bool again(std::string_view line, std::int64_t number);

  /// True if a format recognized the line; `caption`: the line above it; `lead`: the heading, the line with a colon at
  /// its end or the one above a fence of code, above the list or the options that are above the line; may be empty.
  bool line(std::string_view line, std::int64_t number, std::string_view caption, std::string_view lead = {});
  /// True if a format recognized the value `text`; `caption`: the line above it; `words`: those before it on its line;
  /// both may be empty.
  bool value(std::string_view text, std::int64_t number, std::string_view caption, std::string_view words);
  /// The parts for values and tables.
  [[nodiscard]] LogValues& values() { return values_; }
  [[nodiscard]] LogTables& tables() { return tables_; }
  /// Notes a heading or caption above what comes next: "## With MTP"; `apart`: as LogSection.
  void heading(std::string_view text, std::int64_t number, bool apart) {
    note_section(sections_, {.line = number, .words = std::string(text), .apart = apart});
    captions_.note_heading(text, number);
  }
  /// The containers that wrote the lines, before finish().
  void note_containers(const Containers& containers) { containers.caption_runs(captions_); }
  /// Text that was passed.
  void passed(std::string_view text) {
    stated_settings_.note(text);
    stated_acceptance_.note(text);
    captions_.note_change(text);
  }
  /// The next line in a table; false if the table ended before it: it may be anything.
  bool row(std::string_view line, std::int64_t number);

  /// True if a format recognized something since the last call.
  [[nodiscard]] bool took_something() { return findings_.took_something(); }
  void skip_line() { ++findings_.contents.skipped_lines; }
  /// Adds an error and throws all.
  [[noreturn]] void fail(Problem problem) { findings_.fail(std::move(problem)); }
  /// All contents. `nothing`: the error if no format recognized anything. Throws InputError with all problems.
  [[nodiscard]] LogContents finish(std::int64_t lines, Problem nothing);

 private:
  struct Lines {
    const LogFormat* format;
    std::unique_ptr<LineReader> reader;
    std::span<const std::string_view> own;  ///< LineFormat::own
    bool found = false;                     ///< a line of its format
  };

  void name_by_captions();
  void fail_without_format(Problem nothing);
  bool offer(Lines& lines, std::string_view line, std::string_view above);

  std::vector<const LogFormat*> formats_;
  std::shared_ptr<const Anchors> anchors_;
  std::vector<Lines> line_formats_ = {};
  Findings findings_;
  RunCaptions captions_ = {};
  OrderedRuns ordered_ = {};
  LogTables tables_;
  LogValues values_;
  Lines* last_lines_ = nullptr;  ///< that recognized the last item, if it was a line
  std::string lead_ = {};        ///< the last one that was noted as a caption
  StatedSettings stated_settings_ = {};
  StatedAcceptance stated_acceptance_ = {};
  std::vector<LogSection> sections_ = {};
  Launches launches_ = {};
};

}  // namespace foredraft::logs
