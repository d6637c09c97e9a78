// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/sweep_config.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/files.hpp"
#include "core/numbers.hpp"
#include "core/readable.hpp"
#include "inputs/table_reader.hpp"
#include "scenario/resolve.hpp"

namespace foredraft::experiments {
namespace {

using Json = nlohmann::ordered_json;
using scenario::Array;
using scenario::Axis;
using scenario::Entry;
using scenario::Mapping;
using scenario::Node;
using scenario::Parameter;
using scenario::Value;
using scenario::ValueType;

}  // namespace

SweepConfig load_sweep_config(const std::string& path) {
  SweepConfig config = read_sweep_config(inputs::parse_toml(read_file(path), path), path);
  config.folder = std::filesystem::path(path).parent_path().lexically_normal().string();
  if (config.folder == ".") config.folder.clear();
  return config;
}

std::uint64_t point_count(const SweepConfig& config) {
  std::uint64_t count = 1;
  for (const Axis& axis : config.axes) count *= axis.values.size();
  return count;
}

Json to_json(const SweepConfig& config) {
  Json json{{"schema", sweep_schema}};
  json["axes"] = Json::object();
  for (const Axis& axis : config.axes) {
    Json values = Json::array();
    for (const Value& value : axis.values) values.push_back(scenario::to_json(value));
    json["axes"][axis.parameter->name] = std::move(values);
  }
  json["fixed"] = Json::object();
  for (const scenario::FixedInput& input : config.fixed)
    json["fixed"][input.parameter->name] = scenario::to_json(input.value);
  if (config.simulation) {
    const SimulationPlan& plan = *config.simulation;
    Json& simulation = json["simulation"] = Json::object();
    if (plan.iterations != 0) simulation["iterations"] = plan.iterations;
    if (plan.sequences != 0) simulation["sequences"] = plan.sequences;
    if (plan.requests != 0) {
      for (const auto& [key, count] : {std::pair{"requests", plan.requests},
                                       {"replicas", plan.replicas},
                                       {"warmup_requests", plan.warmup_requests}}) {
        if (count != as_load_needs) simulation[key] = count;
      }
    }
    simulation["seed"] = plan.seed;
    simulation["path"] = plan.path == Path::fast ? "fast" : "reference";
  }
  return json;
}

Json figures_json(const SweepConfig& config) {
  Json figures = Json::array();
  for (const Figure& figure : config.figures) {
    Json json{{"id", figure.id}, {"x", figure.x}, {"y", figure.y}};
    if (!figure.series.empty()) json["series"] = figure.series;
    if (!figure.panel.empty()) json["panel"] = figure.panel;
    if (!figure.along.empty()) json["along"] = figure.along;
    json["width"] = figure.width;
    figures.push_back(std::move(json));
  }
  return figures;
}

std::string config_hash(const SweepConfig& config) {
  const std::string text = to_json(config).dump();
  return sha256(text);
}

namespace {

/// Tolerance of `to`, in steps. A step such as 0.1 is not exact, so `to` is missed by about 1e-16 of the number of
/// steps.
constexpr double round_off = 1e-9;

double step_of(const AxisRange& range) { return range.step.value_or(range.to >= range.from ? 1.0 : -1.0); }

/// Rounds to the decimal number that was meant.
double to_15_digits(double number) {
  return parse_real(fmt::format("{:.15g}", number)).value_or(number);  // 15 digits of the largest double overflow
}

}  // namespace

std::optional<RangeProblem> reject_range(const AxisRange& range) {
  if (!std::isfinite(range.from) || !std::isfinite(range.to)) return RangeProblem{"from and to must be finite", ""};
  if (range.step && range.factor) return RangeProblem{"step and factor are mutually exclusive", "remove one"};
  if (range.factor) {
    const double factor = *range.factor;
    if (!(factor > 0.0 && std::isfinite(factor) && factor != 1.0)) {
      return RangeProblem{fmt::format("factor {} never arrives", number_text(factor)), "use factor = 2"};
    }
    if (!(range.from > 0.0 && range.to > 0.0)) return RangeProblem{"a factor needs from and to above 0", "use step"};
    if (range.from != range.to && (factor > 1.0) != (range.to > range.from)) {
      return RangeProblem{fmt::format("factor {} leads away from {}", number_text(factor), number_text(range.to)),
                          "swap from and to, or invert the factor"};
    }
    return std::nullopt;
  }
  const double step = step_of(range);
  if (!std::isfinite(step)) return RangeProblem{"step must be finite", ""};
  if (step == 0.0) return RangeProblem{"step 0 never arrives", "use a positive step, or a list"};
  if (range.from != range.to && (step > 0.0) != (range.to > range.from)) {
    return RangeProblem{fmt::format("step {} leads away from {}", number_text(step), number_text(range.to)),
                        "swap from and to, or the sign of step"};
  }
  return std::nullopt;
}

double range_count(const AxisRange& range) {
  const double steps = range.factor ? std::log(range.to / range.from) / std::log(*range.factor)
                                    : (range.to - range.from) / step_of(range);
  return std::floor(steps + round_off) + 1.0;
}

std::vector<double> range_values(const AxisRange& range) {
  FOREDRAFT_EXPECT(!reject_range(range));
  const auto count = static_cast<std::size_t>(range_count(range));
  std::vector<double> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto steps = static_cast<double>(i);
    values.push_back(
        to_15_digits(range.factor ? range.from * std::pow(*range.factor, steps) : range.from + steps * step_of(range)));
  }
  return values;
}

