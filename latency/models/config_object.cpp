// SPDX-License-Identifier: Apache-2.0
#include "latency/models/config_object.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/documents.hpp"

namespace foredraft::latency {

void ConfigProblems::add(Problem problem) {
  if (found_.emplace(problem.key, problem.text).second) problems_->add(std::move(problem));
}

ConfigObject::ConfigObject(const nlohmann::ordered_json& object, std::string prefix, ConfigProblems& problems)
    : object_(&object), prefix_(std::move(prefix)), problems_(&problems) {}

std::size_t ConfigObject::size() const { return object_->size(); }

bool ConfigObject::has(std::string_view key) const { return find(key) != nullptr; }

bool ConfigObject::is_text(std::string_view key) const { return has(key) && find(key)->is_string(); }

bool ConfigObject::is_object(std::string_view key) const { return has(key) && find(key)->is_object(); }

bool ConfigObject::is_list(std::string_view key) const { return has(key) && find(key)->is_array(); }

bool ConfigObject::is_negative(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  return value != nullptr && value->is_number() && value->get<double>() < 0.0;
}

std::optional<std::int64_t> ConfigObject::whole(std::string_view key, std::int64_t maximum) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = whole_number<std::int64_t>(*value, 0, maximum);
  if (!number) reject_type(key, *value, fmt::format("a whole number in [0, {}]", maximum));
  return number;
}

std::int64_t ConfigObject::whole_or(std::string_view key, std::int64_t fallback) const {
  return whole(key).value_or(fallback);
}

std::int64_t ConfigObject::required(std::string_view key) const {
  if (!has(key)) reject(key, "missing");
  return whole_or(key, 1);
}

std::optional<double> ConfigObject::real(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const double number = value->is_number() ? value->get<double>() : -1.0;
  if (number >= 0.0 && number <= static_cast<double>(largest_config_number)) return number;
  reject_type(key, *value, fmt::format("a number in [0, {}]", largest_config_number));
  return std::nullopt;
}

bool ConfigObject::flag(std::string_view key, bool fallback) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  reject_type(key, *value, "true or false");
  return fallback;
}

std::optional<std::string> ConfigObject::text(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  reject_type(key, *value, "a string");
  return std::nullopt;
}

template <typename Entry>
std::optional<std::vector<Entry>> ConfigObject::list(
    std::string_view key, std::string_view kind, std::optional<Entry> (*read)(const nlohmann::ordered_json&)) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::vector<Entry> all;
  bool sound = value->is_array();
  if (sound && value->size() > largest_config_list) {
    reject(key, fmt::format("has {} entries", value->size()), fmt::format("must be at most {}", largest_config_list));
    return std::nullopt;
  }
  for (std::size_t i = 0; sound && i < value->size(); ++i) {
    const std::optional<Entry> entry = read((*value)[i]);
    sound = entry.has_value();
    if (sound) all.push_back(*entry);
  }
  if (sound) return all;
  reject_type(key, *value, kind);
  return std::nullopt;
}

std::optional<std::vector<std::string>> ConfigObject::texts(std::string_view key) const {
  return list<std::string>(key, "a list of strings", [](const nlohmann::ordered_json& entry) {
    return entry.is_string() ? std::optional(entry.get<std::string>()) : std::nullopt;
  });
}

std::optional<std::vector<std::int64_t>> ConfigObject::wholes(std::string_view key) const {
  return list<std::int64_t>(key, "a list of whole numbers", [](const nlohmann::ordered_json& entry) {
    return whole_number<std::int64_t>(entry, 0, largest_config_number);
  });
}

std::optional<ConfigObject> ConfigObject::object(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_object()) return ConfigObject(*value, fmt::format("{}{}.", prefix_, key), *problems_);
  reject_type(key, *value, "an object");
  return std::nullopt;
}

std::optional<std::vector<ConfigObject>> ConfigObject::tables(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::vector<ConfigObject> all;
  bool sound = value->is_array();
  for (std::size_t i = 0; sound && i < value->size(); ++i) {
    sound = (*value)[i].is_object();
    if (sound) all.emplace_back((*value)[i], fmt::format("{}{}[{}].", prefix_, key, i), *problems_);
  }
  if (sound) return all;
  reject_type(key, *value, "a list of objects");
  return std::nullopt;
}

std::vector<std::pair<std::string, ConfigObject>> ConfigObject::entries() const {
  std::vector<std::pair<std::string, ConfigObject>> all;
  for (const auto& [key, value] : object_->items()) {
    if (value.is_object()) all.emplace_back(key, ConfigObject(value, fmt::format("{}{}.", prefix_, key), *problems_));
  }
  return all;
}

void ConfigObject::reject(std::string_view key, std::string text, std::string why, std::string suggestion) const {
  problems_->add({.key = fmt::format("{}{}", prefix_, key),
                  .text = std::move(text),
                  .why = std::move(why),
                  .suggestion = std::move(suggestion)});
}

const nlohmann::ordered_json* ConfigObject::find(std::string_view key) const {
  const auto found = object_->find(std::string(key));
  if (found == object_->end() || found->is_null()) return nullptr;
  problems_->add_read(fmt::format("{}{}", prefix_, key));
  return &*found;
}

void ConfigObject::reject_type(std::string_view key, const nlohmann::ordered_json& value, std::string_view kind) const {
  const bool list = value.is_structured();
  reject(key, list ? fmt::format("is an {}", value.type_name()) : fmt::format("is {}", value.dump()),
         fmt::format("must be {}", kind));
}

}  // namespace foredraft::latency
