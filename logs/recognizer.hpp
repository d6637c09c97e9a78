// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/problems.hpp"
#include "logs/anchors.hpp"
#include "logs/captions.hpp"
#include "logs/containers.hpp"
#include "logs/json_records.hpp"
#include "logs/json_values.hpp"
#include "logs/launches.hpp"
#include "logs/line_fields.hpp"
#include "logs/log_format.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_acceptance.hpp"
#include "logs/stated_lengths.hpp"
#include "logs/unused_tables.hpp"

namespace foredraft::logs {

/// Maximum number of rows that are read as one table.
inline constexpr std::size_t max_table_rows = 10'000;

/// Offers the lines, values and tables of a log to the formats, and collects their results.
class Recognizer {
 public:
  /// As LogReader.
  Recognizer(std::string source, std::string_view format, std::span<const LogFormat> known);

  [[nodiscard]] const Anchors& anchors() const { return *anchors_; }

  /// Reads a line or value like the one before it with the same format, after a cheap test. Returns false for all
  /// others, which may belong to any format.
  bool again(std::string_view line, std::int64_t number);

  /// True if a format recognized the line; `caption`: the line above it; `lead`: the heading, the line with a colon at
  /// its end or the one above a fence of code, above the list or the options that are above the line; may be empty.
  bool line(std::string_view line, std::int64_t number, std::string_view caption, std::string_view lead = {});
  /// True if a format recognized the value `text`.
  bool value(std::string_view text, std::int64_t number);
  /// The texts in the value `text`, if at least two of their lines match an anchor: a document that contains a log.
  [[nodiscard]] std::optional<std::string> texts(std::string_view text);
  /// As value(), for one cut off by the end of the log: reads its complete parts, or nothing if one is invalid.
  bool cut_value(std::string_view text, std::int64_t number);
  /// Begins a table if the line is the header of one, or the ruling below the head `above` of one in Markdown;
  /// `caption`: the line above it; `lead`: as of line().
  void header(std::string_view line, std::int64_t number, std::string_view caption, std::string_view above,
              std::string_view lead = {});
  /// Notes a heading or caption above what comes next: "## With MTP"; `apart`: as LogSection.
  void heading(std::string_view text, std::int64_t number, bool apart) {
    note_section(sections_, {.line = number, .words = std::string(text), .apart = apart});
    captions_.note_heading(text, number);
  }
  /// The containers that wrote the lines, before finish().
  void note_containers(const Containers& containers) { containers.caption_runs(captions_); }
  /// Text that was passed.
  void passed(std::string_view text) {
    stated_length_.note(text);
    stated_acceptance_.note(text);
    captions_.note_change(text);
  }
  [[nodiscard]] bool in_table() const { return table_.has_value(); }
  [[nodiscard]] bool has_rows() const { return table_ && (table_->begun || !table_->rows.empty()); }
  /// The next line in a table; false if the table ended before it: it may be anything.
  bool row(std::string_view line, std::int64_t number);

  /// True if a format recognized something since the last call.
  [[nodiscard]] bool took_something() { return std::exchange(took_something_, false); }
  void skip_line() { ++contents_.skipped_lines; }
  /// Adds an error and throws all.
  [[noreturn]] void fail(Problem problem);
  /// All contents. `nothing`: the error if no format recognized anything. Throws InputError with all problems.
  [[nodiscard]] LogContents finish(std::int64_t lines, Problem nothing);

 private:
  struct Lines {
    const LogFormat* format;
    std::unique_ptr<LineReader> reader;
    std::span<const std::string_view> own;  ///< LineFormat::own
    bool found = false;                     ///< a line of its format
  };
  struct Table {
    const LogFormat* format;
    const CsvFormat* csv;  ///< null: `whole` reads it
    const TableFormat* whole;
    TableLayout layout;
    std::vector<std::string> columns;
    ColumnPlaces places = {};         ///< of `columns`, for `csv`
    std::string caption = {};         ///< the line above it
    std::string lead = {};            ///< as of WrittenTable
    bool begun = false;               ///< has rows
    bool at_header = true;            ///< no line after its header was read yet
    bool goes_on = false;             ///< the rest of one with more than max_table_rows
    bool spaced = false;              ///< an empty line follows its header: skip single ones
    bool after_empty = false;         ///< the last line was empty
    bool unclaimed = false;           ///< its head says nothing that is known
    std::vector<TableRow> rows = {};  ///< of `whole`
  };

  void name_by_captions();
  bool title(std::string_view line);
  bool begin_table(std::vector<std::string> columns, TableLayout layout, std::string_view caption);
  bool row_of_whole(std::string_view line, std::int64_t number);
  void end_table();
  bool offer(Lines& lines, std::string_view line, std::string_view above);
  [[nodiscard]] const LogFormat* claimant(const JsonValue& value, std::span<const int> matching,
                                          std::size_t depth) const;
  bool offer_value(const JsonValue& value, std::span<const int> matching, std::size_t depth);
  bool read_value(const LogFormat& format, const JsonValue& value);
  void finish_values();
  void keep_records(const JsonValue& value, std::int64_t line);
  void read_records();
  void note_resembled(std::string_view text, std::span<const int> matching);
  template <typename Offer>
  bool claimed(const LogFormat& format, const Offer& offer);
  template <typename Read>
  bool taken(const Read& read);
  void note_format(const LogFormat& format);

  std::vector<const LogFormat*> formats_ = {};
  std::vector<Lines> line_formats_ = {};
  std::vector<const LogFormat*> value_formats_ = {};
  std::shared_ptr<const Anchors> anchors_ = {};
  LogContents contents_ = {};
  ProblemList problems_;

  JsonDocument document_ = {};
  std::int64_t line_ = 0;             ///< of the item that is read
  Lines* last_lines_ = nullptr;       ///< that recognized the last item, if it was a line
  const LogFormat* last_ = nullptr;   ///< that recognized the last value
  std::uint64_t last_shape_ = 0;      ///< of that value
  const LogFormat* noted_ = nullptr;  ///< the last that was added to contents_.format
  const char* counted_to_ = nullptr;  ///< in the text of a document: where line `line_` is
  std::size_t offers_left_ = 0;       ///< for values within a document
  std::optional<Table> table_ = {};
  const LogFormat* table_format_ = nullptr;  ///< the TableFormat
  std::vector<JsonRecord> records_ = {};     ///< read if the log has nothing else
  std::size_t other_records_ = 0;            ///< values without any
  std::vector<ReadTable> read_tables_ = {};  ///< of `table_format_`
  std::vector<UnusedTable> unused_ = {};     ///< tables of which nothing was read
  bool on_trial_ = false;                    ///< RejectedRecord is thrown on, not collected
  bool took_something_ = false;
  /// The format of the first value that has a key of it, but too few, and the line of the value.
  const LogFormat* resembled_ = nullptr;
  std::int64_t resembled_line_ = 0;
  std::int64_t broken_line_ = 0;  ///< where the last invalid JSON value breaks
  RunCaptions captions_ = {};
  std::string lead_ = {};  ///< the last one that was noted as a caption
  StatedLength stated_length_ = {};
  StatedAcceptance stated_acceptance_ = {};
  std::vector<LogSection> sections_ = {};
  Launches launches_ = {};
  /// Formats whose JsonFormat::finish is to be called.
  std::set<const LogFormat*> unfinished_ = {};
  std::size_t pool_beyond_;
};

}  // namespace foredraft::logs