namespace {

/// Longer ranges are rejected without listing their values.
constexpr double max_axis_values = 1e5;

/// Time of one core for a row with its closed form, used in the message about too many points.
constexpr double row_seconds = 1e-5;

constexpr std::uint64_t default_seed = 1;

bool is_number(const Parameter& parameter) {
  return parameter.type == ValueType::real || parameter.type == ValueType::integer;
}

bool states(const Mapping& table, std::string_view key) {
  return std::ranges::any_of(table, [&](const Entry& entry) { return entry.key == key; });
}

/// A suggestion for an unknown key.
std::string instead_of_key(const std::string& key, const std::string& table) {
  const Parameter* parent = scenario::find_parameter(key.substr(0, key.rfind('.')));
  if (table == "axes" && parent != nullptr && is_number(*parent)) return "a range is { from, to, step or factor }";
  return suggestion_for(key, scenario::parameter_names(), "parameters");
}

class ConfigReader {
 public:
  explicit ConfigReader(const std::string& source) : problems_(source) { config_.source = source; }

  SweepConfig read(const Mapping& document) {
    inputs::TableReader reader(document, "", problems_);
    const std::string* schema = reader.take_text("schema");
    if (schema == nullptr || *schema != sweep_schema) {
      reject(document.empty() ? 1 : document.front().node.line, "schema",
             schema == nullptr ? "missing" : fmt::format("unknown schema \"{}\"", *schema),
             "it identifies the format of the file", fmt::format("schema = \"{}\"", sweep_schema));
    }
    const Node* axes = reader.take("axes");
    double points = 1.0;
    if (const Mapping* table = table_of(axes, "axes")) points = read_axes(*table);
    if (const Mapping* table = table_of(reader.take("fixed"), "fixed")) read_fixed(*table);
    const Node* simulation = reader.take("simulation");
    const Mapping* plan = table_of(simulation, "simulation");
    const Node* figures = reader.take("figure");
    reader.reject_unread(std::vector<std::string>{"schema", "axes", "fixed", "simulation", "figure"});
    const auto& found = problems_.problems();
    const bool misspelled_key = std::ranges::find(found, inputs::unknown_key, &Problem::text) != found.end();
    const std::size_t before_plan = found.size();
    if (plan != nullptr) read_simulation(simulation->line, *plan);
    const bool sound_plan = found.size() == before_plan;
    // After a misspelled key or choice (a process, a rule) it is unknown what the sweep uses, so further problems would
    // mislead.
    if (!misspelled_key && std::ranges::find(rejected_, ValueType::choice, &Parameter::type) == rejected_.end()) {
      if (sound_plan) check_plan(config_, plan, problems_);
      resolve_and_check(config_, rejected_, problems_);
    }
    if (points > max_points) {
      reject(axes->line, "axes", fmt::format("{:.3g} points", points),
             fmt::format("at most {:g}; its rows alone would take about {} on one core", max_points,
                         duration_text(points * row_seconds)),
             "shorten an axis or coarsen its step");
    }
    if (figures != nullptr) {
      if (const auto* list = std::get_if<Array>(&figures->value)) {
        for (const Node& figure : *list) read_figure(figure);
      } else {
        reject(figures->line, "figure", "wrong type", "", "write [[figure]]");
      }
    }
    problems_.raise();
    return std::move(config_);
  }

 private:
  void reject(std::int64_t line, std::string key, std::string text, std::string why = {}, std::string suggestion = {}) {
    problems_.add({line, std::move(key), std::move(text), std::move(why), std::move(suggestion)});
  }

  const Mapping* table_of(const Node* node, const char* key) {
    if (node == nullptr) return nullptr;
    const auto* table = std::get_if<Mapping>(&node->value);
    if (table == nullptr) {
      reject(node->line, key, "wrong type", fmt::format("must be a table, is {}", scenario::kind_of(*node)));
    }
    return table;
  }

