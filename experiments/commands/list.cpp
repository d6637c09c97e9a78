// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>

#include "core/readable.hpp"
#include "core/streams.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/devices/operators_file.hpp"
#include "experiments/models/read_model.hpp"
#include "experiments/reproduce/registry.hpp"
#include "logs/log_format.hpp"
#include "scenario/family.hpp"
#include "scenario/metrics.hpp"
#include "scenario/parameters.hpp"
#include "sim/token/models/model_pair.hpp"

namespace foredraft::experiments {
namespace {

using Rows = std::vector<std::vector<std::string>>;

template <typename Registry>
Rows rows_of(const Registry& registry) {
  Rows rows;
  for (const auto& entry : registry) rows.push_back({std::string(entry.name), std::string(entry.summary)});
  return rows;
}

Rows rules() {
  Rows rows;
  for (const scenario::RuleMember& rule : scenario::rules()) {
    rows.push_back({std::string(rule.name), fmt::format("{}; {} [{}]", rule.summary,
                                                        rule.lossless ? "lossless" : "not lossless", rule.source)});
    for (const auto& parameter : rule.parameters) {
      rows.push_back({"  " + parameter.name,
                      fmt::format("{} ({}, default {})", parameter.summary, scenario::range_text(parameter.range),
                                  scenario::to_text(parameter.default_value.value()))});
    }
  }
  return rows;
}

Rows drafters() {
  Rows rows;
  for (const scenario::DrafterMember& drafter : scenario::drafters()) {
    const std::string_view where = drafter.process ? (drafter.token ? "process, token" : "process") : "token";
    rows.push_back({std::string(drafter.name), fmt::format("{} ({}) [{}]", drafter.summary, where, drafter.source)});
    for (const auto& parameter : drafter.parameters) {
      if (parameter.type == scenario::ValueType::reals) continue;  // the summary of the drafter names it
      rows.push_back(
          {"  " + parameter.name,
           fmt::format("{} (in [{}, {}], {})", parameter.summary, parameter.range.minimum, parameter.range.maximum,
                       parameter.default_value ? fmt::format("default {}", scenario::to_text(*parameter.default_value))
                                               : "to be given")});
    }
  }
  return rows;
}

Rows policies() {
  Rows rows;
  for (const scenario::PolicyMember& policy : scenario::policies()) {
    rows.push_back({std::string(policy.name), fmt::format("{} [{}]", policy.summary, policy.source)});
    for (const auto& parameter : policy.parameters) rows.push_back({"  " + parameter.name, parameter.summary});
  }
  return rows;
}

Rows costs() {
  Rows rows;
  for (const auto& cost : scenario::costs()) {
    rows.push_back({std::string(cost.name), fmt::format("{} [{}]", cost.summary, cost.source)});
    for (const auto& parameter : cost.parameters) rows.push_back({"  " + parameter.name, parameter.summary});
  }
  return rows;
}

Rows processes() {
  Rows rows;
  for (const auto& process : scenario::processes()) {
    rows.push_back({std::string(process.name), fmt::format("{} [{}]", process.summary, process.source)});
  }
  return rows;
}

Rows experiments() {
  Rows rows;
  for (const ExperimentEntry& entry : experiment_registry()) {
    rows.push_back({std::string(entry.id), std::string(entry.summary)});
  }
  return rows;
}

/// What can be listed, each with its rows.
struct Inventory {
  std::string name;
  Rows (*rows)();
};

const std::vector<Inventory>& inventories() {
  static const std::vector<Inventory> all{
      {"drafters", drafters},
      {"rules", rules},
      {"policies", policies},
      {"processes", processes},
      {"costs", costs},
      {"models", [] { return rows_of(sim::model_registry()); }},
      {"experiments", experiments},
      {"formats", [] { return rows_of(logs::formats()); }},
  };
  return all;
}

Table operators_table() {
  Table table;
  for (const char* title : {"profile", "device", "engine", "target", "draft"}) {
    table.columns.push_back({title, Table::Align::left});
  }
  table.rows = operators_rows();
  return table;
}

}  // namespace

CommandSpec list_spec() {
  return {.name = "list",
          .arguments = "drafters|rules|policies|processes|costs|models|devices|experiments|formats|parameters|metrics",
          .summary = "What can be named in a configuration or on the command line.",
          .options = {},
          .min_positional = 1,
          .max_positional = 1,
          .examples = {"foredraft list rules"}};
}

int run_list(const std::vector<std::string>& arguments) {
  CommandLine line(list_spec(), arguments);
  if (line.wants_help()) {
    print_result(help_text(list_spec()));
    return exit_done;
  }
  line.done();
  const std::string& wanted = line.positional().front();
  if (wanted == "devices") {
    print_result(
        to_text(device_table()) +
        "\nPeaks are dense, links one way. Case, separators and other usual names do not matter: docs/devices.md\n\n" +
        to_text(operators_table()) + "\nSteps under an engine, sums of operators measured in it: docs/step-times.md\n");
    return exit_done;
  }
  // Tables of their own: docs/metrics.md holds them too.
  if (wanted == "parameters" || wanted == "metrics") {
    print_result(wanted == "metrics" ? scenario::metrics_markdown() : scenario::parameters_markdown());
    return exit_done;
  }
  std::vector<std::string> names{"parameters", "metrics", "devices"};
  for (const Inventory& inventory : inventories()) {
    names.push_back(inventory.name);
    if (inventory.name != wanted) continue;
    const Rows rows = inventory.rows();
    std::size_t width = 22;
    for (const auto& row : rows) width = std::max(width, row[0].size());
    std::string text;
    for (const auto& row : rows) text += fmt::format("{:<{}} {}\n", row[0], width, row[1]);
    // Two kinds of models share the word: pairs that a simulation draws from, and shapes that are measured.
    if (wanted == "models") text += fmt::format("\nShapes of models to measure:\n\n{}", to_text(model_table()));
    print_result(text);
    return exit_done;
  }
  throw InputError(
      fmt::format("foredraft list: {}: unknown inventory - {}", readable(wanted), suggestion_for(wanted, names)));
}

}  // namespace foredraft::experiments
