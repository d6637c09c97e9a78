// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/documents.hpp"
#include "core/problems.hpp"
#include "experiments/config/toml_source.hpp"

namespace foredraft::experiments {
namespace {

using Json = nlohmann::ordered_json;

scenario::Node convert(const Json& json) {
  scenario::Node node{0, false};
  if (json.is_boolean()) {
    node.value = json.get<bool>();
  } else if (const auto whole = whole_number<std::int64_t>(json)) {
    node.value = *whole;
  } else if (json.is_number()) {
    node.value = json.get<double>();
  } else if (json.is_string()) {
    node.value = json.get<std::string>();
  } else if (json.is_array()) {
    scenario::Array values;
    for (const Json& value : json) values.push_back(convert(value));
    node.value = std::move(values);
  } else if (json.is_object()) {
    scenario::Mapping table;
    for (const auto& [key, value] : json.items()) table.push_back({key, convert(value)});
    node.value = std::move(table);
  } else {
    node.value = scenario::Unsupported{"null"};
  }
  return node;
}

}  // namespace

scenario::Mapping parse_json_document(std::string_view text, const std::string& file) {
  ProblemList problems(file);
  const Json json = parse_json(text, problems);
  problems.raise();
  if (!json.is_object()) throw InputError(fmt::format("{}: syntax: not a JSON object", file));
  return std::get<scenario::Mapping>(convert(json).value);
}

}  // namespace foredraft::experiments
