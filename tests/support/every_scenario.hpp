// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foredraft/scenario.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "scenario/rules.hpp"

/// Scenarios with each member of the registries, so that tests that use them cover every new member.
namespace foredraft::tests {

/// A member of a family. `choose` puts it into a scenario, or does nothing if the fidelity has no such part.
struct Choice {
  std::string family;
  std::string word;
  std::function<void(Scenario&)> choose;
};

inline constexpr std::int64_t tried_gamma = 3;

/// With legal parameters in place of illegal defaults.
inline AcceptanceProcess with_legal_parameters(AcceptanceProcess process) {
  if (auto* iid = std::get_if<Iid>(&process)) iid->alpha = 0.7;
  if (auto* positional = std::get_if<Positional>(&process)) positional->conditional = {0.9, 0.8, 0.7};
  if (auto* trace = std::get_if<Trace>(&process)) {
    trace->recording = std::make_shared<const Recording>(Recording{.sequences = {{1, 1, 0, 1, -1, 0, 1}}});
  }
  return process;
}

inline Cost with_legal_parameters(Cost cost) {
  if (auto* ratio = std::get_if<ConstantRatio>(&cost)) ratio->c = 0.1;
  if (auto* times = std::get_if<MeasuredTimes>(&cost)) *times = {.step_ms = 1.0, .draft_ms = 0.1, .verify_ms = 1.2};
  return cost;
}

inline Drafter with_legal_parameters(Drafter drafter) {
  if (auto* cascade = std::get_if<HorizontalCascade>(&drafter)) cascade->costs = {1.0, 0.5, 0.1};
  if (auto* staged = std::get_if<StagedDrafter>(&drafter)) *staged = {1, 0.6, 0.1};
  return drafter;
}

inline std::vector<Choice> processes_to_try() {
  std::vector<Choice> choices;
  for (const auto& member : scenario::processes()) {
    choices.push_back(
        {"process", std::string(member.name), [value = with_legal_parameters(member.value)](Scenario& to) {
           if (auto* place = scenario::acceptance_of(to)) *place = value;
         }});
  }
  return choices;
}

/// Each drafter, also with acceptance that falls with the position.
inline std::vector<Choice> drafters_to_try() {
  std::vector<Choice> choices;
  const auto add = [&](std::string word, const Drafter& drafter) {
    choices.push_back({"drafter", std::move(word), [drafter](Scenario& to) { to.drafter = drafter; }});
  };
  for (const auto& member : scenario::drafters()) {
    add(std::string(member.name), with_legal_parameters(member.value));
    for (const auto& parameter : member.parameters) {
      if (parameter.name != "drafter.decay") continue;
      Drafter decaying = member.value;
      parameter.set(decaying, 0.9);
      add(std::string(member.name) + " with decay", decaying);
    }
  }
  return choices;
}

inline std::vector<Choice> policies_to_try() {
  std::vector<Choice> choices;
  for (const auto& member : scenario::policies()) {
    choices.push_back({"policy", std::string(member.name), [value = member.value](Scenario& to) {
                         if (auto* process = std::get_if<ProcessFidelity>(&to.fidelity)) process->policy = value;
                       }});
  }
  return choices;
}

inline std::vector<Choice> costs_to_try() {
  std::vector<Choice> choices;
  for (const auto& member : scenario::costs()) {
    choices.push_back({"cost", std::string(member.name),
                       [value = with_legal_parameters(member.value)](Scenario& to) { to.cost = value; }});
  }
  return choices;
}

inline std::vector<Choice> rules_to_try() {
  std::vector<Choice> choices;
  for (const auto& member : scenario::rules()) {
    choices.push_back({"rule", std::string(member.name), [value = member.value](Scenario& to) {
                         if (auto* token = std::get_if<TokenFidelity>(&to.fidelity)) token->rule = value;
                       }});
  }
  return choices;
}

inline std::vector<Choice> conventions_to_try() {
  std::vector<Choice> choices;
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    choices.push_back(
        {"convention", std::string(to_string(convention)), [convention](Scenario& to) { to.convention = convention; }});
  }
  return choices;
}

inline std::vector<Choice> batchings_to_try() {
  std::vector<Choice> choices;
  for (const auto& [word, batching] : {std::pair{"continuous", Batching::continuous},
                                       {"ragged", Batching::ragged},
                                       {"lockstep", Batching::lockstep}}) {
    choices.push_back({"batching", word, [batching](Scenario& to) {
                         if (auto* server = std::get_if<Server>(&to.fidelity)) server->batching = batching;
                       }});
  }
  return choices;
}

/// A valid scenario for each fidelity, and for each kind of models in token fidelity. Each runs in milliseconds.
inline std::vector<Scenario> scenarios_to_vary() {
  const GivenDistributions given{.target = {{0.5, 0.5}, {0.25, 0.75}}, .draft = {{0.25, 0.75}, {0.5, 0.5}}};
  std::vector<Scenario> all;
  for (const Fidelity& fidelity :
       std::vector<Fidelity>{ProcessFidelity{.acceptance = Iid{0.7}},
                             TokenFidelity{.models = SyntheticModels{.vocabulary = 16, .alpha = 0.7, .pool = 4}},
                             TokenFidelity{.models = NgramModels{.vocabulary = 12}},
                             TokenFidelity{.models = GivenModels{std::make_shared<const GivenDistributions>(given)}},
                             Server{.acceptance = Iid{0.7},
                             .max_batch = 2,
                             .arrivals = {.kind = ArrivalKind::closed, .clients = 3},
                             .output = {.tokens = 4.0},
                             .target_step = {.weights_us = 1000.0},
                             .drafter_step = {.weights_us = 100.0}}}) {
    all.push_back({.fidelity = fidelity, .gamma = tried_gamma, .cost = ConstantRatio{.c = 0.1}});
  }
  return all;
}

}  // namespace foredraft::tests
