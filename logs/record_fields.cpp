// SPDX-License-Identifier: Apache-2.0
#include "logs/record_fields.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/numbers.hpp"
#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

std::optional<double> real_of(const JsonValue& value) {
  const auto number = value.is_number()   ? std::optional(value.number())
                      : value.is_string() ? parse_real(value.string())
                                          : std::nullopt;
  return number && std::isfinite(*number) && *number >= 0.0 ? number : std::nullopt;
}

std::string shown_value(const JsonValue& value) {
  return std::string(value.is_structured() ? value.type_name() : value.source());
}

constexpr std::string_view must_be_real = "must be a number of at least 0";
constexpr std::string_view must_be_count = "must be a whole number from 0 to 2^53";

}  // namespace

JsonFields::JsonFields(const JsonValue& object, std::int64_t line, std::string path)
    : object_(&object), line_(line), path_(std::move(path)) {
  if (object.is_object()) return;
  logs::reject({.line = line_,
                .key = path_.empty() ? "value" : path_.substr(0, path_.size() - 1),
                .text = shown_value(object),
                .why = "must be an object"});
}

const JsonValue* JsonFields::find(std::string_view key) const {
  const JsonValue* found = object_->find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

void JsonFields::reject(std::string_view key, std::string_view text, std::string_view why) const {
  logs::reject({.line = line_, .key = path_ + std::string(key), .text = std::string(text), .why = std::string(why)});
}

std::optional<double> JsonFields::real(std::string_view key) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = real_of(*value);
  if (!number) reject(key, shown_value(*value), must_be_real);
  return number;
}

std::optional<double> JsonFields::length(std::string_view key) const {
  const std::optional<double> length = real(key);
  if (length && *length < 1.0) reject(key, shown_value(*find(key)), "must be at least 1");
  return length;
}

std::optional<std::int64_t> JsonFields::count(std::string_view key) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = whole(real_of(*value));
  if (!number) reject(key, shown_value(*value), must_be_count);
  return number;
}

std::optional<std::string> JsonFields::text(std::string_view key) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_integer()) return std::string(value->source());
  if (!value->is_string()) reject(key, shown_value(*value), "must be a string");
  return value->string();
}

std::optional<bool> JsonFields::flag(std::string_view key) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) reject(key, shown_value(*value), "must be true or false");
  return value->is_true();
}

const JsonValue& JsonFields::list(std::string_view key) const {
  static const JsonValue none;
  const JsonValue* value = find(key);
  if (value == nullptr) return none;
  if (!value->is_array()) reject(key, shown_value(*value), "must be a list");
  return *value;
}

