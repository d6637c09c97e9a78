// SPDX-License-Identifier: Apache-2.0
#include "scenario/resolve.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <random>
#include <set>

#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"

namespace foredraft::scenario {
namespace {

/// Why a parameter is unused.
std::string why_unused(const Space& space, const Parameter& parameter, const Usage& usage) {
  if ((parameter.name == "process.a" || parameter.name == "process.b") && has_input(space, "process.mean")) {
    return fmt::format("{} is given instead", name_for_user(space, "process.mean"));
  }
  if (space.wording == Wording::file) return "no point of this sweep reads it";
  for (const MemberRange& of : parameter.members) {
    const auto words = usage.words.find(of.family);
    if (words != usage.words.end()) return fmt::format("{} {} has no such parameter", of.family, words->second.front());
  }
  return "acceptance is given by other parameters";
}

/// What to do about an unused parameter.
std::string instead_of(const Space& space, const Parameter& parameter, const Usage& usage) {
  const std::string_view name = parameter.name;
  if (space.wording != Wording::file) return "remove it";
  if (usage.takes("fidelity", "system")) {
    if (name == "gamma") return "remove it, or gamma_schedule";
    return "remove it: a server takes step times, arrivals and lengths";
  }
  if (name == "alpha" && usage.takes("fidelity", "token")) return "did you mean models.alpha?";
  if (name == "alpha") return "remove it, or use process = \"iid\"";
  if (name.starts_with("models.") || name.starts_with("rule") || name.ends_with("temperature") ||
      name.ends_with("top_k") || name.ends_with("top_p") || name == "contexts") {
    return "remove it, or set fidelity = \"token\" and the models it needs";
  }
  std::vector<std::string> members;
  for (const MemberRange& of : parameter.members) {
    if (usage.takes(of.family, of.member)) return "add sequence_length: the cost is per sequence";
    members.push_back(fmt::format("\"{}\"", of.member));
  }
  if (members.empty()) return "remove it";
  return fmt::format("remove it, or set {} = {}", parameter.members.front().family, fmt::join(members, " or "));
}

/// The default of models.parameter; gives a next-token distribution that is neither flat nor certain.
double target_parameter_default(std::string_view distribution) {
  if (distribution == "zipf") return 1.0;
  if (distribution == "dirichlet") return 0.1;
  return 3.0;  // gaussian_logits
}

/// Maximum combinations that are checked before a sweep starts. Every point is checked again when it runs.
constexpr std::uint64_t max_tried = 100'000;
constexpr std::uint64_t max_random = 10'000;

/// The values of an axis to check: all, or the minimum and maximum if they are numbers.
std::vector<Value> tried_values(const Axis& axis, bool all) {
  const bool numbers = axis.parameter->type == ValueType::real || axis.parameter->type == ValueType::integer;
  if (all || !numbers || axis.values.size() < 3) return axis.values;
  const auto [least, largest] = std::ranges::minmax_element(axis.values);
  return {*least, *largest};
}

/// Iterates over the scenarios to check: all of a space. If there are more than max_tried, only those at the ends of
/// the numeric axes; if these are still too many, max_random random ones of them.
class Trials {
 public:
  explicit Trials(const Space& space) : space_(space), usage_(usage_of(space)) {
    double points = 1.0;
    for (const Axis& axis : space.axes) points *= static_cast<double>(std::max<std::size_t>(axis.values.size(), 1));
    for (const bool words : {true, false}) {  // choices first: they vary slowest
      for (const Axis& axis : space.axes) {
        if (axis.values.empty() || (axis.parameter->type == ValueType::choice) != words) continue;
        axes_.push_back({axis.parameter, tried_values(axis, points <= max_tried), axis.line});
      }
    }
    place_.assign(axes_.size(), 0);
  }

  /// Calls visit(scenario) until it returns false.
  template <class Visit>
  void visit(const Visit& visit) {
    double count = 1.0;
    for (const Axis& axis : axes_) count *= static_cast<double>(axis.values.size());
    const bool at_random = count > static_cast<double>(max_tried);
    std::minstd_rand random;  // default seed: reproducible
    bool new_words = true;
    for (std::uint64_t left = at_random ? max_random : static_cast<std::uint64_t>(count); left > 0; --left) {
      if (at_random) {
        for (std::size_t i = 0; i < axes_.size(); ++i) place_[i] = random() % axes_[i].values.size();
        new_words = true;
      }
      if (new_words) choose_words();
      Scenario scenario = chosen_;
      for (const std::size_t i : used_) axes_[i].parameter->assign(scenario, axes_[i].values[place_[i]]);
      if (!visit(scenario)) return;
      new_words = advance();
    }
  }