  /// The parameter of a key. Adds a problem and returns null for an unknown parameter and for one that was read before
  /// (as an axis, or with the other spelling of a dotted key).
  const Parameter* new_parameter(const Entry& entry, const std::string& table) {
    const std::string key = table + "." + entry.key;
    const Parameter* parameter = scenario::find_parameter(entry.key);
    if (parameter == nullptr) {
      reject(entry.node.line, key, std::string(inputs::unknown_key), "", instead_of_key(entry.key, table));
      return nullptr;
    }
    const bool axis = find_axis(config_, entry.key) != nullptr;
    if (!axis && fixed_value(config_, entry.key) == nullptr) return parameter;
    reject(entry.node.line, key, "given twice",
           axis && table == "fixed" ? "it is an axis too" : "a quoted and a dotted key name one parameter",
           "remove one");
    return nullptr;
  }

  /// Reads the axes into the configuration. Returns the number of points, which may exceed any integer.
  double read_axes(const Mapping& table) {
    double points = 1.0;
    for (const Entry& entry : inputs::flatten(table)) {
      const Parameter* parameter = new_parameter(entry, "axes");
      if (parameter == nullptr) continue;
      Axis axis{parameter, {}, entry.node.line};
      const auto count = read_axis(entry.node, "axes." + entry.key, axis);
      if (!count) rejected_.push_back(parameter);
      points *= count.value_or(1.0);
      config_.axes.push_back(std::move(axis));
    }
    return points;
  }

  void read_fixed(const Mapping& table) {
    for (const Entry& entry : inputs::flatten(table)) {
      const Parameter* parameter = new_parameter(entry, "fixed");
      if (parameter == nullptr) continue;
      if (auto value = read_value(*parameter, entry.node, "fixed." + entry.key, problems_)) {
        config_.fixed.push_back({parameter, std::move(*value), entry.node.line});
      } else {
        rejected_.push_back(parameter);
      }
    }
  }

  /// Reads a list or a range of numbers into `axis`, unless there are too many values. Returns the number of values;
  /// nullopt if invalid.
  std::optional<double> read_axis(const Node& node, const std::string& key, Axis& axis) {
    const auto* list = std::get_if<Array>(&node.value);
    const auto* table = std::get_if<Mapping>(&node.value);
    if (list == nullptr && table == nullptr) {
      reject(node.line, key, "wrong type",
             fmt::format("must be a list or {{ from, to, step or factor }}, is {}", scenario::kind_of(node)),
             "put a single value into [fixed]");
      return std::nullopt;
    }
    const auto count = list != nullptr ? read_list(node, *list, key, axis) : read_range(node, *table, key, axis);
    std::vector<Value> sorted = axis.values;
    std::ranges::sort(sorted);
    const auto repeated = std::ranges::adjacent_find(sorted);
    if (count && repeated != sorted.end()) {
      reject(node.line, key, fmt::format("repeats {}", scenario::to_text(*repeated)),
             "each value of an axis is one point");
    }
    return count;
  }

  std::optional<double> read_list(const Node& node, const Array& list, const std::string& key, Axis& axis) {
    if (list.empty()) {
      reject(node.line, key, "empty axis", "no value means no point", "give at least one value or remove the axis");
      return std::nullopt;
    }
    for (const Node& entry : list) {
      if (auto value = read_value(*axis.parameter, entry, key, problems_)) axis.values.push_back(std::move(*value));
    }
    return axis.values.size() == list.size() ? std::optional(static_cast<double>(list.size())) : std::nullopt;
  }

  std::optional<double> read_range(const Node& node, const Mapping& table, const std::string& key, Axis& axis) {
    if (!is_number(*axis.parameter)) {
      reject(node.line, key, "wrong type", "only numbers have ranges");
      return std::nullopt;
    }
    inputs::TableReader reader(table, key, problems_);
    const auto bound = [&](const Node* entry, std::string_view name) -> std::optional<double> {
      if (entry == nullptr) return std::nullopt;
      if (const auto* real = std::get_if<double>(&entry->value)) return *real;
      if (const auto* integer = std::get_if<std::int64_t>(&entry->value)) return static_cast<double>(*integer);
      reject(entry->line, reader.full_key(name), "wrong type",
             fmt::format("must be a number, is {}", scenario::kind_of(*entry)));
      return std::nullopt;
    };
    const auto from = bound(reader.require("from", "a range needs from and to"), "from");
    const auto to = bound(reader.require("to", "a range needs from and to"), "to");
    const AxisRange range{from.value_or(0), to.value_or(0), bound(reader.take("step"), "step"),
                          bound(reader.take("factor"), "factor")};
    reader.reject_unread(std::vector<std::string>{"from", "to", "step", "factor"});
    if (!from || !to) return std::nullopt;
    if (const auto rejected = reject_range(range)) {
      reject(node.line, key, "impossible range", rejected->why, rejected->suggestion);
      return std::nullopt;
    }
    const double count = range_count(range);
    if (count > max_axis_values) {
      reject(node.line, key, fmt::format("{:.0f} values", count),
             fmt::format("a range has at most {:.0f}", max_axis_values), "coarsen its step");
      return count;
    }
    return list_range(node, range, key, axis) ? std::optional(count) : std::nullopt;
  }