std::vector<double> JsonFields::reals(std::string_view key) const {
  std::vector<double> numbers;
  for (const JsonValue& entry : list(key)) {
    const auto number = real_of(entry);
    if (!number) reject(key, shown_value(entry), must_be_real);
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::int64_t> JsonFields::counts(std::string_view key) const {
  std::vector<std::int64_t> numbers;
  for (const JsonValue& entry : list(key)) {
    const auto number = whole(real_of(entry));
    if (!number) reject(key, shown_value(entry), must_be_count);
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<JsonFields> JsonFields::object(std::string_view key) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  return member(*value);
}

std::int64_t JsonFields::required_count(std::string_view key) const {
  if (!has(key)) reject(key, "missing", must_be_count);
  return *count(key);
}

JsonFields JsonFields::required_object(std::string_view key) const {
  if (!has(key)) reject(key, "missing", "must be an object");
  return *object(key);
}

std::optional<double> JsonFields::real_in(std::string_view object, std::string_view key) const {
  return has(object) ? required_object(object).real(key) : std::nullopt;
}

std::vector<JsonFields> JsonFields::objects(std::string_view key) const { return objects_of(list(key)); }

std::vector<JsonFields> JsonFields::objects_of(const JsonValue& list) const {
  std::vector<JsonFields> records;
  for (const JsonValue& entry : list) {
    records.emplace_back(entry, line_, fmt::format("{}{}[{}].", path_, list.key(), records.size()));
  }
  return records;
}

JsonFields JsonFields::member(const JsonValue& value) const {
  return JsonFields(value, line_, fmt::format("{}{}.", path_, value.key()));
}

std::optional<std::string> CsvFields::text(std::string_view column) const {
  const auto found = places_.find(column);
  if (found == places_.end() || found->second >= cells_.size() || cells_[found->second].empty()) return std::nullopt;
  return cells_[found->second];
}

std::optional<double> CsvFields::real(std::string_view column) const {
  const auto cell = text(column);
  if (!cell) return std::nullopt;
  const auto number = parse_real(*cell);
  if (!number || *number < 0.0) reject(column, *cell, must_be_real);
  return number;
}

std::optional<std::int64_t> CsvFields::count(std::string_view column) const {
  const auto number = real(column);
  if (!number) return std::nullopt;
  const auto count = whole(number);
  if (!count) reject(column, *text(column), must_be_count);
  return count;
}

void CsvFields::reject(std::string_view column, std::string_view text, std::string_view why) const {
  logs::reject({.line = line_, .key = std::string(column), .text = std::string(text), .why = std::string(why)});
}

void read_each(const JsonValue& value, std::int64_t line, LogContents& contents,
               void (*read)(const JsonFields& record, LogContents& contents)) {
  if (!value.is_array()) return read(JsonFields(value, line), contents);
  for (const JsonValue& entry : value) read(JsonFields(entry, line), contents);
}

std::ptrdiff_t keys_of(const JsonValue& value, std::span<const char* const> keys) {
  return std::ranges::count_if(keys, [&](const char* key) { return value.contains(key); });
}

const JsonValue* first_entry(const JsonValue& value, const char* key) {
  if (!has_keys(value, {key})) return nullptr;
  const JsonValue& list = value.at(key);
  return list.is_array() && !list.empty() ? &list.front() : nullptr;
}

bool has_columns(std::span<const std::string> columns, std::initializer_list<std::string_view> names) {
  return std::ranges::all_of(names,
                             [&](std::string_view name) { return std::ranges::find(columns, name) != columns.end(); });
}

void set_lengths(std::optional<double> prompt, std::optional<double> output, Stratum& stratum) {
  stratum.output_tokens = output;
  if (prompt && output) stratum.context_tokens = *prompt + *output / 2.0;
}

void warn_of_median(std::string_view name, std::int64_t line, LogContents& contents) {
  warn_once(contents, "W20", line, fmt::format("the mean {} is missing: its median was used", name));
}

void check_failures(Observation& run, LogContents& contents) {
  const std::int64_t failed = run.failed_requests.value_or(0);
  const std::int64_t completed = run.completed_requests.value_or(1);
  if (completed == 0) {
    run.times = {.request_rate_per_s = run.times.request_rate_per_s};
    run.requests = std::nullopt;
    if (run.decoding == Decoding::plain) run.decoding = Decoding::unknown;
    run.stratum.output_tokens = std::nullopt;
    run.stratum.context_tokens = std::nullopt;
    warn_once(contents, "W19", run.line,
              failed > 0 ? fmt::format("all {} requests failed: nothing was measured", failed)
                         : "no request completed: nothing was measured");
  } else if (failed > 0) {
    warn_once(
        contents, "W19", run.line,
        fmt::format("{} of {} requests failed ({:.1f} %): times are those of the others, at a lower load", failed,
                    failed + completed, 100.0 * static_cast<double>(failed) / static_cast<double>(failed + completed)));
  }
}

bool has_keys(const JsonValue& value, std::initializer_list<const char*> keys) {
  return value.is_object() &&
         std::all_of(keys.begin(), keys.end(), [&](const char* key) { return value.contains(key); });
}

}  // namespace foredraft::logs
