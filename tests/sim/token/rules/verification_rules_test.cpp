// SPDX-License-Identifier: Apache-2.0
// The contract of sim/token/rules/verification_rule.hpp, tested for every registered rule.
#include "sim/token/rules/verification_rule.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "core/random_stream.hpp"
#include "scenario/family.hpp"
#include "scenario/rules.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/token_simulator.hpp"
#include "tests/sim/token/block_enumeration.hpp"
#include "tests/sim/token/named_rule.hpp"
#include "tests/sim/token/rules/rule_cases.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

/// Rows that a rule must handle: random ones, with and without zeros, equal ones, disjoint ones, ties, point masses.
std::vector<std::pair<std::vector<double>, std::vector<double>>> awkward_rows() {
  std::vector<std::pair<std::vector<double>, std::vector<double>>> rows{
      {{0.2, 0.3, 0.5}, {0.2, 0.3, 0.5}},
      {{0.5, 0.5, 0.0, 0.0}, {0.0, 0.0, 0.3, 0.7}},
      {{0.25, 0.25, 0.25, 0.25}, {0.1, 0.2, 0.3, 0.4}},
      {{0.0, 1.0, 0.0}, {0.2, 0.3, 0.5}},
      {{0.2, 0.3, 0.5}, {1.0, 0.0, 0.0}},
      {{0.0, 1.0}, {0.0, 1.0}},
      {{1.0}, {1.0}},
      {{1e-300, 1.0 - 1e-300}, {1e-12, 1.0 - 1e-12}},
  };
  const GivenDistributions table = tests::three_contexts();
  for (std::size_t k = 0; k < table.target.size(); ++k) rows.emplace_back(table.target[k], table.draft[k]);
  RandomStream random(3, {.purpose = Purpose::test, .point = 0, .block = 0});
  const auto random_row = [&random](std::size_t size) {
    std::vector<double> row(size);
    for (double& entry : row) entry = random.uniform() < 0.2 ? 0.0 : std::pow(random.uniform(), 3.0);
    row.front() += 0.01;
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& entry : row) entry /= sum;
    return row;
  };
  for (std::size_t size = 2; size < 40; ++size) {
    std::vector<double> target = random_row(size);  // not in the call below: the order of arguments is unspecified
    rows.emplace_back(std::move(target), random_row(size));
  }
  return rows;
}

/// Every rule with its defaults and at the limits of its parameters.
std::vector<tests::RuleCase> tried_cases() {
  std::vector<tests::RuleCase> cases = tests::rule_cases();
  const std::vector<tests::RuleCase> ends = tests::limit_cases();
  cases.insert(cases.end(), ends.begin(), ends.end());
  return cases;
}

std::unique_ptr<const VerificationRule> default_rule(const scenario::RuleMember& entry) {
  return make_rule(entry.value);
}

/// Context and token of an emitted token as one number.
constexpr std::size_t tokens_per_context = 5;
constexpr std::size_t cells = 3 * tokens_per_context;
std::size_t cell(const EmittedToken& emitted) {
  return static_cast<std::size_t>(emitted.context) * tokens_per_context + static_cast<std::size_t>(emitted.token);
}

/// Counts of the pairs (first, second emitted token), each with its context; the second comes from the next iteration
/// if the first one emitted a single token. Pairs do not share a token.
std::vector<std::int64_t> count_pairs(const TokenSimulator& simulator, std::int64_t& pairs) {
  std::vector<std::int64_t> counts(cells * cells, 0);
  pairs = 0;
  for (std::uint64_t block = 0; block < simulator.blocks(); ++block) {
    const auto sequences = simulator.emit_block({.seed = 17, .point = 2}, block);
    for (std::size_t i = 0; i + 1 < sequences.size(); ++i, ++pairs) {
      const EmittedToken first = sequences[i][0];
      const EmittedToken second = sequences[i].size() > 1 ? sequences[i][1] : sequences[++i][0];
      ++counts[cell(first) * cells + cell(second)];
    }
  }
  return counts;
}

/// The distributions, over cells, of the token that an iteration emits at one position.
struct PositionCells {
  std::vector<double> tested;    ///< emitted at a tested position
  std::vector<double> accepted;  ///< emitted there because accepted
  std::vector<double> bonus;     ///< emitted after accepted drafts
};

