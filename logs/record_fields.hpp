// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/log_format.hpp"

/// The fields of one record of a log, by name: what is absent or null is nothing, what is no such value is an error.
namespace foredraft::logs {

/// Of a JSON object, which outlives this. A number may stand in quotes. Everything throws
/// RefusedRecord.
class JsonFields {
 public:
  /// Throws RefusedRecord where `object` is none. `path`: where it lies in the value, "metrics.".
  JsonFields(const nlohmann::ordered_json& object, std::int64_t line, std::string path = "");

  [[nodiscard]] std::int64_t line() const { return line_; }
  /// Whether there is such a key, whose value is not null.
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  /// A finite number of at least 0.
  [[nodiscard]] std::optional<double> real(std::string_view key) const;
  /// A whole number in [0, max_logged_count]; 12.0 is one.
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
  /// Lists as above; empty where absent.
  [[nodiscard]] std::vector<double> reals(std::string_view key) const;
  [[nodiscard]] std::vector<std::int64_t> counts(std::string_view key) const;
  /// The value of an object, or nothing where it is absent.
  [[nodiscard]] std::optional<JsonFields> object(std::string_view key) const;
  /// As above, but absence is an error too.
  [[nodiscard]] std::int64_t required_count(std::string_view key) const;
  [[nodiscard]] double required_real(std::string_view key) const;
  [[nodiscard]] JsonFields required_object(std::string_view key) const;
  /// One record for each entry of a list of objects; none where absent.
  [[nodiscard]] std::vector<JsonFields> objects(std::string_view key) const;
  [[nodiscard]] const nlohmann::ordered_json& json() const { return *object_; }
  [[noreturn]] void refuse(std::string_view key, std::string_view text, std::string_view why) const;

 private:
  [[nodiscard]] const nlohmann::ordered_json* find(std::string_view key) const;
  [[nodiscard]] const nlohmann::ordered_json& list(std::string_view key) const;

  const nlohmann::ordered_json* object_;
  std::int64_t line_;
  std::string path_;
};

/// Of a row of a table, whose columns and cells outlive this; an empty cell is absent. Everything throws RefusedRecord.
class CsvFields {
 public:
  CsvFields(std::span<const std::string> columns, std::span<const std::string> cells, std::int64_t line)
      : columns_(columns), cells_(cells), line_(line) {}

  [[nodiscard]] std::int64_t line() const { return line_; }
  [[nodiscard]] bool has(std::string_view column) const { return text(column).has_value(); }
  [[nodiscard]] std::optional<double> real(std::string_view column) const;
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view column) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view column) const;
  [[noreturn]] void refuse(std::string_view column, std::string_view text, std::string_view why) const;

 private:
  std::span<const std::string> columns_, cells_;
  std::int64_t line_;
};

/// Whether an object has all of `keys`, null or not; false for what is no object.
[[nodiscard]] bool has_keys(const nlohmann::ordered_json& value, std::initializer_list<const char*> keys);

/// Puts `value` where nothing was known before.
template <typename T>
void note(std::optional<T>& known, const std::optional<T>& value) {
  if (!known) known = value;
}

}  // namespace foredraft::logs
