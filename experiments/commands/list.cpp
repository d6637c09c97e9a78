#include <fmt/format.h>
#include <algorithm>

#include "experiments/cli/exit_codes.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/config/parameters.hpp"
#include "experiments/reproduce/experiment.hpp"
#include "experiments/results/metrics.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/token/model_pair.hpp"
#include "sim/token/rule_registry.hpp"

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
  for (const sim::RuleEntry& rule : sim::rule_registry()) {
    rows.push_back(
        {std::string(rule.name), fmt::format("{}; {}", rule.summary, rule.lossless ? "lossless" : "not lossless")});
    for (const sim::RuleParameter& parameter : rule.parameters) {
      rows.push_back({"  rule." + std::string(parameter.name),
                      fmt::format("{} (in [{}, {}], default {})", parameter.summary, parameter.minimum,
                                  parameter.maximum, parameter.default_value)});
    }
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
      {"drafters",
       [] {
         return Rows{{"autoregressive", "gamma draft passes an iteration: gamma * c"},
                     {"block", "one draft pass whatever gamma: c"}};
       }},
      {"rules", rules},
      {"policies",
       [] {
         return Rows{{"constant", "the same gamma in every iteration"}};
       }},
      {"processes", [] { return rows_of(sim::process_registry()); }},
      {"costs",
       [] {
         return Rows{{"constant_ratio", "a draft step costs c target steps, a verification one"}};
       }},
      {"models", [] { return rows_of(sim::model_registry()); }},
      {"experiments", experiments},
  };
  return all;
}

}  // namespace

CommandSpec list_spec() {
  return {.name = "list",
          .arguments = "drafters|rules|policies|processes|costs|models|experiments|parameters|metrics",
          .summary = "What can be named in a configuration or on the command line.",
          .options = {},
          .fewest_positional = 1,
          .most_positional = 1,
          .examples = {"foredraft list rules"}};
}

int run_list(const std::vector<std::string>& arguments) {
  CommandLine line(list_spec(), arguments);
  if (line.wants_help()) {
    fmt::print("{}", help_text(list_spec()));
    return exit_done;
  }
  line.done();
  const std::string& wanted = line.positional().front();
  // Tables of their own: docs/metrics.md holds them too.
  if (wanted == "parameters" || wanted == "metrics") {
    fmt::print("{}", wanted == "metrics" ? metrics_markdown() : parameters_markdown());
    return exit_done;
  }
  std::vector<std::string> names{"parameters", "metrics"};
  for (const Inventory& inventory : inventories()) {
    names.push_back(inventory.name);
    if (inventory.name != wanted) continue;
    for (const auto& row : inventory.rows()) fmt::print("{:<20} {}\n", row[0], row[1]);
    return exit_done;
  }
  throw InputError(fmt::format("foredraft list: {}: unknown inventory - {}", wanted, suggestion_for(wanted, names)));
}

}  // namespace foredraft::experiments
