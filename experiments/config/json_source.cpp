#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/config/toml_source.hpp"
#include "experiments/text/problems.hpp"

namespace foredraft::experiments {
namespace {

using Json = nlohmann::ordered_json;

Node convert(const Json& json) {
  Node node{0, false};
  if (json.is_boolean()) {
    node.value = json.get<bool>();
  } else if (json.is_number_integer()) {
    node.value = json.get<std::int64_t>();
  } else if (json.is_number_float()) {
    node.value = json.get<double>();
  } else if (json.is_string()) {
    node.value = json.get<std::string>();
  } else if (json.is_array()) {
    Array values;
    for (const Json& value : json) values.push_back(convert(value));
    node.value = std::move(values);
  } else if (json.is_object()) {
    Mapping table;
    for (const auto& [key, value] : json.items()) table.push_back({key, convert(value)});
    node.value = std::move(table);
  } else {
    node.value = Unsupported{"null"};
  }
  return node;
}

}  // namespace

Mapping parse_json_document(std::string_view text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw InputError(fmt::format("{}: syntax: not a JSON object", file));
  return std::get<Mapping>(convert(json).value);
}

}  // namespace foredraft::experiments
