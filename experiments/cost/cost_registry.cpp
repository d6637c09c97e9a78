// SPDX-License-Identifier: Apache-2.0
#include "experiments/cost/cost_registry.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "experiments/cost/cost_definition.hpp"

namespace foredraft::experiments {

const std::vector<CostEntry>& cost_registry() {
  static const std::vector<CostEntry> models{costs::constant_ratio(), costs::block(), costs::roofline(),
                                             costs::measured()};
  return models;
}

const CostEntry& find_cost(std::string_view name) {
  const auto& models = cost_registry();
  const auto found =
      std::find_if(models.begin(), models.end(), [&](const CostEntry& entry) { return entry.name == name; });
  if (found == models.end()) throw std::logic_error("unknown cost model " + std::string(name));
  return *found;
}

namespace {

/// The model's own numbers, defaults in place of missing ones; nothing where one without a default is missing.
std::optional<CostValues> own_values(const CostEntry& entry, const CostValues& values) {
  CostValues own;
  for (const CostParameter& parameter : entry.parameters) {
    const auto given = values.find(parameter.name);
    if (given == values.end() && !parameter.default_value) return std::nullopt;
    own.emplace(parameter.name, given == values.end() ? *parameter.default_value : given->second);
  }
  return own;
}

std::string without_prefix(std::string_view name) {
  if (name.starts_with("cost.")) name.remove_prefix(std::string_view("cost.").size());
  return std::string(name);
}

}  // namespace

std::optional<DecodingCost> decoding_cost(std::string_view model, const CostValues& values) {
  const CostEntry& entry = find_cost(model);
  if (entry.cost == nullptr) throw std::logic_error("the cost depends on the draft length: " + std::string(model));
  const std::optional<CostValues> own = own_values(entry, values);
  if (!own) return std::nullopt;
  return entry.cost(*own);
}

std::optional<DecodingCost> decoding_cost(std::string_view model, const CostValues& values,
                                          const CostSetting& setting) {
  const CostEntry& entry = find_cost(model);
  if (entry.cost_at == nullptr) return decoding_cost(model, values);
  for (const CostText& text : entry.texts) {
    if (!setting.texts.contains(text.name)) return std::nullopt;
  }
  return entry.cost_at(own_values(entry, values).value(), setting);
}

nlohmann::ordered_json cost_json(std::string_view model, const CostValues& values, const CostTexts& texts) {
  nlohmann::ordered_json json{{"model", model}};
  for (const CostText& text : find_cost(model).texts) {
    const auto given = texts.find(text.name);
    if (given != texts.end()) json[without_prefix(text.name)] = given->second;
  }
  for (const CostParameter& parameter : find_cost(model).parameters) {
    const auto given = values.find(parameter.name);
    if (given != values.end()) json[without_prefix(parameter.name)] = given->second;
  }
  return json;
}

}  // namespace foredraft::experiments
