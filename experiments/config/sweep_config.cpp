// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/sweep_config.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/files.hpp"
#include "experiments/config/axis_reader.hpp"
#include "experiments/config/plan_check.hpp"
#include "experiments/config/table_reader.hpp"
#include "experiments/text/digest.hpp"
#include "scenario/check.hpp"

namespace foredraft::experiments {

SweepConfig load_sweep_config(const std::string& path) {
  SweepConfig config = read_sweep_config(parse_toml(read_file(path), path), path);
  config.folder = std::filesystem::path(path).parent_path().lexically_normal().string();
  if (config.folder == ".") config.folder.clear();
  return config;
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

namespace {

/// What was probably meant by an unknown key.
std::string instead_of_key(const std::string& key, const std::string& table) {
  const scenario::Parameter* parent = scenario::find_parameter(key.substr(0, key.rfind('.')));
  if (table == "axes" && parent != nullptr &&
      (parent->type == scenario::ValueType::real || parent->type == scenario::ValueType::integer)) {
    return "a range is { from, to, step or factor }";
  }
  return suggestion_for(key, scenario::parameter_names());
}

const scenario::Parameter* known_parameter(const scenario::Entry& entry, const std::string& table,
                                           ProblemList& problems) {
  const scenario::Parameter* parameter = scenario::find_parameter(entry.key);
  if (parameter == nullptr) {
    problems.add({.line = entry.node.line,
                  .key = table + "." + entry.key,
                  .text = std::string(unknown_key),
                  .suggestion = instead_of_key(entry.key, table)});
  }
  return parameter;
}

/// Refuses a parameter that was read before: as an axis, or under the other spelling of a dotted key.
bool given_before(const SweepConfig& config, const scenario::Entry& entry, const std::string& table,
                  ProblemList& problems) {
  const bool axis = find_axis(config, entry.key) != nullptr;
  if (!axis && fixed_value(config, entry.key) == nullptr) return false;
  problems.add({.line = entry.node.line,
                .key = table + "." + entry.key,
                .text = "given twice",
                .why = axis && table == "fixed" ? "it is an axis too" : "a quoted and a dotted key name one parameter",
                .suggestion = "remove one"});
  return true;
}

const scenario::Mapping* table_of(const scenario::Node* node, const std::string& key, ProblemList& problems) {
  if (node == nullptr) return nullptr;
  const auto* table = std::get_if<scenario::Mapping>(&node->value);
  if (table == nullptr) {
    problems.add({.line = node->line,
                  .key = key,
                  .text = "wrong type",
                  .why = fmt::format("must be a table, is {}", scenario::kind_of(*node))});
  }
  return table;
}

/// The number of points, however absurd; the axes go into `config`.
double read_axes(const scenario::Mapping& table, SweepConfig& config, std::vector<const scenario::Parameter*>& refused,
                 ProblemList& problems) {
  double points = 1.0;
  for (const scenario::Entry& entry : flatten(table)) {
    const scenario::Parameter* parameter = known_parameter(entry, "axes", problems);
    if (parameter == nullptr || given_before(config, entry, "axes", problems)) continue;
    scenario::Axis axis{parameter, {}, entry.node.line};
    const auto count = read_axis(entry.node, "axes." + entry.key, axis, problems);
    if (!count) refused.push_back(parameter);
    points *= count.value_or(1.0);
    config.axes.push_back(std::move(axis));
  }
  return points;
}

void read_fixed(const scenario::Mapping& table, SweepConfig& config, std::vector<const scenario::Parameter*>& refused,
                ProblemList& problems) {
  for (const scenario::Entry& entry : flatten(table)) {
    const scenario::Parameter* parameter = known_parameter(entry, "fixed", problems);
    if (parameter == nullptr || given_before(config, entry, "fixed", problems)) continue;
    if (auto value = scenario::read_value(*parameter, entry.node, "fixed." + entry.key, problems)) {
      config.fixed.push_back({parameter, std::move(*value), entry.node.line});
    } else {
      refused.push_back(parameter);
    }
  }
}

/// Enough for a standard error that is good to an eighth.
constexpr std::uint64_t default_replicas = 32;
constexpr std::uint64_t default_seed = 1;

void read_simulation(const scenario::Node& node, const scenario::Mapping& table, SweepConfig& config,
                     ProblemList& problems) {
  TableReader reader(table, "simulation", problems);
  SimulationPlan plan{.iterations = 0, .sequences = 0, .seed = 0, .path = Path::fast};
  const auto count = [&](std::string_view key, std::int64_t minimum, std::int64_t maximum) -> std::uint64_t {
    const auto number = reader.take_integer(key);
    if (!number) return 0;
    if (*number < minimum || *number > maximum) {
      problems.add({.line = node.line,
                    .key = reader.full_key(key),
                    .text = fmt::format("invalid {}={}", key, *number),
                    .why = fmt::format("must lie in {} to {}", minimum, maximum)});
      return 0;
    }
    return static_cast<std::uint64_t>(*number);
  };
  constexpr std::int64_t max_units = 1'000'000'000'000'000;
  plan.iterations = count("iterations", 1, max_units);
  plan.sequences = count("sequences", 1, max_units);
  plan.requests = count("requests", 1, max_units);
  plan.replicas = count("replicas", 2, 4096);
  if (plan.replicas == 0 && plan.requests != 0) plan.replicas = default_replicas;
  const auto states = [&](std::string_view key) {
    return std::any_of(table.begin(), table.end(), [&](const scenario::Entry& entry) { return entry.key == key; });
  };
  plan.warmup_requests = count("warmup_requests", 0, max_units);
  if (!states("warmup_requests") && plan.requests != 0) {
    plan.warmup_requests = (plan.requests + 10 * plan.replicas - 1) / (10 * plan.replicas);
  }
  plan.seed = states("seed") ? count("seed", 0, std::numeric_limits<std::int64_t>::max()) : default_seed;
  if (const std::string* path = reader.take_text("path")) {
    static const std::vector<std::string> paths{"fast", "reference"};
    if (*path != paths[0] && *path != paths[1]) {
      problems.add({.line = node.line,
                    .key = "simulation.path",
                    .text = fmt::format("unknown path \"{}\"", *path),
                    .suggestion = suggestion_for(*path, paths)});
    }
    plan.path = *path == "reference" ? Path::reference : Path::fast;
  }
  static const std::vector<std::string> known{"iterations", "sequences", "requests",       "replicas",
                                              "seed",       "path",      "warmup_requests"};
  reader.refuse_unread(known);
  config.simulation = plan;
}

void read_figure(const scenario::Node& node, SweepConfig& config, ProblemList& problems) {
  const scenario::Mapping* table = table_of(&node, "figure", problems);
  if (table == nullptr) return;
  TableReader reader(*table, "figure", problems);
  const auto text = [&](std::string_view key, bool required) {
    const std::string* value = reader.take_text(key);
    if (value == nullptr && required &&
        std::none_of(table->begin(), table->end(), [&](const scenario::Entry& entry) { return entry.key == key; })) {
      problems.add({.line = node.line, .key = reader.full_key(key), .text = "missing"});
    }
    if (value != nullptr && value->empty() && required) {
      problems.add({.line = node.line, .key = reader.full_key(key), .text = "empty", .why = "must be a name"});
    }
    return value == nullptr ? std::string{} : *value;
  };
  Figure figure{text("id", true),     text("x", true),      text("y", true),     text("series", false),
                text("panel", false), text("width", false), text("along", false)};
  if (figure.width.empty()) figure.width = "single_column";
  static const std::vector<std::string> known{"id", "x", "y", "series", "panel", "width", "along"};
  reader.refuse_unread(known);
  check_figure(config, figure, node.line, problems);
  config.figures.push_back(std::move(figure));
}

}  // namespace

SweepConfig read_sweep_config(const scenario::Mapping& document, const std::string& source) {
  ProblemList problems(source);
  TableReader reader(document, "", problems);
  SweepConfig config;
  config.source = source;
  std::vector<const scenario::Parameter*> refused;  // given, with wrong values
  const std::string* schema = reader.take_text("schema");
  if (schema == nullptr || *schema != sweep_schema) {
    problems.add({.line = document.empty() ? 1 : document.front().node.line,
                  .key = "schema",
                  .text = schema == nullptr ? "missing" : fmt::format("unknown schema \"{}\"", *schema),
                  .why = "says how to read the file",
                  .suggestion = fmt::format("schema = \"{}\"", sweep_schema)});
  }
  const scenario::Node* axes = reader.take("axes");
  double points = 1.0;
  if (const scenario::Mapping* table = table_of(axes, "axes", problems))
    points = read_axes(*table, config, refused, problems);
  if (const scenario::Mapping* table = table_of(reader.take("fixed"), "fixed", problems))
    read_fixed(*table, config, refused, problems);
  const scenario::Node* simulation = reader.take("simulation");
  const scenario::Mapping* plan = table_of(simulation, "simulation", problems);
  const scenario::Node* figures = reader.take("figure");
  static const std::vector<std::string> known{"schema", "axes", "fixed", "simulation", "figure"};
  reader.refuse_unread(known);
  const bool misspelt_key = std::any_of(problems.problems().begin(), problems.problems().end(),
                                        [](const Problem& problem) { return problem.text == unknown_key; });
  const std::size_t before_plan = problems.problems().size();
  if (plan != nullptr) read_simulation(*simulation, *plan, config, problems);
  const bool sound_plan = problems.problems().size() == before_plan;
  // A misspelt key or word (a process, a rule) leaves open what the sweep uses: what follows from it would mislead.
  if (!misspelt_key && std::none_of(refused.begin(), refused.end(), [](const scenario::Parameter* parameter) {
        return parameter->type == scenario::ValueType::choice;
      })) {
    if (sound_plan) check_plan(config, plan, problems);
    resolve_and_check(config, refused, problems);
  }
  check_size(config, points, axes != nullptr ? axes->line : 0, problems);
  if (figures != nullptr) {
    if (const auto* list = std::get_if<scenario::Array>(&figures->value)) {
      for (const scenario::Node& figure : *list) read_figure(figure, config, problems);
    } else {
      problems.add({.line = figures->line, .key = "figure", .text = "wrong type", .suggestion = "write [[figure]]"});
    }
  }
  problems.raise();
  return config;
}

}  // namespace foredraft::experiments
