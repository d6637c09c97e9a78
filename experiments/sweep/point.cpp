// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/point.hpp"

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/csv.hpp"
#include "core/problems.hpp"
#include "core/streams.hpp"
#include "scenario/cost.hpp"
#include "scenario/resolve.hpp"

namespace foredraft::experiments {

Points::Points(const SweepConfig& config)
    : config_(&config), count_(point_count(config)), strides_(config.axes.size(), 0) {
  std::size_t families = 1;
  for (std::size_t i = 0; i < config.axes.size(); ++i) {
    const scenario::Axis& axis = config.axes[i];
    std::vector<std::string>& cells = axis_cells_.emplace_back();
    for (const scenario::Value& value : axis.values) cells.push_back(csv_cell(scenario::to_text(value)) + ",");
    if (axis.parameter->type != scenario::ValueType::choice) continue;
    strides_[i] = families;
    families *= axis.values.size();
  }
  scenario::Usage usage = usage_of(config);
  for (std::size_t number = 0; number < families; ++number) {
    for (std::size_t i = 0; i < config.axes.size(); ++i) {
      if (strides_[i] == 0) continue;
      const scenario::Axis& axis = config.axes[i];
      const scenario::Value& word = axis.values[number / strides_[i] % axis.values.size()];
      usage.words[axis.parameter->name] = {std::get<std::string>(word)};
    }
    families_.push_back(family_of(usage));
  }
}

Points::Family Points::family_of(const scenario::Usage& usage) const {
  Family family{.uses_axis = {}, .fixed = build(usage, config_->fixed), .fixed_cells = {}};
  for (const scenario::Axis& axis : config_->axes) family.uses_axis.push_back(axis.parameter->used(usage));
  for (const scenario::FixedInput& input : config_->fixed) {
    if (input.parameter->used(usage)) family.fixed_cells += csv_cell(scenario::to_text(input.value));
    family.fixed_cells += ',';
  }
  return family;
}

const Points::Family& Points::family(const std::vector<std::size_t>& place) const {
  std::size_t number = 0;
  for (std::size_t i = 0; i < place.size(); ++i) number += place[i] * strides_[i];
  return families_[number];
}

std::vector<std::size_t> Points::coordinates(std::uint64_t index) const {
  FOREDRAFT_EXPECT(index < count_);
  std::vector<std::size_t> result(config_->axes.size());
  for (std::size_t i = result.size(); i-- > 0;) {
    const std::size_t size = config_->axes[i].values.size();
    result[i] = static_cast<std::size_t>(index % size);
    index /= size;
  }
  return result;
}

Scenario Points::scenario(std::uint64_t index) const {
  const std::vector<std::size_t> place = coordinates(index);
  const Family& shared = family(place);
  Scenario scenario = shared.fixed;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const scenario::Axis& axis = config_->axes[i];
    if (strides_[i] == 0 && shared.uses_axis[i]) axis.parameter->assign(scenario, axis.values[place[i]]);
  }
  return scenario;
}

void Points::append_cells(std::uint64_t index, std::string& row) const {
  const std::vector<std::size_t> place = coordinates(index);
  const Family& shared = family(place);
  for (std::size_t i = 0; i < place.size(); ++i) row += shared.uses_axis[i] ? axis_cells_[i][place[i]] : ",";
  row += shared.fixed_cells;
}

std::vector<std::string> Points::columns() const {
  std::vector<std::string> names;
  for (const scenario::Axis& axis : config_->axes) names.push_back(axis.parameter->name);
  for (const scenario::FixedInput& input : config_->fixed) names.push_back(input.parameter->name);
  return names;
}

namespace {

/// Names the line whose value the error quotes or begins with; nothing where it does neither.
std::optional<std::string_view> key_of_cost(const SweepConfig& config, std::string_view what) {
  std::optional<std::string_view> key;
  for (const std::string_view name : {"cost.target", "cost.draft", "cost.profile", "cost.device", "cost.target_format",
                                      "cost.draft_format", "cost.kv_format"}) {
    for (const scenario::Value& value : values_of(config, name)) {
      const std::string text = scenario::to_text(value);
      if (what.find(fmt::format("\"{}\"", text)) != std::string_view::npos || what.starts_with(text + ": ")) key = name;
    }
  }
  return key;
}

[[noreturn]] void reject_at(const SweepConfig& config, std::string_view key, const std::string& what) {
  ProblemList problems(config.source);
  report_input(config, key, {.text = what}, problems);
  throw InputError(problems.text());
}

}  // namespace

void read_inputs(const SweepConfig& config, inputs::Inputs& inputs) {
  if (!has_input(config, "process.file") && !has_input(config, "models.corpus") && !has_input(config, "cost.target")) {
    return;
  }
  const Points points(config);
  std::uint64_t too_large = 0;
  for (std::uint64_t index = 0; index < points.count(); ++index) {
    Scenario scenario = points.scenario(index);
    try {
      inputs.attach(scenario);
      const bool timed = scenario::looked_up(scenario.cost) != nullptr && !has_server(config);
      if (timed && !scenario::decoding_cost(scenario)) ++too_large;
      if (const auto* server = std::get_if<Server>(&scenario.fidelity)) inputs::ask_extreme_passes(*server, scenario);
    } catch (const DomainError& error) {
      if (scenario::looked_up(scenario.cost) == nullptr) throw InputError(error.what());
      reject_at(config, key_of_cost(config, error.what()).value_or("cost"), error.what());
    } catch (const InputError& error) {
      // Problems of a file stand with its own lines; a name that is not known stands in the configuration.
      const std::string what = error.what();
      const auto key = key_of_cost(config, what);
      if (!key || what.find('\n') != std::string::npos) throw;
      reject_at(config, *key, what);
    }
  }
  if (too_large > 0) {
    say("{} of {} points do not fit into memory: they have no speedup (foredraft predict says the largest batch; "
        "cost.ignore_memory = 1 answers all the same)",
        too_large, points.count());
  }
}

}  // namespace foredraft::experiments
