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

bool ConfigObject::has(std::string_view key) const { return find(key) != nullptr; }

bool ConfigObject::is_text(std::string_view key) const { return has(key) && find(key)->is_string(); }

bool ConfigObject::is_object(std::string_view key) const { return has(key) && find(key)->is_object(); }

std::optional<std::int64_t> ConfigObject::whole(std::string_view key, std::int64_t maximum) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = whole_number<std::int64_t>(*value, 0, maximum);
  if (!number) refuse_type(key, *value, fmt::format("a whole number in [0, {}]", maximum));
  return number;
}

std::int64_t ConfigObject::whole_or(std::string_view key, std::int64_t fallback) const {
  return whole(key).value_or(fallback);
}

std::int64_t ConfigObject::required(std::string_view key) const {
  if (!has(key)) refuse(key, "missing");
  return whole_or(key, 1);
}

bool ConfigObject::flag(std::string_view key, bool fallback) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  refuse_type(key, *value, "true or false");
  return fallback;
}

std::optional<std::string> ConfigObject::text(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  refuse_type(key, *value, "a string");
  return std::nullopt;
}

std::optional<std::vector<std::string>> ConfigObject::texts(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::vector<std::string> all;
  bool sound = value->is_array();
  for (std::size_t i = 0; sound && i < value->size(); ++i) {
    sound = (*value)[i].is_string();
    if (sound) all.push_back((*value)[i].get<std::string>());
  }
  if (sound) return all;
  refuse_type(key, *value, "a list of strings");
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> ConfigObject::wholes(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::vector<std::int64_t> all;
  bool sound = value->is_array();
  for (std::size_t i = 0; sound && i < value->size(); ++i) {
    const auto number = whole_number<std::int64_t>((*value)[i], 0, largest_config_number);
    sound = number.has_value();
    if (sound) all.push_back(*number);
  }
  if (sound) return all;
  refuse_type(key, *value, "a list of whole numbers");
  return std::nullopt;
}

std::optional<ConfigObject> ConfigObject::object(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_object()) return ConfigObject(*value, fmt::format("{}{}.", prefix_, key), *problems_);
  refuse_type(key, *value, "an object");
  return std::nullopt;
}

std::vector<ConfigObject> ConfigObject::objects() const {
  std::vector<ConfigObject> all;
  for (const auto& [key, value] : object_->items()) {
    if (value.is_object()) all.emplace_back(value, fmt::format("{}{}.", prefix_, key), *problems_);
  }
  return all;
}

void ConfigObject::refuse(std::string_view key, std::string text, std::string why, std::string suggestion) const {
  problems_->add({.key = fmt::format("{}{}", prefix_, key),
                  .text = std::move(text),
                  .why = std::move(why),
                  .suggestion = std::move(suggestion)});
}

const nlohmann::ordered_json* ConfigObject::find(std::string_view key) const {
  const auto found = object_->find(std::string(key));
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void ConfigObject::refuse_type(std::string_view key, const nlohmann::ordered_json& value, std::string_view kind) const {
  const bool list = value.is_structured();
  refuse(key, list ? fmt::format("is an {}", value.type_name()) : fmt::format("is {}", value.dump()),
         fmt::format("must be {}", kind));
}

}  // namespace foredraft::latency
