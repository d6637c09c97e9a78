// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "foredraft/errors.hpp"
#include "scenario/family.hpp"
#include "scenario/rules.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/rules/verification_rule.hpp"

/// The cases of the contract tests: every registered rule with its defaults, and settings that take another branch.
namespace foredraft::tests {

using RuleParameter = scenario::MemberParameter<Rule>;

/// "lenience" of "rule.lenience".
inline std::string short_name(const RuleParameter& parameter) {
  return std::string(parameter.name.substr(parameter.name.find('.') + 1));
}

struct RuleCase {
  std::string name;
  std::map<std::string, double> parameters;
  bool lossless;

  bool operator==(const RuleCase&) const = default;

  [[nodiscard]] std::string label() const {
    std::string text = name;
    for (const auto& [key, value] : parameters) text += " " + key + "=" + std::to_string(value);
    return text;
  }
  [[nodiscard]] Rule rule() const { return scenario::make_rule(name, parameters); }
  [[nodiscard]] std::unique_ptr<const sim::VerificationRule> make() const { return sim::make_rule(rule()); }
};

inline std::vector<RuleCase> rule_cases() {
  std::vector<RuleCase> cases;
  for (const scenario::RuleMember& entry : scenario::rules()) {
    cases.push_back({.name = std::string(entry.name), .parameters = {}, .lossless = entry.lossless});
  }
  cases.push_back({"cascade_chow", {{"margin", 0.55}}, false});  // some contexts of three_contexts() are deferred
  cases.push_back({"k_seq", {{"candidates", 4.0}}, true});
  cases.push_back({"lenient", {{"lenience", 0.3}, {"residual", 0.0}}, false});
  cases.push_back({"multi_candidate", {{"replacement", 0.0}}, true});
  cases.push_back({"multi_candidate", {{"candidates", 3.0}}, true});
  cases.push_back({"multi_candidate", {{"candidates", 4.0}, {"replacement", 0.0}}, true});
  cases.push_back({"sigmoid_approximation", {{"scale_low", -3.0}, {"scale_high", 3.0}, {"bits", 16.0}}, false});
  cases.push_back({"sglang_thresholds", {{"threshold_single", 0.4}, {"threshold_acc", 0.6}}, false});
  cases.push_back({"top_n_delta", {{"relaxed_topk", 2.0}, {"relaxed_delta", 0.3}}, false});
  cases.push_back({"top_beta", {{"top_beta", 2.0}, {"tolerance", 1.0}, {"judged", 1.0}}, false});
  return cases;
}

/// Every registered rule with every legal combination of the limits of its parameters' ranges, values one unit in the
/// last place inside them, and the defaults.
inline std::vector<RuleCase> limit_cases() {
  const auto values_of = [](const RuleParameter& parameter) {
    const auto [minimum, maximum] = std::pair(parameter.range.minimum, parameter.range.maximum);
    return std::vector<double>{minimum, std::nextafter(minimum, INFINITY),
                               std::get<double>(parameter.default_value().value()), std::nextafter(maximum, -INFINITY),
                               maximum};
  };
  std::vector<RuleCase> cases;
  for (const scenario::RuleMember& entry : scenario::rules()) {
    std::vector<RuleCase> combinations{{.name = std::string(entry.name), .parameters = {}, .lossless = entry.lossless}};
    for (const RuleParameter& parameter : entry.parameters) {
      if (parameter.type == scenario::ValueType::reals) continue;
      std::vector<RuleCase> longer;
      for (const RuleCase& shorter : combinations) {
        for (const double value : values_of(parameter)) {
          longer.push_back(shorter);
          longer.back().parameters.emplace(short_name(parameter), value);
        }
      }
      combinations = std::move(longer);
    }
    for (RuleCase& combination : combinations) {
      try {
        static_cast<void>(combination.make());
      } catch (const DomainError&) {  // excluded, not whole, or not in order with another parameter
        continue;
      }
      if (std::find(cases.begin(), cases.end(), combination) == cases.end()) cases.push_back(std::move(combination));
    }
  }
  return cases;
}

/// The result of recursive rejection at one position, by enumeration of all sequences of candidates.
struct CandidateDistributions {
  std::vector<double> accepted;  ///< P(a candidate is accepted, and it is x)
  std::vector<double> emitted;   ///< P(x is emitted)
};

inline void enumerate_candidates(const sim::RecursiveRejection& state, double probability, std::int64_t left,
                                 CandidateDistributions& distributions) {
  const auto add = [](std::vector<double>& distribution, std::size_t x, double mass) { distribution[x] += mass; };
  if (left == 0) {
    for (std::size_t x = 0; x < distributions.emitted.size(); ++x)
      add(distributions.emitted, x, probability * state.residual()[x]);
    return;
  }
  for (std::size_t x = 0; x < distributions.emitted.size(); ++x) {
    const double drawn = probability * state.draft()[x];
    if (!(drawn > 0.0)) continue;
    const double acceptance = state.acceptance(static_cast<sim::Token>(x));
    add(distributions.accepted, x, drawn * acceptance);
    add(distributions.emitted, x, drawn * acceptance);
    if (!(acceptance < 1.0)) continue;
    sim::RecursiveRejection next = state;
    next.reject(static_cast<sim::Token>(x));
    enumerate_candidates(next, drawn * (1.0 - acceptance), left - 1, distributions);
  }
}

inline CandidateDistributions candidate_distributions(const sim::PositionDistributions& distributions,
                                                      const sim::CandidateScheme& scheme) {
  CandidateDistributions result{std::vector<double>(distributions.target.size(), 0.0),
                                std::vector<double>(distributions.target.size(), 0.0)};
  enumerate_candidates(sim::RecursiveRejection(distributions, scheme.draws), 1.0, scheme.count, result);
  return result;
}

}  // namespace foredraft::tests