/// P(a draft of the position is accepted, and it is x).
std::vector<double> accepted_distribution(const VerificationRule& rule, const PositionDistributions& distributions) {
  const CandidateScheme scheme = rule.candidates(1);
  if (scheme.count > 1 && !scheme.tested_alike) return tests::candidate_distributions(distributions, scheme).accepted;
  const double statistic = rule.row_statistic(distributions);
  std::vector<double> distribution;
  for (std::size_t x = 0; x < distributions.draft.size(); ++x) {
    const double q = distributions.draft[x];
    distribution.push_back(
        q > 0.0 ? q * rule.acceptance({.token = static_cast<Token>(x), .target = distributions.target[x], .draft = q},
                                      statistic)
                : 0.0);
  }
  // Any of the candidates that are tested in the same way, all before it rejected.
  const double rejected = 1.0 - std::accumulate(distribution.begin(), distribution.end(), 0.0);
  double tries = 1.0;
  for (std::int64_t i = 1; i < scheme.count; ++i) tries = 1.0 + rejected * tries;
  for (double& accepted : distribution) accepted *= tries;
  return distribution;
}

PositionCells position_cells(const VerificationRule& rule) {
  const GivenDistributions table = tests::three_contexts();
  PositionCells result;
  for (std::size_t k = 0; k < 3; ++k) {
    const PositionDistributions distributions{.target = table.target[k], .draft = table.draft[k]};
    std::vector<double> bonus_distribution(tokens_per_context);
    rule.bonus(distributions.target, bonus_distribution);
    const std::vector<double> emitted = emitted_distribution(rule, distributions);
    const std::vector<double> accepted = accepted_distribution(rule, distributions);
    for (std::size_t x = 0; x < tokens_per_context; ++x) {
      result.tested.push_back(emitted[x] / 3.0);
      result.bonus.push_back(bonus_distribution[x] / 3.0);
      result.accepted.push_back(accepted[x] / 3.0);
    }
  }
  return result;
}

/// The distribution of the pairs that count_pairs() counts. With gamma 1 the second token after an accepted draft is a
/// bonus token; with more drafts it is tested.
std::vector<double> distribution_of_pairs(const PositionCells& at, std::int64_t gamma) {
  const std::vector<double>& after_accepted = gamma == 1 ? at.bonus : at.tested;
  std::vector<double> distribution;
  for (std::size_t first = 0; first < cells; ++first) {
    for (std::size_t second = 0; second < cells; ++second) {
      distribution.push_back(at.accepted[first] * after_accepted[second] +
                             (at.tested[first] - at.accepted[first]) * at.tested[second]);
    }
  }
  return distribution;
}

/// The distribution of the counts of count_single_iterations().
std::vector<double> distribution_of_single_iterations(const VerificationRule& rule, std::int64_t gamma) {
  std::vector<double> distribution;
  if (rule.verifies_blocks()) {
    const GivenDistributions table = tests::three_contexts();
    distribution.assign(cells * (cells + 1), 0.0);
    const auto cell_of = [](const tests::PlacedToken& token) {
      return tokens_per_context * token.context + token.token;
    };
    tests::enumerate_block(
        static_cast<std::size_t>(gamma), [&](const tests::PlacedTokens& /*before*/) { return tests::pool_of(table); },
        [&](const tests::PlacedTokens& tokens, double probability) {
          const std::size_t second = tokens.size() > 1 ? cell_of(tokens[1]) : cells;
          distribution[cell_of(tokens[0]) * (cells + 1) + second] += probability;
        });
    return distribution;
  }
  const PositionCells at = position_cells(rule);
  const std::vector<double>& after_accepted = gamma == 1 ? at.bonus : at.tested;
  for (std::size_t first = 0; first < cells; ++first) {
    for (std::size_t second = 0; second < cells; ++second) {
      distribution.push_back(at.accepted[first] * after_accepted[second]);
    }
    // The difference is round-off of 1e-17 if a token is never a replacement.
    const double replaced = at.tested[first] - at.accepted[first];
    distribution.push_back(replaced < tests::few_ulp ? 0.0 : replaced);
  }
  return distribution;
}

/// Counts of the tokens of a single iteration: (first, second token), or only the first in the last column. Every
/// iteration is the only one of its point, so it reads the first word of each of its streams: a word that is used for
/// two purposes is detected.
std::vector<std::int64_t> count_single_iterations(const TokenSimulator& simulator, std::int64_t iterations) {
  std::vector<std::int64_t> counts(cells * (cells + 1), 0);
  for (std::int64_t i = 0; i < iterations; ++i) {
    const auto sequence = simulator.emit_block({.seed = 29, .point = static_cast<std::uint64_t>(i)}, 0).front();
    const std::size_t second = sequence.size() > 1 ? cell(sequence[1]) : cells;
    ++counts[cell(sequence[0]) * (cells + 1) + second];
  }
  return counts;
}

