// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/json_values.hpp"
#include "logs/log_format.hpp"

/// The fields of one record of a log, by name: absent or null is nullopt, a value of another type is an error.
namespace foredraft::logs {

/// Fields of a JSON object, which must outlive this. A number may be in quotes. Invalid values throw RejectedRecord.
class JsonFields {
 public:
  /// Throws RejectedRecord if `object` is not an object. `path`: its place in the value, "metrics.".
  JsonFields(const JsonValue& object, std::int64_t line, std::string path = "");

  [[nodiscard]] std::int64_t line() const { return line_; }
  /// Whether the key exists and its value is not null.
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  /// A finite number of at least 0.
  [[nodiscard]] std::optional<double> real(std::string_view key) const;
  /// An acceptance length: a number of at least 1.
  [[nodiscard]] std::optional<double> length(std::string_view key) const;
  /// An integer in [0, max_logged_count]; 12.0 counts as one.
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view key) const;
  /// A text, or an integer as it is written.
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
  /// Lists as above; empty if absent.
  [[nodiscard]] std::vector<double> reals(std::string_view key) const;
  [[nodiscard]] std::vector<std::int64_t> counts(std::string_view key) const;
  /// The fields of an object, or nullopt if it is absent.
  [[nodiscard]] std::optional<JsonFields> object(std::string_view key) const;
  /// As above, but rejects a missing key.
  [[nodiscard]] std::int64_t required_count(std::string_view key) const;
  [[nodiscard]] JsonFields required_object(std::string_view key) const;
  /// The number in an object; nullopt if one of the two is absent.
  [[nodiscard]] std::optional<double> real_in(std::string_view object, std::string_view key) const;
  /// One record for each entry of a list of objects; empty if absent.
  [[nodiscard]] std::vector<JsonFields> objects(std::string_view key) const;
  /// The same for a member that is a list.
  [[nodiscard]] std::vector<JsonFields> objects_of(const JsonValue& list) const;
  /// The fields of a member that has to be an object.
  [[nodiscard]] JsonFields member(const JsonValue& value) const;
  [[nodiscard]] const JsonValue& json() const { return *object_; }
  [[noreturn]] void reject(std::string_view key, std::string_view text, std::string_view why) const;

 private:
  [[nodiscard]] const JsonValue* find(std::string_view key) const;
  [[nodiscard]] const JsonValue& list(std::string_view key) const;

  const JsonValue* object_;
  std::int64_t line_;
  std::string path_;
};

/// Fields of a row of a table, whose columns and cells must outlive this; an empty cell is absent. Numbers are at
/// least 0; invalid cells throw RejectedRecord.
class CsvFields {
 public:
  CsvFields(std::span<const std::string> columns, std::span<const std::string> cells, std::int64_t line)
      : columns_(columns), cells_(cells), line_(line) {}

  [[nodiscard]] std::int64_t line() const { return line_; }
  [[nodiscard]] std::span<const std::string> columns() const { return columns_; }
  [[nodiscard]] bool has(std::string_view column) const { return text(column).has_value(); }
  [[nodiscard]] std::optional<double> real(std::string_view column) const;
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view column) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view column) const;
  [[noreturn]] void reject(std::string_view column, std::string_view text, std::string_view why) const;

 private:
  std::span<const std::string> columns_, cells_;
  std::int64_t line_;
};

/// Reads an object, or each of a list of objects.
void read_each(const JsonValue& value, std::int64_t line, LogContents& contents,
               void (*read)(const JsonFields& record, LogContents& contents));

/// The `read` of a format whose values are objects ...
template <void (*read)(const JsonFields& record, LogContents& contents)>
void of_object(const JsonValue& value, std::int64_t line, LogContents& contents) {
  read(JsonFields(value, line), contents);
}
/// ... and of one whose values may also be lists of them.
template <void (*read)(const JsonFields& record, LogContents& contents)>
void of_each(const JsonValue& value, std::int64_t line, LogContents& contents) {
  read_each(value, line, contents, read);
}

/// The `claims` of a format whose values may also be lists: asks the first entry.
template <bool (*claims)(const JsonValue& value)>
bool of_first(const JsonValue& value) {
  return claims(value.is_array() && !value.empty() ? value.front() : value);
}

/// Whether an object has all of `keys`, null or not; false if it is not an object.
[[nodiscard]] bool has_keys(const JsonValue& value, std::initializer_list<const char*> keys);

/// How many of `keys` an object has, null or not; 0 if it is not an object.
[[nodiscard]] std::ptrdiff_t keys_of(const JsonValue& value, std::span<const char* const> keys);

/// The first entry of the list `key` of an object; null if it is not one, or if there is no such list or no entry.
[[nodiscard]] const JsonValue* first_entry(const JsonValue& value, const char* key);

[[nodiscard]] bool has_columns(std::span<const std::string> columns, std::initializer_list<std::string_view> names);

/// Sets the output length and the mean context length: prompt and half of the output.
void set_lengths(std::optional<double> prompt, std::optional<double> output, Stratum& stratum);

/// Warns (W20) that the median of `name` was used, because its mean is missing.
void warn_of_median(std::string_view name, std::int64_t line, LogContents& contents);

/// Warns (W19) of failed requests of a run. If none completed, nothing was measured: clears times (not the request
/// rate), running requests and lengths, and the run no longer counts as one without speculation.
void check_failures(Observation& run, LogContents& contents);

/// Sets `known` to `value` if it is empty.
template <typename T>
void note(std::optional<T>& known, const std::optional<T>& value) {
  if (!known) known = value;
}

}  // namespace foredraft::logs
