// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/point.hpp"

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/csv.hpp"
#include "core/problems.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "experiments/sweep/answer.hpp"
#include "scenario/cost.hpp"
#include "scenario/processes.hpp"

namespace foredraft::experiments {

Points::Points(const scenario::Space& space) : space_(space), strides_(space.axes.size(), 0) {
  const auto cell_of = [](const scenario::Value& value) { return csv_cell(scenario::to_text(value)); };
  std::size_t families = 1;
  for (std::size_t i = 0; i < space.axes.size(); ++i) {
    const scenario::Axis& axis = space.axes[i];
    axis_cells_.push_back(texts_of(axis.values, cell_of));
    count_ *= axis.values.size();
    if (axis.parameter->type != scenario::ValueType::choice) continue;
    strides_[i] = families;
    families *= axis.values.size();
  }
  const std::vector<std::string> fixed_cells =
      texts_of(space.fixed, [&](const scenario::FixedInput& input) { return cell_of(input.value); });
  scenario::Usage usage = usage_of(space);
  for (std::size_t number = 0; number < families; ++number) {
    for (std::size_t i = 0; i < space.axes.size(); ++i) {
      if (strides_[i] == 0) continue;
      const scenario::Axis& axis = space.axes[i];
      const scenario::Value& word = axis.values[number / strides_[i] % axis.values.size()];
      usage.words[axis.parameter->name] = {std::get<std::string>(word)};
    }
    Family& family = families_.emplace_back();
    family.fixed = build(usage, space.fixed);
    for (const scenario::Axis& axis : space.axes) family.uses_axis.push_back(axis.parameter->used(usage));
    for (std::size_t i = 0; i < space.fixed.size(); ++i) {
      family.fixed_cells += (space.fixed[i].parameter->used(usage) ? fixed_cells[i] : "") + ",";
    }
  }
}

const Points::Family& Points::family(const std::vector<std::size_t>& place) const {
  std::size_t number = 0;
  for (std::size_t i = 0; i < place.size(); ++i) number += place[i] * strides_[i];
  return families_[number];
}

std::vector<std::size_t> Points::coordinates(std::uint64_t index) const {
  FOREDRAFT_EXPECT(index < count_);
  std::vector<std::size_t> result(space_.axes.size());
  for (std::size_t i = result.size(); i-- > 0;) {
    const std::size_t size = space_.axes[i].values.size();
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
    const scenario::Axis& axis = space_.axes[i];
    if (strides_[i] == 0 && shared.uses_axis[i]) axis.parameter->assign(scenario, axis.values[place[i]]);
  }
  return scenario;
}

void Points::append_cells(std::uint64_t index, std::string& row) const {
  const std::vector<std::size_t> place = coordinates(index);
  const Family& shared = family(place);
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (shared.uses_axis[i]) row += axis_cells_[i][place[i]];
    row += ',';
  }
  row += shared.fixed_cells;
}

Sweep sweep_of(const SweepConfig& config) {
  Sweep sweep{.points = Points(config),
              .simulation = config.simulation,
              .convention = {},
              .replays = false,
              .metrics = metrics_of(config),
              .header = "index",
              .figures = config.figures,
              .source = config.source};
  const std::string trace(scenario::name_of(AcceptanceProcess(Trace{})));
  sweep.replays = values_of(config, "process") == std::vector<scenario::Value>{trace};
  if (const auto* fixed = fixed_value(config, "convention")) sweep.convention = std::get<std::string>(*fixed);
  for (const scenario::Axis& axis : config.axes) sweep.header += "," + axis.parameter->name;
  for (const scenario::FixedInput& input : config.fixed) sweep.header += "," + input.parameter->name;
  for (const std::string& name : answer_columns(sweep.metrics, config.simulation.has_value()))
    sweep.header += "," + name;
  sweep.header += '\n';
  return sweep;
}

namespace {

/// The parameter whose value the error quotes or starts with; nullopt if there is none.
std::optional<std::string_view> key_of_cost(const scenario::Space& space, std::string_view what) {
  std::optional<std::string_view> key;
  for (const std::string_view name : {"cost.target", "cost.draft", "cost.profile", "cost.device", "cost.target_format",
                                      "cost.draft_format", "cost.kv_format"}) {
    for (const scenario::Value& value : values_of(space, name)) {
      const std::string text = scenario::to_text(value);
      if (what.find(fmt::format("\"{}\"", text)) != std::string_view::npos || what.starts_with(text + ": ")) key = name;
    }
  }
  return key;
}

}  // namespace

void read_inputs(const Sweep& sweep, inputs::Inputs& inputs) {
  const scenario::Space& space = sweep.points.space();
  if (!has_input(space, "process.file") && !has_input(space, "models.corpus") && !has_input(space, "cost.target")) {
    return;
  }
  std::uint64_t too_large = 0;
  for (std::uint64_t index = 0; index < sweep.points.count(); ++index) {
    Scenario scenario = sweep.points.scenario(index);
    std::optional<std::string_view> key;  // of the invalid value
    std::string what;
    try {
      inputs.attach(scenario);
      const auto* server = std::get_if<Server>(&scenario.fidelity);
      const bool timed = scenario::looked_up(scenario.cost) != nullptr && server == nullptr;
      if (timed && !scenario::decoding_cost(scenario)) ++too_large;
      if (server != nullptr) inputs::ask_extreme_passes(*server, scenario);
    } catch (const DomainError& error) {
      what = error.what();
      if (scenario::looked_up(scenario.cost) == nullptr) throw InputError(what);
      key = key_of_cost(space, what).value_or("cost");
    } catch (const InputError& error) {
      // Problems in a file have the file's lines; an unknown name is a problem of the configuration.
      what = error.what();
      key = key_of_cost(space, what);
      if (!key || what.find('\n') != std::string::npos) throw;
    }
    if (!key) continue;
    ProblemList problems(sweep.source);
    report_input(space, *key, {.text = what}, problems);
    throw InputError(problems.text());
  }
  if (too_large > 0) {
    say("{} of {} points do not fit into memory: they have no speedup (foredraft predict says the largest batch; "
        "cost.ignore_memory = 1 answers all the same)",
        too_large, sweep.points.count());
  }
}

}  // namespace foredraft::experiments
