// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/parameter_building.hpp"
#include "experiments/cost/cost_registry.hpp"

namespace foredraft::experiments::building {
namespace {

Used with_cost(const CostEntry& model, bool once_a_sequence) {
  return [name = std::string(model.name), once_a_sequence](const Usage& usage) {
    return not_serving(usage) && usage.takes("cost", name) &&
           (!once_a_sequence || (process(usage) && usage.states("sequence_length")));
  };
}

Parameter cost_parameter(const CostEntry& model, const CostParameter& entry) {
  const std::string name(entry.name);
  Parameter parameter =
      real(name, entry.minimum, entry.maximum, std::string(entry.summary), with_cost(model, entry.once_a_sequence),
           [name](PointInputs& to, const Value& value) { to.cost_values[name] = std::get<double>(value); });
  if (entry.whole) {
    parameter.type = ValueType::integer;
    parameter.assign = [name](PointInputs& to, const Value& value) {
      to.cost_values[name] = static_cast<double>(std::get<std::int64_t>(value));
    };
    return with_default(std::move(parameter), static_cast<std::int64_t>(entry.default_value.value()));
  }
  if (entry.default_value) return with_default(std::move(parameter), *entry.default_value);
  return entry.optional ? parameter : mandatory(std::move(parameter));
}

Parameter cost_text(const CostEntry& model, const CostText& entry) {
  const std::string name(entry.name);
  // Devices and models of passes, which a server asks for as well.
  return mandatory(typed(
      name, ValueType::text, std::string(entry.summary),
      [model = std::string(model.name)](const Usage& usage) { return usage.takes("cost", model); },
      [name](PointInputs& to, const Value& value) { to.cost_texts[name] = std::get<std::string>(value); }));
}

/// Stands in the rows and changes nothing.
void label(PointInputs& /*to*/, const Value& /*value*/) {}

}  // namespace

void add_cost_parameters(std::vector<Parameter>& table) {
  const CostEntry& first = cost_registry().front();
  for (const CostParameter& entry : first.parameters) table.push_back(cost_parameter(first, entry));
  table.push_back(real("operations_ratio", 0, unbounded,
                       "operations of one draft step over one target step (c-hat); without it no operations factor",
                       always, store<double>(&PointInputs::operations_ratio)));
  std::vector<std::string> names;
  for (const CostEntry& entry : cost_registry()) names.emplace_back(entry.name);
  table.push_back(implied(
      choice("cost", names,
             "what an iteration takes; of a server roofline or measured, in place of steps; foredraft list costs",
             always, store<std::string>(&PointInputs::cost))));
  for (const CostEntry& model : cost_registry()) {
    if (model.name == first.name) continue;
    for (const CostText& entry : model.texts) add_shared(table, cost_text(model, entry));
    for (const CostParameter& entry : model.parameters) add_shared(table, cost_parameter(model, entry));
  }
  table.push_back(with_default(typed("cost.baseline", ValueType::text,
                                     "block: how plain decoding was timed for cost.step_ms; a label, e.g. \"beam 5\"",
                                     with_cost(find_cost("block"), false), label),
                               std::string("greedy")));
}

}  // namespace foredraft::experiments::building