/// Sums of the first or the second token's cells over the other's.
template <class Count>
std::vector<Count> marginal(const std::vector<Count>& joint, bool second) {
  std::vector<Count> sums(cells, Count{0});
  for (std::size_t i = 0; i < joint.size(); ++i) sums[second ? i % cells : i / cells] += joint[i];
  return sums;
}

std::vector<double> scaled(std::vector<double> distribution, std::int64_t total) {
  for (double& probability : distribution) probability *= static_cast<double>(total);
  return distribution;
}

/// The reference of all other rules has the strictest test.
std::uint64_t iterations_for(const tests::RuleCase& rule) {
  return rule.name == "rejection_sampling" ? 400'000 : 60'000;
}

/// The first two emitted tokens follow the joint distribution of two draws of p in two random contexts.
void check_emits_target(const tests::RuleCase& entry, std::int64_t gamma, std::uint64_t iterations, double level) {
  CAPTURE(entry.label(), gamma);
  const GivenDistributions table = tests::three_contexts();
  tests::Simulation simulation = tests::simulation_of(tests::given(table), gamma, iterations);
  simulation.token().rule = entry.rule();
  const auto simulator = tests::simulator_of(simulation, 1);
  std::int64_t pairs = 0;
  const std::vector<std::int64_t> counts = count_pairs(dynamic_cast<const TokenSimulator&>(*simulator), pairs);
  std::vector<double> distribution;
  for (std::size_t first = 0; first < cells; ++first) {
    for (std::size_t second = 0; second < cells; ++second) {
      distribution.push_back(table.target[first / tokens_per_context][first % tokens_per_context] / 3.0 *
                             table.target[second / tokens_per_context][second % tokens_per_context] / 3.0);
    }
  }
  CHECK(tests::chi_squared_p_value(counts, scaled(distribution, pairs)) > level);
}

}  // namespace

TEST_CASE("at defaults and limits of its parameters every rule has probabilities, and distributions that sum to one") {
  const auto is_distribution = [](const std::vector<double>& distribution) {
    return std::ranges::all_of(distribution, [](double entry) { return entry >= 0.0; }) &&
           std::abs(std::accumulate(distribution.begin(), distribution.end(), 0.0) - 1.0) <= tests::second_route;
  };
  for (const tests::RuleCase& entry : tried_cases()) {
    INFO(entry.label());
    const auto rule = entry.make();
    for (const auto& [p, q] : awkward_rows()) {
      const PositionDistributions distributions{.target = p, .draft = q};
      const double statistic = rule->row_statistic(distributions);
      bool probabilities = true;
      for (std::size_t x = 0; x < p.size(); ++x) {
        if (q[x] == 0.0) continue;
        const double a = rule->acceptance({.token = static_cast<Token>(x), .target = p[x], .draft = q[x]}, statistic);
        probabilities = probabilities && a >= 0.0 && a <= 1.0;
      }
      CHECK(probabilities);
      std::vector<double> distribution(p.size());
      rule->replacement(distributions, distribution);
      CHECK(is_distribution(distribution));
      rule->bonus(p, distribution);
      CHECK(is_distribution(distribution));
      CHECK(is_distribution(emitted_distribution(*rule, distributions)));
    }
  }
}

TEST_CASE("every lossless rule emits p itself, at tested positions and after accepted drafts") {
  for (const tests::RuleCase& entry : tried_cases()) {
    if (!entry.lossless) continue;
    INFO(entry.label());
    const auto rule = entry.make();
    for (const auto& [p, q] : awkward_rows()) {
      const std::vector<double> emitted = emitted_distribution(*rule, {.target = p, .draft = q});
      double furthest = 0.0;
      for (std::size_t x = 0; x < p.size(); ++x) furthest = std::max(furthest, std::abs(emitted[x] - p[x]));
      CHECK(furthest < tests::few_ulp);
      std::vector<double> bonus(p.size());
      rule->bonus(p, bonus);
      CHECK(bonus == p);
    }
  }
}

