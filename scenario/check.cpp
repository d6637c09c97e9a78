// SPDX-License-Identifier: Apache-2.0
#include "scenario/check.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>

#include "core/check.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "scenario/rules.hpp"

namespace foredraft::scenario {
namespace {

std::int64_t line_of(const Space& space, std::string_view name) {
  if (const Axis* axis = find_axis(space, name)) return axis->line;
  for (const FixedInput& input : space.fixed) {
    if (input.parameter->name == name) return input.line;
  }
  return 0;
}

std::string key_of(const Space& space, std::string_view name) {
  if (space.wording != Wording::file) return name_for_user(space, name);
  return fmt::format("{}.{}", find_axis(space, name) != nullptr ? "axes" : "fixed", name);
}

/// "lie in [0, 1]", "be above 0".
std::string range_reason(const Range& range) {
  if (range.maximum < unbounded) return "lie " + range_text(range);
  return fmt::format("be {} {}", range.excludes_minimum ? "above" : "at least", range.minimum);
}

std::string instead_of_cost(std::string_view name, const Usage& usage) {
  for (const MemberRange& of : find_parameter(name)->members) {
    if (usage.takes(of.family, of.member)) return "give sequence_length: it is paid once a sequence";
    return fmt::format("remove it, or set cost = \"{}\"", of.member);
  }
  return fmt::format("remove it, or set cost = \"{}\"", name_of(Cost(MeasuredTimes{})));
}

/// Why no scenario uses a parameter.
std::string why_unused(const Space& space, const Parameter& parameter, const Usage& usage) {
  if ((parameter.name == "process.a" || parameter.name == "process.b") && has_input(space, "process.mean")) {
    return fmt::format("{} is given in its place", name_for_user(space, "process.mean"));
  }
  if (space.wording == Wording::file) return "no point of this sweep reads it";
  for (const MemberRange& of : parameter.members) {
    const auto words = usage.words.find(of.family);
    if (words != usage.words.end()) return fmt::format("{} {} has no such parameter", of.family, words->second.front());
  }
  return "acceptance is stated otherwise";
}

/// What a parameter that no point uses was probably meant to be.
std::string instead_of(const Space& space, std::string_view name, const Usage& usage) {
  if (space.wording != Wording::file) return "remove it";
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

/// The default of models.parameter: what makes a next-token distribution neither flat nor certain.
double target_parameter_default(std::string_view distribution) {
  if (distribution == "zipf") return 1.0;
  if (distribution == "dirichlet") return 0.1;
  return 3.0;  // gaussian_logits
}

void fill_defaults(Space& space, const Usage& usage, const std::vector<const Parameter*>& rejected,
                   ProblemList& problems) {
  std::vector<FixedInput> resolved;
  for (const Parameter& parameter : parameters()) {
    if (find_axis(space, parameter.name) != nullptr) continue;
    if (std::find(rejected.begin(), rejected.end(), &parameter) != rejected.end()) continue;
    const auto stated = std::find_if(space.fixed.begin(), space.fixed.end(),
                                     [&](const FixedInput& input) { return input.parameter == &parameter; });
    if (stated != space.fixed.end()) {
      resolved.push_back(*stated);
    } else if (parameter.used(usage) && parameter.default_value) {
      if (parameter.implied) continue;
      resolved.push_back({&parameter, *parameter.default_value, 0});
    } else if (parameter.used(usage) && parameter.name == "models.parameter") {
      const auto& distributions = usage.words.at("models.target");
      if (distributions.size() == 1) {
        resolved.push_back({&parameter, target_parameter_default(distributions.front()), 0});
      } else {
        problems.add({.key = "fixed.models.parameter",
                      .text = "missing",
                      .why = "the target distributions have no common default"});
      }
    } else if (parameter.required && parameter.used(usage)) {
      problems.add({.key = key_of(space, parameter.name),
                    .text = "missing",
                    .why = parameter.summary,
                    .suggestion = space.wording == Wording::file ? "add it to [fixed] or [axes]" : ""});
    }
  }
  space.fixed = std::move(resolved);
}

struct ScenarioCheck : SpaceCheck {
  void before_defaults(const std::vector<const Parameter*>& rejected) const {
    reject_unused();
    check_gamma();
    check_temperature();
    check_positional(rejected);
    check_ranges_of_members();
    check_chain();
    check_moments();
    for (const Member<AcceptanceProcess>& process : processes()) {
      if (needs_endless_text(process.value)) check_endless(process.value);
    }
    check_growth();
    check_sequence_length();
    check_drafting(*this);
    if (usage.takes("fidelity", "system")) check_serving(*this);
  }

  void reject_unused() const {
    const auto reject_parameter = [&](const Parameter& parameter) {
      if (parameter.used(usage)) return;
      reject(parameter.name, "not used", why_unused(space, parameter, usage), instead_of(space, parameter.name, usage));
    };
    for (const Axis& axis : space.axes) reject_parameter(*axis.parameter);
    for (const FixedInput& input : space.fixed) reject_parameter(*input.parameter);
  }

  void check_gamma() const {
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    std::int64_t largest = 0;
    for (const std::int64_t gamma : values<std::int64_t>("gamma")) {
      smallest = std::min(smallest, gamma);
      largest = std::max(largest, gamma);
    }
    if (smallest == 0 && usage.takes("convention", "no_bonus")) {
      reject("gamma", "invalid gamma=0", "must be at least 1 without a bonus token",
             "start at 1, or use " + statement(space, "convention", "bonus"));
    }
    if (largest > max_token_gamma && usage.takes("fidelity", "token")) {
      reject("gamma", fmt::format("invalid gamma={}", largest),
             fmt::format("must be at most {} in fidelity token", max_token_gamma),
             "shorten the drafts, or use fidelity = \"process\"");
    }
    for (const std::string_view name : {"process.conditional", "process.marginal", "drafter.accuracies"}) {
      for (const auto& vector : values<std::vector<double>>(name)) {
        const std::int64_t entries = std::ssize(vector);
        if (largest <= entries) continue;
        reject("gamma", fmt::format("invalid gamma={}", largest),
               fmt::format("{} has {} entries", name_for_user(space, name), entries),
               fmt::format("keep gamma at or below {}, or give more entries", entries));
      }
    }
  }

  void check_temperature() const {
    for (const double temperature : values<double>("temperature")) {
      if (is_temperature(temperature)) continue;
      reject("temperature", fmt::format("invalid temperature={}", temperature),
             fmt::format("must be 0 or at least {}", min_temperature), "use 0 for the most probable token");
    }
  }

  void check_positional(const std::vector<const Parameter*>& rejected) const {
    const auto given = [&](std::string_view name) {
      return has_input(space, name) ||
             std::find(rejected.begin(), rejected.end(), find_parameter(name)) != rejected.end();
    };
    const bool conditional = given("process.conditional");
    const bool marginal = given("process.marginal");
    const bool stated = usage.takes("fidelity", "process") || usage.takes("fidelity", "system");
    if (stated && usage.takes("process", "positional") && conditional == marginal) {
      problems.add(
          {.key = key_of(space, "process.conditional"),
           .text = conditional ? "mutually exclusive with " + name_for_user(space, "process.marginal") : "missing",
           .why = fmt::format("process positional takes {} or {}", name_for_user(space, "process.conditional"),
                              name_for_user(space, "process.marginal")),
           .suggestion = conditional ? "remove one" : "add one of them to [fixed] or [axes]"});
    }
    for (const auto& entries : values<std::vector<double>>("process.marginal")) {
      const std::optional<std::size_t> at = first_rise(entries);
      if (!at) continue;
      reject("process.marginal",
             fmt::format("rises from {} to {} at position {}", entries[*at - 1], entries[*at], *at + 1),
             "a marginal is P(this draft and all before it accepted)",
             fmt::format("did you mean {}?", name_for_user(space, "process.conditional")));
    }
  }

  /// Members that share a parameter may differ in its range.
  void check_ranges_of_members() const {
    for (const Parameter& parameter : parameters()) {
      for (const MemberRange& of : parameter.members) {
        if (of.range == parameter.range || !parameter.used(usage) || !usage.takes(of.family, of.member)) continue;
        for (const Value& value : values_of(space, parameter.name)) {
          const auto* number = std::get_if<double>(&value);
          if (number == nullptr || contains(of.range, *number)) continue;
          reject(parameter.name, fmt::format("invalid {}={}", parameter.name, *number),
                 fmt::format("must {} for {} {}", range_reason(of.range), of.family, of.member));
        }
      }
    }
  }

  void check_chain() const {
    const bool markov = usage.takes("fidelity", "process") && usage.takes("process", name_of(Markov{}));
    if (!markov && !usage.takes("process", name_of(Runs{}))) return;
    const auto holds = [&](std::string_view name, double wanted) {
      return std::ranges::count(values<double>(name), wanted) > 0;
    };
    if (holds("process.a", 1.0) && holds("process.b", 0.0)) {
      reject("process.a", "invalid process.a=1 with process.b=0", "both states of the chain are closed: it has no mean",
             "keep a below 1 or b above 0");
    }
  }

  /// Not every mean goes with every correlation.
  void check_moments() const {
    for (const Member<AcceptanceProcess>& member : processes()) {
      if (!usage.takes("process", member.name)) continue;
      for (const double m : values<double>("process.mean")) {
        for (const double r : values<double>("process.correlation")) {
          try {
            check_ranges(processes(), with_moments(member.value, m, r));
            if (r < 1.0) continue;
          } catch (const DomainError&) {  // told below
          }
          reject("process.correlation", fmt::format("no process {} has mean {} and correlation {}", member.name, m, r),
                 "its parameters would leave their ranges",
                 "beta_mixture: both between 0 and 1; markov: correlation from -mean / (1 - mean) and "
                 "1 - 1 / mean up to below 1");
          return;
        }
      }
    }
  }

  void check_endless(const AcceptanceProcess& process) const {
    const std::string_view name = name_of(process);
    if (!usage.takes("process", name)) return;
    for (const std::int64_t gamma : values<std::int64_t>("gamma")) {
      if (gamma <= max_runs_gamma) continue;
      reject("gamma", fmt::format("invalid gamma={}", gamma),
             fmt::format("must be at most {} for process {}", max_runs_gamma, name));
      break;
    }
    if (usage.takes("convention", "no_bonus")) {
      reject("convention", fmt::format("no_bonus with process {}", name), "it knows iterations with a bonus token only",
             "use " + statement(space, "convention", "bonus"));
    }
    if (usage.states("sequence_length")) {
      reject("sequence_length", fmt::format("not used by process {}", name), "it is of an endless text", "remove it");
    }
  }

  void check_growth() const {
    if (!gamma_varies(space)) return;
    for (const double growth : values<double>("cost.verify_growth")) {
      if (growth == 0.0) continue;
      reject("cost.verify_growth", "not used with drafts of varying length",
             "each of their verifications would have a cost of its own", "use a constant draft length");
    }
  }

  void check_sequence_length() const {
    if (!usage.states("sequence_length") || !usage.takes("end_of_sequence", "fixed")) return;
    for (const double length : values<double>("sequence_length")) {
      if (is_whole(length)) continue;
      reject("sequence_length", fmt::format("invalid sequence_length={}", length), "must be a whole number of tokens",
             "round it, or set end_of_sequence = \"geometric\"");
    }
  }

  /// Whole numbers and open ends, which reading a value does not look at; one problem a parameter. False where there is
  /// one.
  bool check_rule_ranges(const RuleMember& member) const {
    bool sound = true;
    for (const MemberParameter<Rule>& parameter : member.parameters) {
      for (const Value& value : values_of(space, parameter.name)) {
        try {
          check_numbers(parameter.name, parameter.range, value);
        } catch (const DomainError& error) {
          reject(parameter.name, error.what(), "", "foredraft list rules");
          sound = false;
          break;
        }
      }
    }
    return sound;
  }

  /// What a range cannot say of a rule's parameter: an order between two, a rank within the vocabulary.
  /// Each value is tried beside the first of the others; the preparation of a point checks every combination.
  void check_rule_parameters() const {
    if (!usage.takes("fidelity", "token")) return;
    const bool synthetic = usage.takes("models.kind", "synthetic");
    for (const RuleMember& member : rules()) {
      if (!usage.takes("rule", member.name)) continue;
      Rule first = member.value;
      for (const MemberParameter<Rule>& parameter : member.parameters) {
        const std::vector<Value> values = values_of(space, parameter.name);
        if (values.empty()) return;  // refused before
        parameter.set(first, values.front());
      }
      if (!check_rule_ranges(member)) continue;
      for (const MemberParameter<Rule>& parameter : member.parameters) {
        for (const Value& value : values_of(space, parameter.name)) {
          Rule tried = first;
          parameter.set(tried, value);
          try {
            check_rule(tried);
            if (!synthetic) continue;
            for (const std::int64_t size : values<std::int64_t>("models.vocabulary")) check_rule(tried, size);
          } catch (const DomainError& error) {
            reject(parameter.name, error.what(), "", "foredraft list rules");
            return;
          }
        }
      }
    }
  }

  /// What n-gram models do not take: they never write a distribution out.
  void check_text_models() const {
    if (!usage.takes("fidelity", "token") || !usage.takes("models.kind", "ngram")) return;
    const std::vector<double> temperatures = values<double>("temperature");
    for (const double temperature : temperatures) {
      if (temperature == 0.0 || temperature == 1.0) continue;
      reject("temperature", fmt::format("invalid temperature={}", temperature), "must be 0 or 1 for n-gram models",
             "use 0 or 1, or models.kind = \"synthetic\"");
      return;
    }
    for (const RuleMember& member : rules()) {
      if (!usage.takes("rule", member.name)) continue;
      for (const double temperature : temperatures) {
        try {
          check_text_rule(member.value, temperature);
        } catch (const DomainError& error) {
          reject("rule", error.what(), "", "foredraft list rules");
          break;
        }
      }
    }
  }
};

Node node_of(double value) { return {0, value}; }
Node node_of(std::int64_t value) { return {0, value}; }
Node node_of(const std::string& value) { return {0, value}; }
template <class Entries>
Node node_of(const Entries& entries) {
  Array list;
  for (const auto& entry : entries) list.push_back(node_of(entry));
  return {0, std::move(list)};
}

/// As a document would say it.
Node node_of(const Value& value) {
  return std::visit([](const auto& held) { return node_of(held); }, value);
}

}  // namespace

void report_input(const Space& space, std::string_view name, Problem problem, ProblemList& problems) {
  problem.line = line_of(space, name);
  problem.key = key_of(space, name);
  problems.add(std::move(problem));
}

void SpaceCheck::reject(std::string_view name, std::string text, std::string why, std::string suggestion) const {
  report_input(space, name, {.text = std::move(text), .why = std::move(why), .suggestion = std::move(suggestion)},
               problems);
}

void resolve_and_check(Space& space, const std::vector<const Parameter*>& rejected, ProblemList& problems) {
  const Usage usage = usage_of(space);
  const ScenarioCheck check{{space, usage, problems}};
  check.before_defaults(rejected);
  fill_defaults(space, usage, rejected, problems);
  check.check_rule_parameters();
  check.check_text_models();
}

Scenario scenario_of(const std::vector<Input>& inputs, ProblemList& problems) {
  Space space;
  space.wording = Wording::name;
  std::vector<const Parameter*> rejected;
  bool unknown = false;  // a word or a name: what follows would mislead
  for (const Input& input : inputs) {
    const Parameter* parameter = find_parameter(input.parameter);
    if (parameter == nullptr) {
      problems.add({.key = input.parameter,
                    .text = "unknown parameter",
                    .suggestion = suggestion_for(input.parameter, parameter_names())});
      unknown = true;
    } else if (has_input(space, input.parameter)) {
      problems.add({.key = input.parameter, .text = "given twice", .suggestion = "remove one"});
    } else if (auto value = read_value(*parameter, node_of(input.value), input.parameter, problems)) {
      space.fixed.push_back({parameter, std::move(*value), 0});
    } else {
      rejected.push_back(parameter);
      unknown = unknown || parameter->type == ValueType::choice;
    }
  }
  if (!unknown) resolve_and_check(space, rejected, problems);
  return problems.empty() ? build(usage_of(space), space.fixed) : Scenario{};
}

}  // namespace foredraft::scenario
