// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// Fields of a line, found by name: engines add and move them from version to version.
namespace foredraft::logs {

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

}  // namespace foredraft::logs