TEST_CASE("the limit cases reach both limits of every parameter of every rule") {
  const std::vector<tests::RuleCase> cases = tests::limit_cases();
  for (const scenario::RuleMember& entry : scenario::rules()) {
    for (const tests::RuleParameter& parameter : entry.parameters) {
      if (parameter.type == scenario::ValueType::reals) continue;  // tree_widths_test.cpp
      CAPTURE(entry.name, parameter.name);
      const auto reached = [&](double end, double inside) {
        return std::any_of(cases.begin(), cases.end(), [&](const tests::RuleCase& rule) {
          if (rule.name != entry.name) return false;
          const double value = rule.parameters.at(tests::short_name(parameter));
          return value == end || value == inside;
        });
      };
      CHECK(reached(parameter.range.minimum, std::nextafter(parameter.range.minimum, INFINITY)));
      CHECK(reached(parameter.range.maximum, std::nextafter(parameter.range.maximum, -INFINITY)));
    }
  }
}

// 60,000 iterations: 5 %, as below. The candidates after the first are not in emitted_distribution().
TEST_CASE("at its parameters' limits every lossless rule's first two emitted tokens are draws of the target",
          "[long]") {
  std::vector<tests::RuleCase> cases = tests::limit_cases();
  std::erase_if(cases, [](const tests::RuleCase& entry) { return !entry.lossless; });
  for (const tests::RuleCase& entry : cases) check_emits_target(entry, 3, 60'000, tests::level_of_one(cases.size()));
}

// 400,000 iterations of rejection_sampling and each gamma, about 250,000 pairs in up to 225 cells: the joint test
// detects a relative deviation of 2 % (root mean square over the cells), the marginal ones 1.4 %. The other rules run
// 60,000, which detect 5 % and 3.5 %.
TEST_CASE("for every rule the first two emitted tokens follow the distribution that the rule's formulas imply",
          "[long]") {
  const std::int64_t gamma = GENERATE(1, 2, 4);
  const double level = tests::level_of_one(9 * tests::rule_cases().size());
  for (const tests::RuleCase& entry : tests::rule_cases()) {
    CAPTURE(entry.label(), gamma);
    tests::Simulation simulation =
        tests::simulation_of(tests::given(tests::three_contexts()), gamma, iterations_for(entry));
    simulation.token().rule = entry.rule();
    const auto simulator = tests::simulator_of(simulation, 1);
    std::int64_t pairs = 0;
    const std::vector<std::int64_t> counts = count_pairs(dynamic_cast<const TokenSimulator&>(*simulator), pairs);
    const std::vector<double> expected = scaled(distribution_of_pairs(position_cells(*entry.make()), gamma), pairs);
    CHECK(tests::chi_squared_p_value(counts, expected) > level);
    CHECK(tests::chi_squared_p_value(marginal(counts, false), marginal(expected, false)) > level);
    CHECK(tests::chi_squared_p_value(marginal(counts, true), marginal(expected, true)) > level);
  }
}

// 15,000 iterations detect a relative deviation of 10 % (root mean square over the cells). A word used twice changes
// whole cells: the uniforms of a rejection and of the replacement after it would both be large.
TEST_CASE("no rule uses a random word for two things in an iteration", "[long]") {
  const std::int64_t gamma = GENERATE(1, 2);
  constexpr std::int64_t iterations = 15'000;
  for (const tests::RuleCase& entry : tests::rule_cases()) {
    CAPTURE(entry.label(), gamma);
    tests::Simulation simulation = tests::simulation_of(tests::given(tests::three_contexts()), gamma, 1);
    simulation.token().rule = entry.rule();
    const auto simulator = tests::simulator_of(simulation, 1);
    const auto counts = count_single_iterations(dynamic_cast<const TokenSimulator&>(*simulator), iterations);
    const auto distribution = distribution_of_single_iterations(*entry.make(), gamma);
    CHECK(tests::chi_squared_p_value(counts, scaled(distribution, iterations)) >
          tests::level_of_one(2 * tests::rule_cases().size()));
  }
}

// As many pairs as above, so the same 2 %.
TEST_CASE("under every lossless rule the first two emitted tokens are two draws of the target") {
  const std::int64_t gamma = GENERATE(1, 3);
  const double level = tests::level_of_one(2 * tests::rule_cases().size());
  for (const tests::RuleCase& entry : tests::rule_cases()) {
    if (entry.lossless) check_emits_target(entry, gamma, iterations_for(entry), level);
  }
}

TEST_CASE("by hand: rejection_sampling accepts with min(1, p/q) and replaces from the normalized residual") {
  const auto rule = tests::make_named_rule("rejection_sampling", {});
  CHECK(rule->acceptance({.token = 0, .target = 0.2, .draft = 0.5}, 0.0) == Approx(0.4).epsilon(tests::few_ulp));
  CHECK(rule->acceptance({.token = 0, .target = 0.5, .draft = 0.2}, 0.0) == 1.0);
  CHECK(rule->acceptance({.token = 0, .target = 0.0, .draft = 0.2}, 0.0) == 0.0);
  const std::vector<double> p{0.2, 0.5, 0.3};
  const std::vector<double> q{0.6, 0.3, 0.1};
  std::vector<double> residual(3);
  rule->replacement({.target = p, .draft = q}, residual);
  CHECK(residual[0] == 0.0);
  CHECK(residual[1] == Approx(0.5).epsilon(tests::few_ulp));
  CHECK(residual[2] == Approx(0.5).epsilon(tests::few_ulp));
}

TEST_CASE("greedy_match emits the target's most probable token, the lowest index on ties, for any draft") {
  const auto rule = tests::make_named_rule("greedy_match", {});
  for (const auto& [p, q] : awkward_rows()) {
    const std::vector<double> emitted = emitted_distribution(*rule, {.target = p, .draft = q});
    const auto top = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
    for (std::size_t x = 0; x < p.size(); ++x) CHECK(emitted[x] == Approx(x == top ? 1.0 : 0.0).margin(tests::few_ulp));
    CHECK(acceptance_probability(*rule, {.target = p, .draft = q}) == q[top]);
  }
}

TEST_CASE("at temperature 0 every lossless rule and greedy_match are the same rule") {
  const std::vector<double> one_hot_p{0.0, 1.0, 0.0};
  for (const std::vector<double>& one_hot_q :
       {std::vector<double>{0.0, 1.0, 0.0}, std::vector<double>{1.0, 0.0, 0.0}}) {
    const PositionDistributions distributions{.target = one_hot_p, .draft = one_hot_q};
    const auto greedy = tests::make_named_rule("greedy_match", {});
    for (const scenario::RuleMember& entry : scenario::rules()) {
      if (!entry.lossless) continue;
      INFO(entry.name);
      CHECK(emitted_distribution(*default_rule(entry), distributions) == emitted_distribution(*greedy, distributions));
      CHECK(acceptance_probability(*default_rule(entry), distributions) ==
            acceptance_probability(*greedy, distributions));
    }
  }
}

TEST_CASE("the registry is sorted, every rule can be made, and its defaults lie within its ranges") {
  const std::vector<scenario::RuleMember>& entries = scenario::rules();
  CHECK(std::is_sorted(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const scenario::RuleMember& entry : entries) {
    INFO(entry.name);
    CHECK(default_rule(entry) != nullptr);
    CHECK_FALSE(entry.summary.empty());
    CHECK_FALSE(entry.source.empty());
    for (const tests::RuleParameter& parameter : entry.parameters) {
      const scenario::ValueRange& range = parameter.range;
      if (parameter.type != scenario::ValueType::reals) {
        CHECK(contains(range, std::get<double>(parameter.default_value().value())));
      }
      const auto rejected = [&](double value) {
        CHECK_THROWS_AS(tests::make_named_rule(entry.name, {{tests::short_name(parameter), value}}), DomainError);
      };
      rejected(std::nan(""));
      rejected(std::nextafter(range.maximum, INFINITY));
      rejected(std::nextafter(range.minimum, -INFINITY));
      if (range.excludes_minimum) rejected(range.minimum);
      if (range.excludes_maximum) rejected(range.maximum);
      if (range.whole) rejected(range.minimum + 0.5);
    }
  }
}

TEST_CASE("unknown rules and parameters are rejected by name") {
  CHECK_THROWS_WITH(tests::make_named_rule("rejection", {}), Catch::StartsWith("invalid rule=rejection "));
  CHECK_THROWS_WITH(tests::make_named_rule("greedy_match", {{"lenience", 0.5}}),
                    "invalid rule.lenience=0.5 (must be a parameter of greedy_match)");
  CHECK_THROWS_WITH(tests::make_named_rule("lenient", {{"lenience", 0.0}}),
                    "invalid rule.lenience=0 (must lie in (0, 1])");
  CHECK_THROWS_WITH(tests::make_named_rule("typical_acceptance", {{"epsilon", 1.0}}),
                    "invalid rule.epsilon=1 (must lie in (0, 1))");
  CHECK_THROWS_WITH(tests::make_named_rule("top_beta", {{"tolerance", -0.5}}),
                    "invalid rule.tolerance=-0.5 (must lie in [0, 1000])");
  CHECK_THROWS_WITH(tests::make_named_rule("multi_candidate", {{"candidates", 2.5}}),
                    "invalid rule.candidates=2.5 (must be a whole number in [1, 1024])");
}

}  // namespace foredraft::sim
