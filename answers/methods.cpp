// SPDX-License-Identifier: Apache-2.0
#include "foredraft/methods.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analytic/tree/tree_search.hpp"
#include "answers/method_contexts.hpp"
#include "answers/method_rows.hpp"
#include "core/check.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/methods.hpp"
#include "scenario/parameters.hpp"
#include "scenario/policies.hpp"
#include "scenario/rules.hpp"
#include "scenario/value.hpp"

namespace foredraft {
namespace {

using answers::AskedMethod;
using scenario::Method;

/// Throws DomainError for an unknown name and for a method that is not compared.
const Method& compared_method(const std::string& name) {
  const Method* method = scenario::find_method(name);
  if (method == nullptr) {
    std::vector<std::string> known;
    for (const Method& one : scenario::methods()) {
      known.emplace_back(one.name);
      known.insert(known.end(), one.aliases.begin(), one.aliases.end());
    }
    throw DomainError(fmt::format("unknown method \"{}\" - {}", name, suggestion_for(name, known, "methods")));
  }
  if (!std::holds_alternative<std::monostate>(method->compared)) return *method;
  const std::string suggestion = scenario::method_suggestion(name);
  if (method->not_compared.empty()) throw DomainError(fmt::format("{} is not compared: {}", name, suggestion));
  throw DomainError(fmt::format("{} is not compared: {} - {}", name, method->not_compared, suggestion));
}

/// Stores a value into a member of a family. Throws DomainError for a parameter that the member lacks or that is not a
/// number, and for a value out of range.
template <class Entry, class Family>
void set_parameter(const std::vector<Entry>& registry, Family& member, const std::string& name, double value) {
  const Entry& entry = entry_of(registry, member);
  std::vector<std::string> known;
  for (const scenario::MemberParameter<Family>& parameter : entry.parameters) {
    if (parameter.type != scenario::ValueType::real && parameter.type != scenario::ValueType::integer) continue;
    known.emplace_back(parameter.name);
    if (parameter.name != name) continue;
    scenario::check_numbers(name, parameter.range, value);
    return parameter.set(member, value);
  }
  throw DomainError(fmt::format("{} has no parameter \"{}\" - {}", entry.name, name,
                                known.empty() ? "it has none" : suggestion_for(name, known)));
}

void set_parameter(scenario::ComparedMethod& compared, const std::string& name, double value) {
  if (auto* rule = std::get_if<Rule>(&compared)) return set_parameter(scenario::rules(), *rule, name, value);
  if (auto* policy = std::get_if<Policy>(&compared)) return set_parameter(scenario::policies(), *policy, name, value);
  if (auto* drafter = std::get_if<Drafter>(&compared)) {
    return set_parameter(scenario::drafters(), *drafter, name, value);
  }
  throw DomainError(fmt::format("invalid parameter \"{}\" (the method has none)", name));
}

/// Each method of the question with every combination of the values of its parameters.
std::vector<AskedMethod> asked_methods(const MethodsQuestion& question) {
  std::vector<AskedMethod> asked;
  std::set<const Method*> seen;
  for (const std::string& name : question.methods) {
    const Method& method = compared_method(name);
    if (!seen.insert(&method).second) continue;
    std::vector<AskedMethod> variants{{.method = &method, .compared = method.compared}};
    for (const MethodParameter& parameter : question.parameters) {
      if (&compared_method(parameter.method) != &method) continue;
      std::vector<AskedMethod> combined;
      for (const AskedMethod& variant : variants) {
        for (const double value : parameter.values) {
          set_parameter(combined.emplace_back(variant).compared, parameter.parameter, value);
          combined.back().parameters.emplace_back(parameter.parameter, value);
        }
      }
      variants = std::move(combined);
      check_range("combinations of parameters", std::ssize(variants), 1, 1024);
    }
    asked.insert(asked.end(), variants.begin(), variants.end());
  }
  for (const MethodParameter& parameter : question.parameters) {
    if (!seen.contains(&compared_method(parameter.method))) {
      throw DomainError(fmt::format("parameters of {} are given, but it is not among the methods", parameter.method));
    }
  }
  return asked;
}

void check_pairs(const MethodsQuestion& question) {
  std::set<std::string> names;
  for (const MethodsPair& pair : question.pairs) {
    if (pair.name.empty()) throw DomainError("a pair without a name - rows refer to pairs by their names");
    if (!names.insert(pair.name).second) throw DomainError(fmt::format("two pairs of the name \"{}\"", pair.name));
    const auto* text = std::get_if<NgramModels>(&pair.models);
    check_range("pool", text != nullptr ? pair.pool : std::get<SyntheticModels>(pair.models).pool, 2, 4096);
    if (text != nullptr && !text->trained) {
      throw DomainError(fmt::format("the models of pair \"{}\" are not trained - call read_inputs()", pair.name));
    }
  }
  const bool synthetic = std::ranges::none_of(
      question.pairs, [](const MethodsPair& pair) { return std::holds_alternative<NgramModels>(pair.models); });
  for (const std::string& name : question.methods) {
    const Method& method = compared_method(name);
    if (!synthetic || !needs_text(method)) continue;
    throw DomainError(fmt::format("{} is compared on n-gram models only: it copies or drafts text", name));
  }
}

void check_question(const MethodsQuestion& question) {
  if (question.temperatures.empty()) throw DomainError("no temperature given - give at least one");
  for (const double temperature : question.temperatures) {
    const std::string why = scenario::problem(*scenario::find_parameter("temperature"), temperature);
    if (!why.empty()) throw DomainError(fmt::format("invalid temperature={} ({})", temperature, why));
    if (temperature == 0.0 || temperature >= min_temperature) continue;
    throw DomainError(fmt::format("invalid temperature={} (must be 0 or at least {})", temperature, min_temperature));
  }
  if (question.gamma) check_range("gamma", *question.gamma, 1, max_methods_gamma);
  check_range("width", question.width, 1, 1024);
  check_range("servers", question.servers, 2, 1'000'000);
  if (question.pairs.empty()) check_range("pool", question.models.pool, 2, 4096);
  check_at_least("iterations", static_cast<std::int64_t>(question.iterations), 2);
  const TreePrice& price = question.price;
  check_range("positions", std::ssize(price.verification), 2, 4096);
  for (const double time : price.verification) check_positive("verification", time);
  check_probability("c", price.c);
  if (price.drafting != Drafting::autoregressive) {
    throw DomainError("invalid drafting (must be autoregressive: the methods share one drafter, token by token)");
  }
}

}  // namespace

std::vector<std::string> compared_methods() {
  std::vector<std::string> names;
  for (const Method& method : scenario::methods()) {
    const bool compared = !std::holds_alternative<std::monostate>(method.compared);
    if (compared && method.if_named.empty()) names.emplace_back(method.name);
  }
  return names;
}

bool method_needs_text(const std::string& method) { return needs_text(compared_method(method)); }

MethodsAnswer compare_methods(const MethodsQuestion& asked, unsigned threads, const std::atomic<bool>* stop) {
  MethodsAnswer answer{.question = asked, .acceptances = {}, .rows = {}};
  MethodsQuestion& question = answer.question;
  if (question.price.verification.empty()) question.price.verification = analytic::linear_verification(64, 0.01);
  check_question(question);
  check_pairs(question);
  if (question.methods.empty()) question.methods = compared_methods();
  const std::vector<AskedMethod> methods = asked_methods(question);
  std::vector<MethodsPair> pairs = question.pairs;
  if (pairs.empty()) pairs.push_back({.name = "", .models = question.models});
  for (const MethodsPair& stated : pairs) {
    const answers::PairContexts pair(stated, question.seed, stop);
    for (const double temperature : question.temperatures) {
      answers::MethodRows at = answers::method_rows(question, methods, pair, temperature, threads, stop);
      answer.acceptances.push_back(at.acceptance);
      std::ranges::move(at.rows, std::back_inserter(answer.rows));
    }
  }
  return answer;
}

}  // namespace foredraft
