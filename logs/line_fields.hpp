// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Logs that were written for a terminal.
namespace foredraft::logs {

/// Takes colors and other escape sequences out of a text that comes in pieces.
class EscapeFilter {
 public:
  /// Appends what is left of `bytes` to `text`.
  void append(std::string_view bytes, std::string& text);

 private:
  enum class State { text, escape, parameters, title };

  void skip(char c);

  State state_ = State::text;
};

/// What a terminal shows of a line: without its end, and after the last return of the cursor.
[[nodiscard]] std::string_view shown(std::string_view line);

// ---- Fields of a line, found by name: engines add and move them from version to version.

/// Counts above it are no longer whole numbers in the programs that write logs.
inline constexpr std::int64_t max_logged_count = std::int64_t{1} << 53;

/// `text` without blanks at either end.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// The number at the beginning of `text`, behind blanks; commas between thousands are read over. "nan" is NaN; nothing
/// where no finite number stands there. What stands behind it is left in `text`.
[[nodiscard]] std::optional<double> take_number(std::string_view& text);

/// The number behind the first `label` that begins a word, where `unit` follows it at once.
[[nodiscard]] std::optional<double> number_after(std::string_view text, std::string_view label,
                                                 std::string_view unit = "");

/// As above, a whole number from 0 to max_logged_count.
[[nodiscard]] std::optional<std::int64_t> count_after(std::string_view text, std::string_view label,
                                                      std::string_view unit = "");

/// What stands behind the first `label` up to `end`; nothing where either is missing.
[[nodiscard]] std::optional<std::string_view> text_after(std::string_view text, std::string_view label,
                                                         std::string_view end);

/// The numbers at the beginning of `text`, with a comma between neighbors.
[[nodiscard]] std::vector<double> take_numbers(std::string_view text);

/// Seconds since midnight: the first hh:mm:ss in `text`.
[[nodiscard]] std::optional<std::int64_t> clock_in(std::string_view text);

struct KeyValue {
  std::string_view key, value;
};

/// Both sides of the first colon or equals sign, without blanks around them; nothing where there is none.
[[nodiscard]] std::optional<KeyValue> key_value(std::string_view line);

/// `number` where it is a whole number from 0 to max_logged_count.
[[nodiscard]] std::optional<std::int64_t> whole(std::optional<double> number);

// ---- Results printed as one `key: value` a line.

/// The lines of one result.
class KeyValueBlock {
 public:
  /// `line`: where it stands. A key that is there already belongs to the next result: false, and nothing is added.
  bool add(std::string_view key, std::string_view value, std::int64_t line);

  [[nodiscard]] bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  /// Nothing where the key is absent or its value is no such thing.
  [[nodiscard]] std::optional<double> real(std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view key) const;
  [[nodiscard]] std::string_view text(std::string_view key) const;
  /// Values of `prefix` 0, 1, 2 and so on, up to the first that is absent.
  [[nodiscard]] std::vector<double> list(std::string_view prefix) const;
  /// Of the last line.
  [[nodiscard]] std::int64_t line() const { return line_; }

 private:
  std::map<std::string, std::string, std::less<>> values_ = {};
  std::int64_t line_ = 0;
};

// ---- Tables whose cells are separated by commas.

/// The cells of a line without blanks around them; quotes around a cell are taken off and doubled ones in it undoubled.
[[nodiscard]] std::vector<std::string> csv_cells(std::string_view line);

}  // namespace foredraft::logs
