// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/consistency.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "experiments/config/work_estimate.hpp"
#include "sim/token/rules/rule_registry.hpp"
#include "sim/token/rules/verification_rule.hpp"
#include "sim/token/token_simulation.hpp"

namespace foredraft::experiments {
namespace {

std::int64_t line_of(const SweepConfig& config, std::string_view name) {
  if (const Axis* axis = find_axis(config, name)) return axis->line;
  for (const FixedInput& input : config.fixed) {
    if (input.parameter->name == name) return input.line;
  }
  return 0;
}

std::string key_of(const SweepConfig& config, std::string_view name) {
  return fmt::format("{}.{}", find_axis(config, name) != nullptr ? "axes" : "fixed", name);
}

void report(const SweepConfig& config, std::string_view name, Problem problem, Problems& problems) {
  report_input(config, name, std::move(problem), problems);
}

std::string instead_of_cost(std::string_view name, const Usage& usage) {
  const auto named = [&](const auto& entry) { return entry.name == name; };
  for (const CostEntry& model : cost_registry()) {
    if (!std::any_of(model.parameters.begin(), model.parameters.end(), named) &&
        !std::any_of(model.texts.begin(), model.texts.end(), named)) {
      continue;
    }
    if (usage.takes("cost", model.name)) return "give sequence_length: it is paid once a sequence";
    return fmt::format("remove it, or set cost = \"{}\"", model.name);
  }
  return "remove it, or set cost = \"block\"";
}

/// What a parameter that no point uses was probably meant to be.
std::string instead_of(std::string_view name, const Usage& usage) {
  if (usage.takes("fidelity", "system")) {
    if (name == "gamma") return "remove it, or gamma_schedule";
    return "remove it: a server takes step times, arrivals and lengths";
  }
  if (name == "alpha" && usage.takes("fidelity", "token")) return "did you mean models.alpha?";
  if (name == "alpha") return "remove it, or use process = \"iid\"";
  if (name.starts_with("models.") || name.starts_with("rule") || name == "temperature" || name == "contexts") {
    return "remove it, or set fidelity = \"token\" and the models it needs";
  }
  if (name.starts_with("policy.")) return "remove it, or choose the policy it belongs to";
  if (name == "c") return "remove it, or use cost = \"constant_ratio\"";
  if (name.starts_with("cost.")) return instead_of_cost(name, usage);
  if (name.starts_with("drafter.")) return "remove it, or choose the drafter it belongs to";
  return "remove it";
}

void refuse_unused(const SweepConfig& config, const Usage& usage, Problems& problems) {
  const auto refuse = [&](const Parameter& parameter) {
    if (parameter.used(usage)) return;
    report(
        config, parameter.name,
        {.text = "not used", .why = "no point of this sweep reads it", .suggestion = instead_of(parameter.name, usage)},
        problems);
  };
  for (const Axis& axis : config.axes) refuse(*axis.parameter);
  for (const FixedInput& input : config.fixed) refuse(*input.parameter);
}

/// The default of models.parameter: what makes a next-token distribution neither flat nor certain.
double target_parameter_default(std::string_view law) {
  if (law == "zipf") return 1.0;
  if (law == "dirichlet") return 0.1;
  return 3.0;  // gaussian_logits
}

void fill_defaults(SweepConfig& config, const Usage& usage, const std::vector<const Parameter*>& refused,
                   Problems& problems) {
  std::vector<FixedInput> resolved;
  for (const Parameter& parameter : parameters()) {
    if (find_axis(config, parameter.name) != nullptr) continue;
    if (std::find(refused.begin(), refused.end(), &parameter) != refused.end()) continue;
    const auto stated = std::find_if(config.fixed.begin(), config.fixed.end(),
                                     [&](const FixedInput& input) { return input.parameter == &parameter; });
    if (stated != config.fixed.end()) {
      resolved.push_back(*stated);
    } else if (parameter.used(usage) && parameter.default_value) {
      if (parameter.implied) continue;
      resolved.push_back({&parameter, *parameter.default_value, 0});
    } else if (parameter.used(usage) && parameter.name == "models.parameter") {
      const auto& laws = usage.words.at("models.target");
      if (laws.size() == 1) {
        resolved.push_back({&parameter, target_parameter_default(laws.front()), 0});
      } else {
        problems.add(
            {.key = "fixed.models.parameter", .text = "missing", .why = "the target laws have no common default"});
      }
    } else if (parameter.required(usage)) {
      problems.add({.key = "fixed." + parameter.name,
                    .text = "missing",
                    .why = parameter.summary,
                    .suggestion = "add it to [fixed] or [axes]"});
    }
  }
  config.fixed = std::move(resolved);
}

void check_gamma(const SweepConfig& config, const Usage& usage, Problems& problems) {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest = 0;
  for (const Value& value : values_of(config, "gamma")) {
    smallest = std::min(smallest, std::get<std::int64_t>(value));
    largest = std::max(largest, std::get<std::int64_t>(value));
  }
  if (smallest == 0 && usage.takes("convention", "no_bonus")) {
    report(config, "gamma",
           {.text = "invalid gamma=0",
            .why = "must be at least 1 without a bonus token",
            .suggestion = "start at 1, or use convention = \"bonus\""},
           problems);
  }
  if (largest > sim::max_token_gamma && usage.takes("fidelity", "token")) {
    report(config, "gamma",
           {.text = fmt::format("invalid gamma={}", largest),
            .why = fmt::format("must be at most {} in fidelity token", sim::max_token_gamma),
            .suggestion = "shorten the drafts, or use fidelity = \"process\""},
           problems);
  }
  for (const std::string_view name : {"process.conditional", "process.marginal", "drafter.accuracies"}) {
    for (const Value& value : values_of(config, name)) {
      const auto entries = static_cast<std::int64_t>(std::get<std::vector<double>>(value).size());
      if (largest <= entries) continue;
      report(config, "gamma",
             {.text = fmt::format("invalid gamma={}", largest),
              .why = fmt::format("{} has {} entries", name, entries),
              .suggestion = fmt::format("keep gamma at or below {}, or give more entries", entries)},
             problems);
    }
  }
}

void check_temperature(const SweepConfig& config, Problems& problems) {
  for (const Value& value : values_of(config, "temperature")) {
    const double temperature = std::get<double>(value);
    if (temperature == 0.0 || temperature >= sim::min_temperature) continue;
    report(config, "temperature",
           {.text = fmt::format("invalid temperature={}", temperature),
            .why = fmt::format("must be 0 or at least {}", sim::min_temperature),
            .suggestion = "use 0 for the most probable token"},
           problems);
  }
}

void check_positional(const SweepConfig& config, const Usage& usage, const std::vector<const Parameter*>& refused,
                      Problems& problems) {
  const auto given = [&](std::string_view name) {
    return has_input(config, name) || std::find(refused.begin(), refused.end(), find_parameter(name)) != refused.end();
  };
  const bool conditional = given("process.conditional");
  const bool marginal = given("process.marginal");
  if (usage.takes("fidelity", "process") && usage.takes("process", "positional") && conditional == marginal) {
    problems.add({.key = "fixed.process.conditional",
                  .text = conditional ? "given beside process.marginal" : "missing",
                  .why = "process positional takes process.conditional or process.marginal",
                  .suggestion = conditional ? "remove one" : "add one of them to [fixed] or [axes]"});
  }
  for (const Value& value : values_of(config, "process.marginal")) {
    const auto& entries = std::get<std::vector<double>>(value);
    for (std::size_t i = 1; i < entries.size(); ++i) {
      if (entries[i] <= entries[i - 1]) continue;
      report(config, "process.marginal",
             {.text = fmt::format("rises from {} to {} at position {}", entries[i - 1], entries[i], i),
              .why = "a marginal is P(this draft and all before it accepted)",
              .suggestion = "did you mean process.conditional?"},
             problems);
      break;
    }
  }
}

void check_shapes(const SweepConfig& config, const Usage& usage, Problems& problems) {
  if (!usage.takes("fidelity", "process")) return;
  for (const std::string_view name : {"process.a", "process.b"}) {
    for (const Value& value : values_of(config, name)) {
      const double shape = std::get<double>(value);
      if (usage.takes("process", "markov") && shape > 1.0) {
        report(config, name,
               {.text = fmt::format("invalid {}={}", name, shape), .why = "must lie in [0, 1] for process markov"},
               problems);
      }
      if (usage.takes("process", "beta_mixture") && shape == 0.0) {
        report(config, name,
               {.text = fmt::format("invalid {}=0", name), .why = "must be above 0 for process beta_mixture"},
               problems);
      }
    }
  }
  const auto holds = [&](std::string_view name, double wanted) {
    const auto values = values_of(config, name);
    return std::any_of(values.begin(), values.end(),
                       [&](const Value& value) { return std::get<double>(value) == wanted; });
  };
  if (usage.takes("process", "markov") && holds("process.a", 1.0) && holds("process.b", 0.0)) {
    report(config, "process.a",
           {.text = "invalid process.a=1 with process.b=0",
            .why = "both states of the chain are closed: it has no mean",
            .suggestion = "keep a below 1 or b above 0"},
           problems);
  }
}

void check_sequence_length(const SweepConfig& config, const Usage& usage, Problems& problems) {
  if (!usage.states("sequence_length") || !usage.takes("end_of_sequence", "fixed")) return;
  for (const Value& value : values_of(config, "sequence_length")) {
    const double length = std::get<double>(value);
    if (length == std::floor(length)) continue;
    report(config, "sequence_length",
           {.text = fmt::format("invalid sequence_length={}", length),
            .why = "must be a whole number of tokens",
            .suggestion = "round it, or set end_of_sequence = \"geometric\""},
           problems);
  }
}

void check_simulation(const SweepConfig& config, const Usage& usage, Problems& problems) {
  const bool finite = usage.states("sequence_length");
  if (!config.simulation) {
    if (usage.takes("fidelity", "token")) {
      problems.add({.key = "simulation", .text = "missing", .why = "token fidelity has no closed form of its own"});
    }
    if (usage.takes("fidelity", "process") && usage.takes("process", "trace")) {
      problems.add({.key = "simulation", .text = "missing", .why = "a trace has no closed form"});
    }
    return;
  }
  if (finite && usage.takes("fidelity", "process") && usage.takes("fidelity", "token")) {
    report(config, "sequence_length",
           {.text = "not used by fidelity token",
            .why = "its points count iterations of one endless text",
            .suggestion = "sweep the two fidelities apart"},
           problems);
  }
  const SimulationPlan& plan = *config.simulation;
  const std::string_view wanted = finite ? "sequences" : "iterations";
  const std::uint64_t given = finite ? plan.sequences : plan.iterations;
  const std::uint64_t other = finite ? plan.iterations : plan.sequences;
  const auto& processes = usage.words.at("process");
  const bool replay = !finite && processes == std::vector<std::string>{"trace"} && !usage.takes("fidelity", "token");
  if (given == 0 && !replay) {
    problems.add({.key = fmt::format("simulation.{}", wanted),
                  .text = "missing",
                  .why = finite ? "with sequence_length whole sequences are counted" : "how many to run per point",
                  .suggestion = finite ? "add sequences = 100" : "add iterations = 1_000_000"});
  }
  if (plan.requests != 0 || plan.replicas != 0 || plan.warmup_requests != 0) {
    problems.add({.key = "simulation.requests",
                  .text = "not used",
                  .why = "requests are counted in fidelity system alone",
                  .suggestion = "remove it, with replicas and warmup_requests"});
  }
  if (other != 0) {
    problems.add({.key = fmt::format("simulation.{}", finite ? "iterations" : "sequences"),
                  .text = "not used",
                  .why = finite ? "sequence_length is given: sequences are counted" : "no sequence_length is given",
                  .suggestion = finite ? "use sequences" : "use iterations, or add sequence_length"});
  }
}

/// What a range cannot say of a rule's parameter: whole numbers, an order between two, a rank within the vocabulary.
/// Each value is tried beside the first of the others; the preparation of a point checks every combination.
void check_rule_parameters(const SweepConfig& config, const Usage& usage, Problems& problems) {
  if (!usage.takes("fidelity", "token")) return;
  const bool synthetic = usage.takes("models.kind", "synthetic");
  for (const sim::RuleEntry& rule : sim::rule_registry()) {
    if (!usage.takes("rule", rule.name)) continue;
    std::map<std::string, double> first;
    for (const sim::RuleParameter& parameter : rule.parameters) {
      const std::vector<Value> values = values_of(config, fmt::format("rule.{}", parameter.name));
      if (values.empty()) return;  // refused before
      first[std::string(parameter.name)] = std::get<double>(values.front());
    }
    for (const sim::RuleParameter& parameter : rule.parameters) {
      const std::string name = fmt::format("rule.{}", parameter.name);
      for (const Value& value : values_of(config, name)) {
        std::map<std::string, double> tried = first;
        tried[std::string(parameter.name)] = std::get<double>(value);
        try {
          const auto made = sim::make_rule(rule.name, tried);
          if (!synthetic) continue;
          for (const Value& size : values_of(config, "models.vocabulary")) {
            made->check_vocabulary(std::get<std::int64_t>(size));
          }
        } catch (const DomainError& error) {
          report(config, name, {.text = error.what(), .why = "", .suggestion = "foredraft list rules"}, problems);
          return;
        }
      }
    }
  }
}

}  // namespace

void report_input(const SweepConfig& config, std::string_view name, Problem problem, Problems& problems) {
  problem.line = line_of(config, name);
  problem.key = key_of(config, name);
  problems.add(std::move(problem));
}

void resolve_and_check(SweepConfig& config, const std::vector<const Parameter*>& refused, Problems& problems) {
  // A misspelt word (a process, a rule) leaves open what the sweep uses: what follows from it would mislead.
  if (std::any_of(refused.begin(), refused.end(),
                  [](const Parameter* parameter) { return parameter->type == ValueType::choice; })) {
    return;
  }
  const Usage usage = usage_of(config);
  refuse_unused(config, usage, problems);
  check_gamma(config, usage, problems);
  check_temperature(config, problems);
  check_positional(config, usage, refused, problems);
  check_shapes(config, usage, problems);
  check_sequence_length(config, usage, problems);
  check_drafting(config, usage, problems);
  if (usage.takes("fidelity", "system")) {
    check_serving(config, usage, problems);
  } else {
    check_simulation(config, usage, problems);
  }
  fill_defaults(config, usage, refused, problems);
  check_rule_parameters(config, usage, problems);
}

void check_size(const SweepConfig& config, double points, std::int64_t line, Problems& problems) {
  if (points <= most_points) return;
  problems.add({.line = line,
                .key = "axes",
                .text = fmt::format("{:.3g} points", points),
                .why = fmt::format("at most {:g}; this sweep would take about {} on one core", most_points,
                                   duration_text(points * seconds_per_point(config))),
                .suggestion = "shorten an axis or coarsen its step"});
}

}  // namespace foredraft::experiments
