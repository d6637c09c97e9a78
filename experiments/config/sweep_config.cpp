// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/sweep_config.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/files.hpp"
#include "experiments/config/toml_source.hpp"
#include "experiments/text/digest.hpp"
#include "sim/drafter/drafter_registry.hpp"

namespace foredraft::experiments {

SweepConfig load_sweep_config(const std::string& path) {
  return read_sweep_config(parse_toml(read_file(path), path), path);
}

std::uint64_t point_count(const SweepConfig& config) {
  std::uint64_t count = 1;
  for (const Axis& axis : config.axes) count *= axis.values.size();
  return count;
}

const Axis* find_axis(const SweepConfig& config, std::string_view name) {
  const auto found = std::find_if(config.axes.begin(), config.axes.end(),
                                  [&](const Axis& axis) { return axis.parameter->name == name; });
  return found == config.axes.end() ? nullptr : &*found;
}

const Value* fixed_value(const SweepConfig& config, std::string_view name) {
  const auto found = std::find_if(config.fixed.begin(), config.fixed.end(),
                                  [&](const FixedInput& input) { return input.parameter->name == name; });
  return found == config.fixed.end() ? nullptr : &found->value;
}

bool has_input(const SweepConfig& config, std::string_view name) {
  return find_axis(config, name) != nullptr || fixed_value(config, name) != nullptr;
}

std::vector<Value> values_of(const SweepConfig& config, std::string_view name) {
  if (const Axis* axis = find_axis(config, name)) return axis->values;
  if (const Value* value = fixed_value(config, name)) return {*value};
  return {};
}

bool has_cost(const SweepConfig& config) {
  if (has_input(config, "max_batch")) return false;  // a server says what requests take
  const auto& models = cost_registry();
  return std::any_of(models.begin(), models.end(), [&](const CostEntry& model) {
    return std::all_of(model.parameters.begin(), model.parameters.end(),
                       [&](const CostParameter& parameter) {
                         return parameter.default_value || has_input(config, parameter.name);
                       }) &&
           std::all_of(model.texts.begin(), model.texts.end(),
                       [&](const CostText& text) { return has_input(config, text.name); });
  });
}

Usage usage_of(const SweepConfig& config) {
  Usage usage;
  for (const Parameter& parameter : parameters()) {
    const bool stated = has_input(config, parameter.name);
    if (!stated && parameter.type != ValueType::choice) continue;
    std::vector<std::string>& words = usage.words[parameter.name];
    if (parameter.type != ValueType::choice) continue;
    for (const Value& value : values_of(config, parameter.name)) words.push_back(std::get<std::string>(value));
    if (!stated) words.push_back(std::get<std::string>(parameter.default_value.value()));
  }
  return usage;
}

bool gamma_varies(const SweepConfig& config) {
  const auto takes = [&](std::string_view name, const auto& wanted) {
    const std::vector<Value> values = values_of(config, name);
    return std::any_of(values.begin(), values.end(),
                       [&](const Value& value) { return wanted(std::get<std::string>(value)); });
  };
  return has_input(config, "gamma_schedule") ||
         takes("policy", [](const std::string& word) { return word != "constant"; }) ||
         takes("drafter", [](const std::string& word) { return sim::find_drafter(word)->cost == Drafting::free; });
}

nlohmann::ordered_json to_json(const SweepConfig& config) {
  nlohmann::ordered_json json{{"schema", sweep_schema}};
  json["axes"] = nlohmann::ordered_json::object();
  for (const Axis& axis : config.axes) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const Value& value : axis.values) values.push_back(to_json(value));
    json["axes"][axis.parameter->name] = std::move(values);
  }
  json["fixed"] = nlohmann::ordered_json::object();
  for (const FixedInput& input : config.fixed) json["fixed"][input.parameter->name] = to_json(input.value);
  if (config.simulation) {
    const SimulationPlan& plan = *config.simulation;
    nlohmann::ordered_json& simulation = json["simulation"] = nlohmann::ordered_json::object();
    if (plan.iterations != 0) simulation["iterations"] = plan.iterations;
    if (plan.sequences != 0) simulation["sequences"] = plan.sequences;
    if (plan.requests != 0) {
      simulation["requests"] = plan.requests;
      simulation["replicas"] = plan.replicas;
      simulation["warmup_requests"] = plan.warmup_requests;
    }
    simulation["seed"] = plan.seed;
    simulation["path"] = plan.path == sim::Path::fast ? "fast" : "reference";
  }
  return json;
}

std::vector<std::string> axes_of(const Figure& figure) {
  std::vector<std::string> axes;
  for (const std::string& name : {figure.panel, figure.series, figure.along.empty() ? figure.x : figure.along}) {
    if (!name.empty()) axes.push_back(name);
  }
  return axes;
}

nlohmann::ordered_json figures_json(const SweepConfig& config) {
  nlohmann::ordered_json figures = nlohmann::ordered_json::array();
  for (const Figure& figure : config.figures) {
    nlohmann::ordered_json json{{"id", figure.id}, {"x", figure.x}, {"y", figure.y}};
    if (!figure.series.empty()) json["series"] = figure.series;
    if (!figure.panel.empty()) json["panel"] = figure.panel;
    if (!figure.along.empty()) json["along"] = figure.along;
    json["width"] = figure.width;
    figures.push_back(std::move(json));
  }
  return figures;
}

std::string config_hash(const SweepConfig& config) { return sha256(to_json(config).dump()); }

}  // namespace foredraft::experiments
