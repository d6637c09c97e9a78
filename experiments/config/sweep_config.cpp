// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/sweep_config.hpp"

#include <nlohmann/json.hpp>

#include "core/files.hpp"
#include "experiments/config/toml_source.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {

SweepConfig load_sweep_config(const std::string& path) {
  return read_sweep_config(parse_toml(read_file(path), path), path);
}

std::uint64_t point_count(const SweepConfig& config) {
  std::uint64_t count = 1;
  for (const scenario::Axis& axis : config.axes) count *= axis.values.size();
  return count;
}

nlohmann::ordered_json to_json(const scenario::Value& value) {
  return std::visit([](const auto& held) { return nlohmann::ordered_json(held); }, value);
}

nlohmann::ordered_json to_json(const SweepConfig& config) {
  nlohmann::ordered_json json{{"schema", sweep_schema}};
  json["axes"] = nlohmann::ordered_json::object();
  for (const scenario::Axis& axis : config.axes) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const scenario::Value& value : axis.values) values.push_back(to_json(value));
    json["axes"][axis.parameter->name] = std::move(values);
  }
  json["fixed"] = nlohmann::ordered_json::object();
  for (const scenario::FixedInput& input : config.fixed) json["fixed"][input.parameter->name] = to_json(input.value);
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
    simulation["path"] = plan.path == Path::fast ? "fast" : "reference";
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
