// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace foredraft::tests {

/// Whether `value` follows `rule` of a schema in types, keys and allowed words.
inline void check_against(const nlohmann::ordered_json& schema, const nlohmann::ordered_json& rule,
                          const nlohmann::ordered_json& value, const std::string& path) {
  INFO(path);
  const nlohmann::ordered_json& here =
      rule.contains("$ref") ? schema.at("$defs").at(rule.at("$ref").get<std::string>().substr(8)) : rule;
  if (here.contains("anyOf")) {
    return check_against(schema, here.at("anyOf").at(value.is_null() ? 1 : 0), value, path);
  }
  if (here.contains("const")) {
    CHECK(here.at("const") == value);
    return;
  }
  if (here.contains("enum")) {
    CHECK(std::find(here.at("enum").begin(), here.at("enum").end(), value) != here.at("enum").end());
    return;
  }
  const std::string type = value.is_object()           ? "object"
                           : value.is_array()          ? "array"
                           : value.is_null()           ? "null"
                           : value.is_string()         ? "string"
                           : value.is_boolean()        ? "boolean"
                           : value.is_number_integer() ? "integer"
                                                       : "number";
  const nlohmann::ordered_json& types = here.at("type");
  const bool whole = type == "integer" && (types == "number" || types.dump().find("\"number\"") != std::string::npos);
  CHECK((whole || types == type || std::find(types.begin(), types.end(), type) != types.end()));
  if (value.is_array()) {
    for (const nlohmann::ordered_json& one : value) check_against(schema, here.at("items"), one, path + "[]");
  }
  if (!value.is_object()) return;
  for (const nlohmann::ordered_json& key : here.at("required")) CHECK(value.contains(key.get<std::string>()));
  for (const auto& entry : value.items()) {
    REQUIRE(here.at("properties").contains(entry.key()));
    check_against(schema, here.at("properties").at(entry.key()), entry.value(), path + "." + entry.key());
  }
}

}  // namespace foredraft::tests
