// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "logs/observation.hpp"

/// Reader of one format. A new one needs a file, lines in formats.hpp and formats.cpp, and a test.
namespace foredraft::logs {

class CsvFields;
class JsonValue;

/// Reads the lines that one format claims, in order. Other lines may be between them.
class LineReader {
 public:
  LineReader() = default;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  LineReader(LineReader&&) = delete;
  LineReader& operator=(LineReader&&) = delete;
  virtual ~LineReader() = default;

  /// Reads a line with the format's anchor or one of its own words, without its line end and colors. Returns whether it
  /// is of the format: not if it is truncated. Throws RejectedRecord if its numbers contradict each other.
  virtual bool line(std::string_view text, std::int64_t number, LogContents& contents) = 0;
  /// The same; `above`: the last line before it that is neither empty nor drawn.
  virtual bool line_below(std::string_view /*above*/, std::string_view text, std::int64_t number,
                          LogContents& contents) {
    return line(text, number, contents);
  }
  /// Called after the last line, if one was of the format, to add what is still open.
  virtual void finish(LogContents& /*contents*/) {}
  /// Called after the last line if no format recognized anything, to add what its lines say only alone.
  virtual void finish_alone(LogContents& /*contents*/) {}
};

/// A format of text lines; only those that match `anchor` are read.
struct LineFormat {
  /// RE2, multi-line, over bytes, without capturing groups or anything that matches a line end. All lines are searched
  /// for it, so it must be cheap.
  std::string_view anchor;
  std::function<std::unique_ptr<LineReader>()> open;
  /// Words of its lines: right after one of them, a line with one of these words is offered to this format first.
  std::span<const std::string_view> own = {};
};

/// A format of JSON values: a whole file or parts of it, each on one line or over several.
struct JsonFormat {
  /// RE2 over bytes for text that every value of the format contains, such as a key: others are not offered to it.
  std::string_view anchor;
  std::function<bool(const JsonValue& value)> claims;  ///< must be cheap: checks a few keys
  /// Appends to `contents`; `line` is where the value begins. Throws RejectedRecord for an invalid value.
  std::function<void(const JsonValue& value, std::int64_t line, LogContents& contents)> read;
  bool within = false;  ///< its values are also read inside documents of no format, such as runs
  std::function<void(LogContents& contents)> finish = {};  ///< called after the last value
};

/// A comma-separated table: a header of three or more columns, then rows up to a line with another number of cells.
struct CsvFormat {
  /// RE2 as for lines: the name of a column that every header of the format has.
  std::string_view anchor;
  /// True for a header of the format. Throws RejectedRecord for one with mistakes.
  std::function<bool(std::span<const std::string> columns)> claims;
  std::function<void(const CsvFields& row, LogContents& contents)> row;
};

/// A row of a table and its line number.
struct TableRow {
  std::vector<std::string> cells = {};
  std::int64_t line = 0;
};

/// A table as it was written.
struct WrittenTable {
  std::span<const std::string> headings = {};
  std::span<const TableRow> rows = {};
  std::string_view caption = {};  ///< the line above it that is not empty
  std::string_view lead = {};     ///< the line that leads to the caption and the table, "with MTP:", if there is one
};

/// A table in any layout (commas, bars, tabs, aligned columns), read as a whole: a header, then rows up to a line with
/// another number of cells. Rows that a format of lines recognizes are left to it.
struct TableFormat {
  /// RE2 as for lines, for something that every header of the format has.
  std::string_view anchor;
  std::function<bool(std::span<const std::string> columns)> claims;
  /// Throws RejectedRecord for a table that cannot be read: an error if nothing else of the log is read.
  std::function<void(const WrittenTable& table, LogContents& contents)> read;
};

/// What is read from a format: "yes", "no", "(yes)" if only in some versions or estimated, "-" if not applicable.
/// `times` names which.
struct Gives {
  std::string_view gamma;      ///< drafted tokens per iteration
  std::string_view length;     ///< acceptance length
  std::string_view positions;  ///< acceptance by draft position
  std::string_view times;      ///< of iterations, drafting, verification or tokens
  std::string_view batch;      ///< concurrent requests
};

struct LogFormat {
  std::string_view name;     ///< value of --format, "vllm"
  std::string_view summary;  ///< one line for `foredraft list formats`
  std::string_view engine;   ///< "vllm"; empty: determined by the content, or none
  Gives gives = {};
  std::variant<LineFormat, JsonFormat, CsvFormat, TableFormat> reads;
};

/// Every format, more specific ones before more general ones: the first that claims a line, a value or a header reads
/// it.
[[nodiscard]] std::span<const LogFormat> formats();

/// An error in one line, value or row; LogReader, which knows the name of the file, collects it and continues.
class RejectedRecord : public InputError {
 public:
  explicit RejectedRecord(std::vector<Problem> problems);

  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// Throws a RejectedRecord with this problem.
[[noreturn]] void reject(Problem problem);

/// Adds a warning unless there is one with this code: logs repeat the same one thousands of times.
void warn_once(LogContents& contents, std::string_view code, std::int64_t line, std::string message);

}  // namespace foredraft::logs
