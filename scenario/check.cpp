// SPDX-License-Identifier: Apache-2.0
#include "scenario/check.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>

#include "core/check.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/family.hpp"

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

void report(const Space& space, std::string_view name, Problem problem, ProblemList& problems) {
  report_input(space, name, std::move(problem), problems);
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

void refuse_unused(const Space& space, const Usage& usage, ProblemList& problems) {
  const auto refuse = [&](const Parameter& parameter) {
    if (parameter.used(usage)) return;
    report(space, parameter.name,
           {.text = "not used",
            .why = why_unused(space, parameter, usage),
            .suggestion = instead_of(space, parameter.name, usage)},
           problems);
  };
  for (const Axis& axis : space.axes) refuse(*axis.parameter);
  for (const FixedInput& input : space.fixed) refuse(*input.parameter);
}

/// The default of models.parameter: what makes a next-token distribution neither flat nor certain.
double target_parameter_default(std::string_view law) {
  if (law == "zipf") return 1.0;
  if (law == "dirichlet") return 0.1;
  return 3.0;  // gaussian_logits
}

void fill_defaults(Space& space, const Usage& usage, const std::vector<const Parameter*>& refused,
                   ProblemList& problems) {
  std::vector<FixedInput> resolved;
  for (const Parameter& parameter : parameters()) {
    if (find_axis(space, parameter.name) != nullptr) continue;
    if (std::find(refused.begin(), refused.end(), &parameter) != refused.end()) continue;
    const auto stated = std::find_if(space.fixed.begin(), space.fixed.end(),
                                     [&](const FixedInput& input) { return input.parameter == &parameter; });
    if (stated != space.fixed.end()) {
      resolved.push_back(*stated);
    } else if (parameter.used(usage) && parameter.default_value) {
      if (parameter.implied) continue;
      resolved.push_back({&parameter, *parameter.default_value, 0});
    } else if (parameter.used(usage) && parameter.name == "models.parameter") {
      const auto& laws = usage.words.at("models.target");
      if (laws.size() == 1) {
        resolved.push_back({&parameter, target_parameter_default(laws.front()), 0});
      } else {
        problems.add({.key = "fixed.models.parameter",
                      .text = "missing",
                      .why = "the target distributions have no common default"});
      }
    } else if (parameter.required(usage)) {
      problems.add({.key = key_of(space, parameter.name),
                    .text = "missing",
                    .why = parameter.summary,
                    .suggestion = space.wording == Wording::file ? "add it to [fixed] or [axes]" : ""});
    }
  }
  space.fixed = std::move(resolved);
}

void check_gamma(const Space& space, const Usage& usage, ProblemList& problems) {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest = 0;
  for (const Value& value : values_of(space, "gamma")) {
    smallest = std::min(smallest, std::get<std::int64_t>(value));
    largest = std::max(largest, std::get<std::int64_t>(value));
  }
  if (smallest == 0 && usage.takes("convention", "no_bonus")) {
    report(space, "gamma",
           {.text = "invalid gamma=0",
            .why = "must be at least 1 without a bonus token",
            .suggestion = "start at 1, or use " + statement(space, "convention", "bonus")},
           problems);
  }
  if (largest > max_token_gamma && usage.takes("fidelity", "token")) {
    report(space, "gamma",
           {.text = fmt::format("invalid gamma={}", largest),
            .why = fmt::format("must be at most {} in fidelity token", max_token_gamma),
            .suggestion = "shorten the drafts, or use fidelity = \"process\""},
           problems);
  }
  for (const std::string_view name : {"process.conditional", "process.marginal", "drafter.accuracies"}) {
    for (const Value& value : values_of(space, name)) {
      const auto entries = static_cast<std::int64_t>(std::get<std::vector<double>>(value).size());
      if (largest <= entries) continue;
      report(space, "gamma",
             {.text = fmt::format("invalid gamma={}", largest),
              .why = fmt::format("{} has {} entries", name_for_user(space, name), entries),
              .suggestion = fmt::format("keep gamma at or below {}, or give more entries", entries)},
             problems);
    }
  }
}

void check_temperature(const Space& space, ProblemList& problems) {
  for (const Value& value : values_of(space, "temperature")) {
    const double temperature = std::get<double>(value);
    if (is_temperature(temperature)) continue;
    report(space, "temperature",
           {.text = fmt::format("invalid temperature={}", temperature),
            .why = fmt::format("must be 0 or at least {}", min_temperature),
            .suggestion = "use 0 for the most probable token"},
           problems);
  }
}

void check_positional(const Space& space, const Usage& usage, const std::vector<const Parameter*>& refused,
                      ProblemList& problems) {
  const auto given = [&](std::string_view name) {
    return has_input(space, name) || std::find(refused.begin(), refused.end(), find_parameter(name)) != refused.end();
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
  for (const Value& value : values_of(space, "process.marginal")) {
    const auto& entries = std::get<std::vector<double>>(value);
    const std::optional<std::size_t> at = first_rise(entries);
    if (!at) continue;
    report(space, "process.marginal",
           {.text = fmt::format("rises from {} to {} at position {}", entries[*at - 1], entries[*at], *at + 1),
            .why = "a marginal is P(this draft and all before it accepted)",
            .suggestion = fmt::format("did you mean {}?", name_for_user(space, "process.conditional"))},
           problems);
  }
}

/// Members that share a parameter may differ in its range.
void check_ranges_of_members(const Space& space, const Usage& usage, ProblemList& problems) {
  for (const Parameter& parameter : parameters()) {
    for (const MemberRange& of : parameter.members) {
      if (of.range == parameter.range || !parameter.used(usage) || !usage.takes(of.family, of.member)) continue;
      for (const Value& value : values_of(space, parameter.name)) {
        const auto* number = std::get_if<double>(&value);
        if (number == nullptr || contains(of.range, *number)) continue;
        report(space, parameter.name,
               {.text = fmt::format("invalid {}={}", parameter.name, *number),
                .why = fmt::format("must {} for {} {}", range_reason(of.range), of.family, of.member)},
               problems);
      }
    }
  }
}

bool takes_process(const Usage& usage, const AcceptanceProcess& process) {
  return usage.takes("fidelity", "process") && usage.takes("process", name_of(process));
}

void check_chain(const Space& space, const Usage& usage, ProblemList& problems) {
  if (!takes_process(usage, Markov{}) && !usage.takes("process", name_of(Runs{}))) return;
  const auto holds = [&](std::string_view name, double wanted) {
    const auto values = values_of(space, name);
    return std::any_of(values.begin(), values.end(),
                       [&](const Value& value) { return std::get<double>(value) == wanted; });
  };
  if (holds("process.a", 1.0) && holds("process.b", 0.0)) {
    report(space, "process.a",
           {.text = "invalid process.a=1 with process.b=0",
            .why = "both states of the chain are closed: it has no mean",
            .suggestion = "keep a below 1 or b above 0"},
           problems);
  }
}

/// Not every mean goes with every correlation.
void check_moments(const Space& space, const Usage& usage, ProblemList& problems) {
  for (const Member<AcceptanceProcess>& member : processes()) {
    if (!usage.takes("process", member.name)) continue;
    for (const Value& mean : values_of(space, "process.mean")) {
      for (const Value& correlation : values_of(space, "process.correlation")) {
        const double m = std::get<double>(mean);
        const double r = std::get<double>(correlation);
        try {
          check_ranges(processes(), with_moments(member.value, m, r));
          if (r < 1.0) continue;
        } catch (const DomainError&) {  // told below
        }
        report(space, "process.correlation",
               {.text = fmt::format("no process {} has mean {} and correlation {}", member.name, m, r),
                .why = "its parameters would leave their ranges",
                .suggestion = "beta_mixture: both between 0 and 1; markov: correlation from -mean / (1 - mean) and "
                              "1 - 1 / mean up to below 1"},
               problems);
        return;
      }
    }
  }
}

void check_endless(const Space& space, const Usage& usage, const AcceptanceProcess& process, ProblemList& problems) {
  const std::string_view name = name_of(process);
  if (!usage.takes("process", name)) return;
  for (const Value& value : values_of(space, "gamma")) {
    if (std::get<std::int64_t>(value) <= max_runs_gamma) continue;
    report(space, "gamma",
           {.text = fmt::format("invalid gamma={}", std::get<std::int64_t>(value)),
            .why = fmt::format("must be at most {} for process {}", max_runs_gamma, name)},
           problems);
    break;
  }
  if (usage.takes("convention", "no_bonus")) {
    report(space, "convention",
           {.text = fmt::format("no_bonus with process {}", name),
            .why = "it knows iterations with a bonus token only",
            .suggestion = "use " + statement(space, "convention", "bonus")},
           problems);
  }
  if (usage.states("sequence_length")) {
    report(space, "sequence_length",
           {.text = fmt::format("not used by process {}", name),
            .why = "it is of an endless text",
            .suggestion = "remove it"},
           problems);
  }
}

void check_growth(const Space& space, ProblemList& problems) {
  if (!gamma_varies(space)) return;
  for (const Value& value : values_of(space, "cost.verify_growth")) {
    if (std::get<double>(value) == 0.0) continue;
    report(space, "cost.verify_growth",
           {.text = "not used with drafts of varying length",
            .why = "each of their verifications would have a cost of its own",
            .suggestion = "use a constant draft length"},
           problems);
  }
}

void check_sequence_length(const Space& space, const Usage& usage, ProblemList& problems) {
  if (!usage.states("sequence_length") || !usage.takes("end_of_sequence", "fixed")) return;
  for (const Value& value : values_of(space, "sequence_length")) {
    const double length = std::get<double>(value);
    if (is_whole(length)) continue;
    report(space, "sequence_length",
           {.text = fmt::format("invalid sequence_length={}", length),
            .why = "must be a whole number of tokens",
            .suggestion = "round it, or set end_of_sequence = \"geometric\""},
           problems);
  }
}

/// Whole numbers and open ends, which reading a value does not look at; one problem a parameter. False where there is
/// one.
bool check_rule_ranges(const Space& space, const RuleMember& member, ProblemList& problems) {
  bool sound = true;
  for (const MemberParameter<Rule>& parameter : member.parameters) {
    for (const Value& value : values_of(space, parameter.name)) {
      try {
        check_numbers(parameter.name, parameter.range, value);
      } catch (const DomainError& error) {
        report(space, parameter.name, {.text = error.what(), .why = "", .suggestion = "foredraft list rules"},
               problems);
        sound = false;
        break;
      }
    }
  }
  return sound;
}

/// What a range cannot say of a rule's parameter: an order between two, a rank within the vocabulary.
/// Each value is tried beside the first of the others; the preparation of a point checks every combination.
void check_rule_parameters(const Space& space, const Usage& usage, ProblemList& problems) {
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
    if (!check_rule_ranges(space, member, problems)) continue;
    for (const MemberParameter<Rule>& parameter : member.parameters) {
      for (const Value& value : values_of(space, parameter.name)) {
        Rule tried = first;
        parameter.set(tried, value);
        try {
          check_rule(tried);
          if (!synthetic) continue;
          for (const Value& size : values_of(space, "models.vocabulary")) {
            check_rule(tried, std::get<std::int64_t>(size));
          }
        } catch (const DomainError& error) {
          report(space, parameter.name, {.text = error.what(), .why = "", .suggestion = "foredraft list rules"},
                 problems);
          return;
        }
      }
    }
  }
}

/// What n-gram models do not take: they never write a distribution out.
void check_text_models(const Space& space, const Usage& usage, ProblemList& problems) {
  if (!usage.takes("fidelity", "token") || !usage.takes("models.kind", "ngram")) return;
  const std::vector<Value> temperatures = values_of(space, "temperature");
  for (const Value& value : temperatures) {
    const double temperature = std::get<double>(value);
    if (temperature == 0.0 || temperature == 1.0) continue;
    report(space, "temperature",
           {.text = fmt::format("invalid temperature={}", temperature),
            .why = "must be 0 or 1 for n-gram models",
            .suggestion = "use 0 or 1, or models.kind = \"synthetic\""},
           problems);
    return;
  }
  for (const RuleMember& member : rules()) {
    if (!usage.takes("rule", member.name)) continue;
    for (const Value& temperature : temperatures) {
      try {
        check_text_rule(member.value, std::get<double>(temperature));
      } catch (const DomainError& error) {
        report(space, "rule", {.text = error.what(), .why = "", .suggestion = "foredraft list rules"}, problems);
        break;
      }
    }
  }
}

}  // namespace

void report_input(const Space& space, std::string_view name, Problem problem, ProblemList& problems) {
  problem.line = line_of(space, name);
  problem.key = key_of(space, name);
  problems.add(std::move(problem));
}

void resolve_and_check(Space& space, const std::vector<const Parameter*>& refused, ProblemList& problems) {
  const Usage usage = usage_of(space);
  refuse_unused(space, usage, problems);
  check_gamma(space, usage, problems);
  check_temperature(space, problems);
  check_positional(space, usage, refused, problems);
  check_ranges_of_members(space, usage, problems);
  check_chain(space, usage, problems);
  check_moments(space, usage, problems);
  for (const Member<AcceptanceProcess>& process : processes()) {
    if (needs_endless_text(process.value)) check_endless(space, usage, process.value, problems);
  }
  check_growth(space, problems);
  check_sequence_length(space, usage, problems);
  check_drafting(space, usage, problems);
  if (usage.takes("fidelity", "system")) check_serving(space, usage, problems);
  fill_defaults(space, usage, refused, problems);
  check_rule_parameters(space, usage, problems);
  check_text_models(space, usage, problems);
}

}  // namespace foredraft::scenario
