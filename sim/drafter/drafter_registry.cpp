// SPDX-License-Identifier: Apache-2.0
#include "sim/drafter/drafter_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "sim/drafter/drafter_definition.hpp"

namespace foredraft::sim {

// Every drafter twice, sorted by name: declared here, and listed in all_drafters() below.
namespace drafters {
DrafterDefinition autoregressive();
DrafterDefinition block();
DrafterDefinition heads();
DrafterDefinition input_copy();
DrafterDefinition mlp_speculator();
DrafterDefinition ngram_model();
DrafterDefinition prompt_lookup();
}  // namespace drafters

namespace {

const std::vector<DrafterDefinition>& all_drafters() {
  static const std::vector<DrafterDefinition> all{
      drafters::autoregressive(), drafters::block(),       drafters::heads(),         drafters::input_copy(),
      drafters::mlp_speculator(), drafters::ngram_model(), drafters::prompt_lookup(),
  };
  return all;
}

const DrafterDefinition& definition_of(std::string_view name) {
  for (const DrafterDefinition& definition : all_drafters()) {
    if (definition.entry.name == name) return definition;
  }
  throw DomainError(fmt::format("invalid drafter={} (must be a name of the registry)", name));
}

ResolvedSettings resolve_settings(const DrafterEntry& entry, const DrafterSettings& given) {
  for (const auto& [name, value] : given.parameters) {
    if (std::none_of(entry.parameters.begin(), entry.parameters.end(),
                     [&name = name](const DrafterParameter& parameter) { return parameter.name == name; })) {
      throw DomainError(fmt::format("invalid drafter.{}={} (must be a parameter of {})", name, value, entry.name));
    }
  }
  if (!given.accuracies.empty() && entry.name != "heads") {
    throw DomainError(fmt::format("invalid drafter.accuracies (must not be given for {})", entry.name));
  }
  ResolvedSettings resolved{{}, given.accuracies};
  for (const DrafterParameter& parameter : entry.parameters) {
    const auto found = given.parameters.find(std::string(parameter.name));
    if (found == given.parameters.end() && !parameter.default_value) {
      throw DomainError(fmt::format("invalid drafter.{} (must be given for {})", parameter.name, entry.name));
    }
    const double value = found == given.parameters.end() ? *parameter.default_value : found->second;
    if (!(value >= parameter.minimum && value <= parameter.maximum) ||
        (parameter.whole && value != std::floor(value))) {
      throw DomainError(fmt::format("invalid drafter.{}={} (must be {} in [{}, {}])", parameter.name, value,
                                    parameter.whole ? "whole and lie" : "a number that lies", parameter.minimum,
                                    parameter.maximum));
    }
    resolved.parameters.emplace(parameter.name, value);
  }
  return resolved;
}

}  // namespace

const std::vector<DrafterEntry>& drafter_registry() {
  static const std::vector<DrafterEntry> entries = [] {
    std::vector<DrafterEntry> result;
    for (const DrafterDefinition& definition : all_drafters()) result.push_back(definition.entry);
    return result;
  }();
  return entries;
}

const DrafterEntry* find_drafter(std::string_view name) {
  const auto& entries = drafter_registry();
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const DrafterEntry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

ProcessSimulation drafted_by(std::string_view drafter, const DrafterSettings& settings, ProcessSimulation simulation) {
  const DrafterDefinition& definition = definition_of(drafter);
  if (definition.apply == nullptr) {
    throw DomainError(
        fmt::format("invalid drafter={} (must be one of process fidelity: {} drafts real tokens)", drafter, drafter));
  }
  const ResolvedSettings resolved = resolve_settings(definition.entry, settings);
  if (definition.entry.cost == Drafting::free && !std::holds_alternative<ConstantGamma>(simulation.policy)) {
    throw DomainError(fmt::format("invalid policy for drafter {} (must be constant)", drafter));
  }
  simulation.drafting = definition.entry.cost;
  definition.apply(simulation, resolved);
  return simulation;
}

double first_acceptance(const ProcessSimulation& simulation, std::string_view drafter) {
  if (const auto* iid = std::get_if<Iid>(&simulation.process)) return iid->alpha;
  throw DomainError(
      fmt::format("invalid process for drafter {} (must be iid: the drafter says how acceptance goes on)", drafter));
}

void let_acceptance_decay(ProcessSimulation& simulation, double factor, std::string_view drafter) {
  if (factor == 1.0) return;
  const double first = first_acceptance(simulation, drafter);
  Positional falling;
  double acceptance = first;
  for (std::int64_t i = 0; i < simulation.gamma; ++i) {
    falling.conditional.push_back(acceptance);
    acceptance *= factor;
  }
  if (!falling.conditional.empty()) simulation.process = std::move(falling);
}

}  // namespace foredraft::sim
