// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/log_format.hpp"

/// Parsing of logs that were written for a terminal.
namespace foredraft::logs {

/// Appends a code point in UTF-8.
void append_code_point(unsigned code, std::string& text);

/// Decodes UTF-16, recognized by its byte order mark: consoles of Windows write it to files. Other texts do not change.
class TextEncoding {
 public:
  /// The next piece of the text in UTF-8: `bytes`, or a view of `decoded`, which must be empty.
  std::string_view utf8(std::string_view bytes, std::string& decoded);
  /// Bytes that are still held back at the end of the text.
  [[nodiscard]] std::string_view left() const { return pending_; }

 private:
  enum class Kind { unknown, bytes, little_endian, big_endian };

  Kind kind_ = Kind::unknown;
  std::string pending_ = {};  ///< bytes before the kind is known, or half of a code unit
  unsigned high_ = 0;         ///< first half of a surrogate pair; 0: none
};

/// Removes colors and other escape sequences from a text that arrives in pieces, and replaces the ends of lines of
/// Windows and other blanks: a no-break space becomes a space, and "1 234" with a narrow one becomes 1234.
class EscapeFilter {
 public:
  /// Appends `bytes` without escape sequences to `text`.
  void append(std::string_view bytes, std::string& text);

 private:
  enum class State { text, escape, parameters, title };

  void append_text(std::string_view bytes, std::string& text);
  void skip(char c);

  State state_ = State::text;
  std::string held_ = {};  ///< end of a piece that may begin a blank
  char last_ = '\n';       ///< last byte that was appended
};

/// A line as a terminal shows it: without its end, and after the last carriage return.
[[nodiscard]] std::string_view shown(std::string_view line);

// ---- Fields of a line, found by name, because engines add and move them between versions.

/// Maximum count; larger ones are not exact integers in the programs that write logs.
inline constexpr std::int64_t max_logged_count = std::int64_t{1} << 53;

/// `text` without leading and trailing spaces and tabs.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// `text` with ASCII letters in lower case.
[[nodiscard]] std::string in_lower_case(std::string_view text);

/// The number at the beginning of `text`, after blanks; ignores commas between thousands. "nan" is NaN. Leaves the rest
/// in `text`. Nullopt, and `text` unchanged, if there is no number or it is infinite.
[[nodiscard]] std::optional<double> take_number(std::string_view& text);

/// The number after the first `label` that begins a word, if `unit` follows it directly.
[[nodiscard]] std::optional<double> number_after(std::string_view text, std::string_view label,
                                                 std::string_view unit = "");

/// As above, an integer from 0 to max_logged_count.
[[nodiscard]] std::optional<std::int64_t> count_after(std::string_view text, std::string_view label,
                                                      std::string_view unit = "");

/// The text between the first `label` that begins a word and `end`; nullopt if either is missing.
[[nodiscard]] std::optional<std::string_view> text_after(std::string_view text, std::string_view label,
                                                         std::string_view end);

/// The numbers at the beginning of `text`, separated by commas.
[[nodiscard]] std::vector<double> take_numbers(std::string_view text);

/// The numbers of a line that contains `pattern`, in which # stands for a number with any blanks around it; empty if it
/// does not. The pattern must begin a word: "eval rate: # tokens/s"; one that begins with # begins at that number. A *
/// behind the first number stands for any text.
[[nodiscard]] std::vector<double> numbers_in(std::string_view text, std::string_view pattern);

/// Seconds since midnight of the first time of day hh:mm:ss in `text`; nullopt if there is none.
[[nodiscard]] std::optional<std::int64_t> clock_in(std::string_view text);

struct KeyValue {
  std::string_view key, value;
};

/// Both sides of the first colon or equals sign, trimmed; nullopt if there is none.
[[nodiscard]] std::optional<KeyValue> key_value(std::string_view line);

/// `number` if it is an integer from 0 to max_logged_count.
[[nodiscard]] std::optional<std::int64_t> whole(std::optional<double> number);

// ---- Results printed as one `key: value` per line.

/// The lines of one result, by key.
class KeyValueBlock {
 public:
  /// `line`: its line number. A repeated key belongs to the next result: returns false and adds nothing.
  bool add(std::string_view key, std::string_view value, std::int64_t line);

  [[nodiscard]] bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  /// The number of at least 0 that begins a value; nullopt if there is none, or for count(), if it is not an integer.
  [[nodiscard]] std::optional<double> real(std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view key) const;
  /// Empty if the key is absent.
  [[nodiscard]] std::string_view text(std::string_view key) const;
  /// Numbers of the keys `prefix` `from`, `from` + 1 and so on, up to the first that is absent.
  [[nodiscard]] std::vector<double> list(std::string_view prefix, std::size_t from = 0) const;
  /// Number of the last line.
  [[nodiscard]] std::int64_t line() const { return line_; }

 private:
  std::map<std::string, std::string, std::less<>> values_ = {};
  std::int64_t line_ = 0;
};

/// Reads results of one `key: value` per line; a repeated key begins the next result.
class BlockReader : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    const std::optional<KeyValue> field = key_value(text);
    if (field) add(field->key, field->value, number, contents);
    return field.has_value();
  }
  void finish(LogContents& contents) override { close(contents); }

 protected:
  void add(std::string_view key, std::string_view value, std::int64_t number, LogContents& contents);
  /// The lines so far form one result.
  void close(LogContents& contents) { read(std::exchange(block_, {}), contents); }
  [[nodiscard]] const KeyValueBlock& block() const { return block_; }

 private:
  virtual void read(const KeyValueBlock& block, LogContents& contents) = 0;

  KeyValueBlock block_;
};

/// A format of lines; a new `Reader` reads each log.
template <class Reader>
[[nodiscard]] LineFormat lines_of(std::string_view anchor, std::span<const std::string_view> own = {}) {
  return {.anchor = anchor, .open = [] { return std::make_unique<Reader>(); }, .own = own};
}

// ---- Tables.

/// The cells of a comma-separated line, trimmed and unquoted.
[[nodiscard]] std::vector<std::string> csv_cells(std::string_view line);

/// What separates the cells of a table; a list has lines such as "- MTP K=2: 55".
enum class TableLayout { commas, bars, enclosed, tabs, semicolons, blanks, list };

/// The layout of a table with this header; never `list`.
[[nodiscard]] TableLayout layout_of(std::string_view header);

/// The cells of a line, trimmed. Bars may be box-drawing characters and may also enclose the line, of which a row of an
/// `enclosed` header may lack the last. Two or more blanks separate cells; single ones do if two do not give `count`
/// cells (0: at least two cells). A line of a list has a name and what begins with a number; other lines have no cells.
[[nodiscard]] std::vector<std::string> table_cells(std::string_view line, TableLayout layout, std::size_t count = 0);

/// True for a line that only draws, such as the one below a header.
[[nodiscard]] bool is_ruling(std::string_view line);

}  // namespace foredraft::logs