  /// The number of a parameter in the current scenario; nullopt if it has none.
  [[nodiscard]] std::optional<double> number(std::string_view name) const {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i].parameter->name == name) return std::get<double>(axes_[i].values[place_[i]]);
    }
    const Value* fixed = fixed_value(space_, name);
    return fixed == nullptr ? std::nullopt : std::optional(std::get<double>(*fixed));
  }

 private:
  [[nodiscard]] bool is_choice(std::size_t i) const { return axes_[i].parameter->type == ValueType::choice; }

  /// Creates the alternatives of a combination of choices and stores the fixed inputs that they use.
  void choose_words() {
    for (std::size_t i = 0; i < axes_.size() && is_choice(i); ++i) {
      usage_.words[axes_[i].parameter->name] = {std::get<std::string>(axes_[i].values[place_[i]])};
    }
    chosen_ = build(usage_, space_.fixed);
    used_.clear();
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (!is_choice(i) && axes_[i].parameter->used(usage_)) used_.push_back(i);
    }
  }

  /// Advances to the next combination, last axis fastest; true if a choice changes.
  bool advance() {
    for (std::size_t i = axes_.size(); i-- > 0;) {
      if (++place_[i] < axes_[i].values.size()) return is_choice(i);
      place_[i] = 0;
    }
    return true;
  }

  const Space& space_;
  Usage usage_;
  std::vector<Axis> axes_;
  std::vector<std::size_t> place_;
  std::vector<std::size_t> used_;  ///< axes that store a value into chosen_
  Scenario chosen_;
};

/// Resolves a space: fills in defaults, rejects missing and unused parameters, checks the scenarios.
class Resolver {
 public:
  Resolver(Space& space, const std::vector<const Parameter*>& rejected, ProblemList& problems)
      : space_(space), usage_(usage_of(space)), problems_(problems) {
    for (const Parameter* parameter : rejected) unknown_.insert(parameter->name);
  }

  void run() {
    reject_unused();
    check_one_form();
    check_fidelities();
    fill_defaults();
    check_scenarios();
  }

 private:
  void reject(std::string_view name, std::string text, std::string why, std::string suggestion) {
    report_input(space_, name, {.text = std::move(text), .why = std::move(why), .suggestion = std::move(suggestion)},
                 problems_);
  }

  void reject_unused() {
    const auto check = [&](const Parameter& parameter) {
      if (parameter.used(usage_)) return;
      reject(parameter.name, "not used", why_unused(space_, parameter, usage_), instead_of(space_, parameter, usage_));
    };
    for (const Axis& axis : space_.axes) check(*axis.parameter);
    for (const FixedInput& input : space_.fixed) check(*input.parameter);
  }

  /// Rejects acceptance by position that is given both as conditional and as marginal.
  void check_one_form() {
    const auto given = [&](std::string_view name) { return has_input(space_, name) || unknown_.contains(name); };
    const bool both = given("process.conditional") && given("process.marginal");
    if (both && find_parameter("process.conditional")->used(usage_)) {
      reject("process.conditional", "mutually exclusive with " + name_for_user(space_, "process.marginal"),
             fmt::format("process positional takes {} or {}", name_for_user(space_, "process.conditional"),
                         name_for_user(space_, "process.marginal")),
             "remove one");
    }
    if (unknown_.contains("process.marginal") && !has_input(space_, "process.conditional")) {
      unknown_.insert("process.conditional");
    }
  }

  /// Rejects sweeps whose fidelities have different metrics.
  void check_fidelities() {
    if (usage_.takes("fidelity", "system") && usage_.words.at("fidelity").size() > 1) {
      reject("fidelity", "system together with another", "servers have other metrics", "use a separate sweep");
    }
    if (!usage_.takes("fidelity", "token")) return;
    if (usage_.states("sequence_length") && usage_.takes("fidelity", "process")) {
      reject("sequence_length", "not used by fidelity token", "its text is endless",
             "use a separate sweep for each fidelity");
    }
    for (const std::string& policy : usage_.words.at("policy")) {
      if (policy == name_of(Policy(ConstantGamma{}))) continue;
      reject("policy", fmt::format("{} does not work in fidelity token", policy),
             "policies are simulated in process fidelity", "use " + statement(space_, "policy", "constant"));
    }
  }

