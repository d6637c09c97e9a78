// SPDX-License-Identifier: Apache-2.0
// The loss of a rule over several successive tokens: lossiness.hpp.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "foredraft/lossiness.hpp"
#include "foredraft/scenario.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "tests/sim/token/rules/rule_cases.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

using Outcome = std::vector<std::size_t>;

/// Enumerates iterations draft by draft until `length` tokens are emitted, over all outcomes of every draw.
class Played {
 public:
  Played(const VerificationRule& rule, const GivenDistributions& given, const std::vector<std::size_t>& contexts,
         std::int64_t gamma, Convention convention)
      : rule_(rule), given_(given), contexts_(contexts), gamma_(gamma), convention_(convention) {}

  std::map<Outcome, double> outcomes() {
    play({}, 0, 1.0);
    return outcomes_;
  }

 private:
  void play(const Outcome& emitted, std::int64_t drafts, double probability) {
    if (!(probability > 0.0)) return;
    if (emitted.size() == contexts_.size()) {
      outcomes_[emitted] += probability;
      return;
    }
    if (drafts == gamma_ && convention_ == Convention::no_bonus) return play(emitted, 0, probability);
    const std::vector<double>& p = given_.target[contexts_[emitted.size()]];
    const std::vector<double>& q = given_.draft[contexts_[emitted.size()]];
    const auto with = [&](std::size_t token) {
      Outcome longer = emitted;
      longer.push_back(token);
      return longer;
    };
    std::vector<double> last(p.size());
    if (drafts == gamma_) {
      rule_.bonus(p, last);
      for (std::size_t x = 0; x < p.size(); ++x) play(with(x), 0, probability * last[x]);
      return;
    }
    const PositionDistributions distributions{.target = p, .draft = q};
    rule_.replacement(distributions, last);
    const double statistic = rule_.row_statistic(distributions);
    for (std::size_t x = 0; x < p.size(); ++x) {
      if (!(q[x] > 0.0)) continue;
      const double a = rule_.acceptance({.token = static_cast<Token>(x), .target = p[x], .draft = q[x]}, statistic);
      play(with(x), drafts + 1, probability * q[x] * a);
      for (std::size_t y = 0; y < p.size(); ++y) play(with(y), 0, probability * q[x] * (1.0 - a) * last[y]);
    }
  }

  const VerificationRule& rule_;
  const GivenDistributions& given_;
  const std::vector<std::size_t>& contexts_;
  std::int64_t gamma_;
  Convention convention_;
  std::map<Outcome, double> outcomes_;
};

double played_distance(const VerificationRule& rule, const GivenDistributions& given,
                       const std::vector<std::size_t>& contexts, std::int64_t gamma, Convention convention) {
  const std::map<Outcome, double> outcomes = Played(rule, given, contexts, gamma, convention).outcomes();
  double more = 0.0;  // sum max(0, e - p), which is the distance
  for (const auto& [outcome, emitted] : outcomes) {
    double target = 1.0;
    for (std::size_t t = 0; t < outcome.size(); ++t) target *= given.target[contexts[t]][outcome[t]];
    more += std::max(0.0, emitted - target);
  }
  return more;
}

Scenario scenario_of(const Rule& rule, std::int64_t gamma, Convention convention = Convention::bonus) {
  return {.fidelity = TokenFidelity{.rule = rule, .models = tests::given(tests::three_contexts())},
          .gamma = gamma,
          .convention = convention};
}

}  // namespace

TEST_CASE(
    "the loss of two and three tokens is that of all draws of all iterations, for every rule with one candidate") {
  const GivenDistributions table = tests::three_contexts();
  for (const tests::RuleCase& entry : tests::rule_cases()) {
    const auto rule = entry.make();
    if (rule->candidates(1).count > 1 || rule->verifies_blocks()) continue;
    for (const std::int64_t gamma : {1, 2, 4}) {
      for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
        for (const std::int64_t tokens : {2, 3}) {
          CAPTURE(entry.label(), gamma, convention == Convention::bonus, tokens);
          double expected = 0.0;
          for (std::size_t k = 0; k < 3; ++k) {
            std::vector<std::size_t> contexts;
            for (std::size_t t = 0; t < static_cast<std::size_t>(tokens); ++t) contexts.push_back((k + t) % 3);
            expected += played_distance(*rule, table, contexts, gamma, convention) / 3.0;
          }
          const Lossiness loss = lossiness(scenario_of(entry.rule(), gamma, convention), 1, tokens);
          CHECK(std::abs(loss.joint_total_variation.mean - expected) < tests::second_route);
          if (entry.lossless) CHECK(loss.joint_total_variation.mean < tests::second_route);
        }
      }
    }
  }
}

TEST_CASE("more tokens lose no less, and with bonus tokens no more than their sum") {
  for (const tests::RuleCase& entry : tests::rule_cases()) {
    if (entry.make()->verifies_blocks()) continue;
    CAPTURE(entry.label());
    const Scenario scenario = scenario_of(entry.rule(), 4);
    const Lossiness one = lossiness(scenario);
    double before = one.total_variation.mean;
    CHECK(one.joint_total_variation.mean == before);
    for (const std::int64_t tokens : {2, 3}) {
      const double joint = lossiness(scenario, 1, tokens).joint_total_variation.mean;
      CHECK(joint >= before - tests::second_route);
      CHECK(joint <= static_cast<double>(tokens) * one.total_variation.mean + tests::second_route);
      before = joint;
    }
  }
}

TEST_CASE("by hand: two accepted drafts of a fair coin that drafts heads at 0.9, and a bonus token that corrects one") {
  const GivenDistributions coin{.target = {{0.5, 0.5}}, .draft = {{0.9, 0.1}}};
  const auto joint = [&](std::int64_t gamma, std::int64_t tokens) {
    const Scenario scenario{.fidelity = TokenFidelity{.rule = AcceptAll{}, .models = tests::given(coin)},
                            .gamma = gamma};
    return lossiness(scenario, 1, tokens).joint_total_variation.mean;
  };
  CHECK(joint(2, 1) == Approx(0.4).epsilon(tests::few_ulp));
  CHECK(joint(2, 2) == Approx(0.81 - 0.25).epsilon(tests::few_ulp));
  CHECK(joint(2, 3) == Approx(0.81 - 0.25).epsilon(tests::few_ulp));  // the third token is the target's
  CHECK(joint(3, 3) == Approx(0.729 - 0.125).epsilon(tests::few_ulp));
  CHECK(joint(1, 2) == Approx(0.4).epsilon(tests::few_ulp));
  CHECK(joint(1, 3) == Approx(0.81 - 0.25).epsilon(tests::few_ulp));
}

TEST_CASE("a joint loss is rejected if it cannot be enumerated") {
  CHECK_THROWS_WITH(lossiness(scenario_of(AcceptAll{}, 2), 1, 0), Catch::Contains("tokens"));
  CHECK_THROWS_WITH(lossiness(scenario_of(AcceptAll{}, 2), 1, 4), Catch::Contains("tokens"));
  CHECK_THROWS_WITH(lossiness(scenario_of(BlockVerification{}, 2), 1, 2), Catch::StartsWith("invalid tokens=2"));
  CHECK(lossiness(scenario_of(BlockVerification{}, 2)).joint_total_variation.mean < tests::few_ulp);
  SyntheticModels pair = tests::small_pair();
  pair.vocabulary = 1500;
  const Scenario wide{.fidelity = TokenFidelity{.models = pair}, .gamma = 1};
  CHECK_THROWS_WITH(lossiness(wide, 1, 2), Catch::Contains("1500^2"));
}

}  // namespace foredraft::sim
