// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "logs/observation.hpp"

/// How one format is read: a new one is a file, its line in formats.cpp and its test.
namespace foredraft::logs {

/// Reads the lines that one format claims, in their order. Between them stands whatever else a server says.
class LineReader {
 public:
  LineReader() = default;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  LineReader(LineReader&&) = delete;
  LineReader& operator=(LineReader&&) = delete;
  virtual ~LineReader() = default;

  /// A line that holds the format's anchor, without its line end and colours. Returns whether it was one of the format:
  /// not if it is cut short. Throws RefusedRecord where its numbers contradict each other.
  virtual bool line(std::string_view text, std::int64_t number, LogContents& contents) = 0;
  /// After the last line, if one was of the format: what is still open becomes an observation.
  virtual void finish(LogContents& contents) = 0;
};

/// Lines of text, of which those matter that `anchor` finds.
struct LineFormat {
  /// RE2, multi-line, over bytes, without groups that capture or anything that matches a line end: cheap to look for in
  /// everything.
  std::string_view anchor;
  std::function<std::unique_ptr<LineReader>()> open;
};

/// Whole JSON values: a file, or one of many in a file, a line each or over many lines.
struct JsonFormat {
  /// RE2 over bytes of what every value of the format holds, a key for instance: a value without it is not parsed.
  std::string_view anchor;
  std::function<bool(const nlohmann::ordered_json& value)> claims;  ///< must be cheap: looks at a few keys
  /// Appends to `contents`; `line` is where the value begins. Throws RefusedRecord on what it cannot take.
  std::function<void(const nlohmann::ordered_json& value, std::int64_t line, LogContents& contents)> read;
};

/// A comma-separated table: a header, then rows until a line with another number of cells.
struct CsvFormat {
  /// RE2 as that of lines: the name of a column without which no header is one of the format.
  std::string_view anchor;
  /// Whether a header is one of the format. Throws RefusedRecord where it is one with mistakes.
  std::function<bool(std::span<const std::string> columns)> claims;
  std::function<void(std::span<const std::string> columns, std::span<const std::string> cells, std::int64_t line,
                     LogContents& contents)>
      row;
};

/// What is read of a format: "yes", "no", "-" where it makes no sense, (yes) in some versions only or estimated;
/// `times` names which.
struct Gives {
  std::string_view gamma;      ///< drafted tokens per iteration
  std::string_view length;     ///< acceptance length
  std::string_view positions;  ///< acceptance by draft position
  std::string_view times;      ///< of iterations, drafting, verification or tokens
  std::string_view batch;      ///< requests at once
};

struct LogFormat {
  std::string_view name;     ///< what --format takes, "vllm"
  std::string_view summary;  ///< what is read, for `foredraft list formats`
  std::string_view engine;   ///< "vllm"; empty: told by the content, or none
  Gives gives = {};
  std::variant<LineFormat, JsonFormat, CsvFormat> reads;
};

/// Every format, more particular ones before more general ones: the first that claims a line, a value or a header has
/// it.
[[nodiscard]] std::span<const LogFormat> formats();

/// What is wrong with one line, value or row; LogReader, which knows the name of the file, collects it and reads on.
class RefusedRecord : public InputError {
 public:
  explicit RefusedRecord(std::vector<Problem> problems);

  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// Throws a RefusedRecord of this problem.
[[noreturn]] void refuse(Problem problem);

/// Adds a warning unless there is one with this code: a log says the same thousands of times.
void warn_once(LogContents& contents, std::string_view code, std::int64_t line, std::string message);

}  // namespace foredraft::logs