  void fill_defaults() {
    std::vector<FixedInput> resolved;
    for (const Parameter& parameter : parameters()) {
      if (find_axis(space_, parameter.name) != nullptr) continue;
      const auto given = std::ranges::find(space_.fixed, &parameter, &FixedInput::parameter);
      if (given != space_.fixed.end()) {
        resolved.push_back(*given);
        continue;
      }
      if (unknown_.contains(parameter.name) || !parameter.used(usage_)) continue;
      if (parameter.default_value) {
        if (!parameter.implied) resolved.push_back({&parameter, *parameter.default_value, 0});
      } else if (parameter.name == "models.parameter") {
        const auto& distributions = usage_.words.at("models.target");
        if (distributions.size() == 1) {
          resolved.push_back({&parameter, target_parameter_default(distributions.front()), 0});
        } else {
          miss(parameter.name, "the target distributions have no common default", "");
        }
      } else if (parameter.required) {
        miss(parameter.name, parameter.summary, space_.wording == Wording::file ? "add it to [fixed] or [axes]" : "");
      }
    }
    space_.fixed = std::move(resolved);
  }

  void miss(std::string_view name, std::string why, std::string suggestion) {
    reject(name, "missing", std::move(why), std::move(suggestion));
    unknown_.emplace(name);
  }

  /// If several values violate the same rule, reports it once, with the last of these values.
  void check_scenarios() {
    // Problems that follow from an unknown value would mislead.
    if (unknown_.contains("process.mean") || unknown_.contains("process.correlation")) {
      unknown_.insert({"process.a", "process.b"});
    }
    std::vector<FieldProblem> found;
    Trials trials(space_);
    trials.visit([&](const Scenario& scenario) {
      for (FieldProblem& problem : problems_of(scenario, space_)) {
        if (unknown_.contains(problem.field) || unknown_.contains(problem.with)) continue;
        state_as_moments(scenario, trials, problem);
        const bool is_word = find_parameter(problem.field)->type == ValueType::choice;
        const auto same = std::ranges::find_if(found, [&](const FieldProblem& one) {
          return one.field == problem.field && (is_word ? one.text == problem.text : one.why == problem.why);
        });
        (same == found.end() ? found.emplace_back() : *same) = std::move(problem);
      }
      return found.size() < max_problems;
    });
    for (FieldProblem& problem : found) {
      reject(problem.field, std::move(problem.text), std::move(problem.why), std::move(problem.suggestion));
    }
  }

  /// Restates a problem in terms of mean and correlation, if the parameters computed from them leave their ranges.
  void state_as_moments(const Scenario& scenario, const Trials& trials, FieldProblem& problem) const {
    const AcceptanceProcess* process = acceptance_of(scenario);
    if (process == nullptr || (problem.field != "process.a" && problem.field != "process.b")) return;
    const auto mean = trials.number("process.mean");
    const auto correlation = trials.number("process.correlation");
    if (!mean || !correlation) return;
    problem = {
        .field = "process.correlation",
        .text = fmt::format("no process {} has mean {} and correlation {}", name_of(*process), *mean, *correlation),
        .why = "its parameters would leave their ranges",
        .suggestion =
            "beta_mixture: both between 0 and 1; markov: correlation from -mean / (1 - mean) and "
            "1 - 1 / mean up to below 1"};
  }

  Space& space_;
  Usage usage_;
  ProblemList& problems_;
  std::set<std::string, std::less<>> unknown_;  ///< missing parameters, and parameters with rejected values
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

/// Converts a value to a node of a document.
Node node_of(const Value& value) {
  return std::visit([](const auto& held) { return node_of(held); }, value);
}

}  // namespace

void resolve_and_check(Space& space, const std::vector<const Parameter*>& rejected, ProblemList& problems) {
  Resolver(space, rejected, problems).run();
}

Scenario scenario_of(const std::vector<Input>& inputs, ProblemList& problems) {
  Space space;
  space.wording = Wording::name;
  std::vector<const Parameter*> rejected;
  bool unknown = false;  // unknown word or name; problems that follow from it would mislead
  for (const Input& input : inputs) {
    const Parameter* parameter = find_parameter(input.parameter);
    if (parameter == nullptr) {
      problems.add({.key = input.parameter,
                    .text = "unknown parameter",
                    .suggestion = suggestion_for(input.parameter, parameter_names(), "parameters")});
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
