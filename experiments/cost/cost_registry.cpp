#include "experiments/cost/cost_registry.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "experiments/cost/cost_definition.hpp"

namespace foredraft::experiments {

const std::vector<CostEntry>& cost_registry() {
  static const std::vector<CostEntry> models{costs::constant_ratio(), costs::block()};
  return models;
}

const CostEntry& find_cost(std::string_view name) {
  const auto& models = cost_registry();
  const auto found =
      std::find_if(models.begin(), models.end(), [&](const CostEntry& entry) { return entry.name == name; });
  if (found == models.end()) throw std::logic_error("unknown cost model " + std::string(name));
  return *found;
}

std::optional<DecodingCost> decoding_cost(std::string_view model, const CostValues& values) {
  const CostEntry& entry = find_cost(model);
  CostValues own;
  for (const CostParameter& parameter : entry.parameters) {
    const auto given = values.find(parameter.name);
    if (given == values.end() && !parameter.default_value) return std::nullopt;
    own.emplace(parameter.name, given == values.end() ? *parameter.default_value : given->second);
  }
  return entry.cost(own);
}

nlohmann::ordered_json cost_json(std::string_view model, const CostValues& values) {
  nlohmann::ordered_json json{{"model", model}};
  for (const CostParameter& parameter : find_cost(model).parameters) {
    std::string_view name = parameter.name;
    const auto given = values.find(name);
    if (given == values.end()) continue;
    if (name.starts_with("cost.")) name.remove_prefix(std::string_view("cost.").size());
    json[std::string(name)] = given->second;
  }
  return json;
}

}  // namespace foredraft::experiments