  bool list_range(const Node& node, const AxisRange& range, const std::string& key, Axis& axis) {
    const bool whole = axis.parameter->type == ValueType::integer;
    for (const double number : range_values(range)) {
      if (whole && number != std::trunc(number)) {
        reject(node.line, key, fmt::format("invalid {}={}", axis.parameter->name, number_text(number)),
               "must be a whole number", "use a whole step or factor, or a list");
        return false;
      }
      Node entry{node.line, number};
      if (whole && std::abs(number) < 0x1p63) entry.value = static_cast<std::int64_t>(number);
      auto value = read_value(*axis.parameter, entry, key, problems_);
      if (!value) return false;  // one message for a range is enough
      axis.values.push_back(std::move(*value));
    }
    return true;
  }

  void read_simulation(std::int64_t line, const Mapping& table) {
    inputs::TableReader reader(table, "simulation", problems_);
    const auto count = [&](std::string_view key, std::int64_t minimum, std::int64_t maximum) -> std::uint64_t {
      const auto number = reader.take_integer(key);
      if (!number) return 0;
      if (*number >= minimum && *number <= maximum) return static_cast<std::uint64_t>(*number);
      reject(line, reader.full_key(key), fmt::format("invalid {}={}", key, *number),
             fmt::format("must lie in {} to {}", minimum, maximum));
      return 0;
    };
    constexpr std::int64_t max_units = 1'000'000'000'000'000;
    SimulationPlan plan{.iterations = count("iterations", 1, max_units),
                        .sequences = count("sequences", 1, max_units),
                        .seed = default_seed,
                        .path = Path::fast,
                        .requests = count("requests", 1, max_units),
                        .replicas = count("replicas", 2, 4096),
                        .warmup_requests = count("warmup_requests", 0, max_units)};
    if (has_server(config_)) {
      for (const auto& [key, planned] : {std::pair{"requests", &plan.requests},
                                         {"replicas", &plan.replicas},
                                         {"warmup_requests", &plan.warmup_requests}}) {
        if (!states(table, key)) *planned = as_load_needs;
      }
    }
    if (states(table, "seed")) plan.seed = count("seed", 0, std::numeric_limits<std::int64_t>::max());
    if (const std::string* path = reader.take_text("path")) {
      const std::vector<std::string> paths{"fast", "reference"};
      if (std::ranges::find(paths, *path) == paths.end()) {
        reject(line, "simulation.path", fmt::format("unknown path \"{}\"", *path), "", suggestion_for(*path, paths));
      }
      plan.path = *path == "reference" ? Path::reference : Path::fast;
    }
    reader.reject_unread(
        std::vector<std::string>{"iterations", "sequences", "requests", "replicas", "seed", "path", "warmup_requests"});
    config_.simulation = plan;
  }

  void read_figure(const Node& node) {
    const Mapping* table = table_of(&node, "figure");
    if (table == nullptr) return;
    inputs::TableReader reader(*table, "figure", problems_);
    const auto text = [&](std::string_view key, bool required) {
      const std::string* value = reader.take_text(key);
      if (required && !states(*table, key)) reject(node.line, reader.full_key(key), "missing");
      if (value == nullptr) return std::string{};
      if (required && value->empty()) reject(node.line, reader.full_key(key), "empty", "must be a name");
      return *value;
    };
    Figure figure{text("id", true),     text("x", true),      text("y", true),      text("series", false),
                  text("panel", false), text("width", false), text("along", false), {}};
    if (figure.width.empty()) figure.width = "single_column";
    for (const std::string& name : {figure.panel, figure.series, figure.along.empty() ? figure.x : figure.along}) {
      if (!name.empty()) figure.axes.push_back(name);
    }
    reader.reject_unread(std::vector<std::string>{"id", "x", "y", "series", "panel", "width", "along"});
    check_figure(config_, figure, node.line, problems_);
    config_.figures.push_back(std::move(figure));
  }

  ProblemList problems_;
  SweepConfig config_;
  std::vector<const Parameter*> rejected_;  // given with invalid values
};

}  // namespace

SweepConfig read_sweep_config(const Mapping& document, const std::string& source) {
  return ConfigReader(source).read(document);
}

}  // namespace foredraft::experiments
