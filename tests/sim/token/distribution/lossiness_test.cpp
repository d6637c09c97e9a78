// SPDX-License-Identifier: Apache-2.0
#include "sim/token/distribution/emitted_distribution.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "foredraft/errors.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "tests/sim/token/named_rule.hpp"
#include "tests/sim/token/rules/rule_cases.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

constexpr double infinite_loss = std::numeric_limits<double>::infinity();

PositionLossiness lossiness_of(const std::string& rule, const std::vector<double>& p, const std::vector<double>& q,
                               const std::map<std::string, double>& parameters = {}) {
  return lossiness(*tests::make_named_rule(rule, parameters), {.target = p, .draft = q});
}

}  // namespace

TEST_CASE("lossiness by hand: accepting everything emits q, matching greedily the top token") {
  const std::vector<double> p{0.5, 0.3, 0.2};
  const std::vector<double> q{0.3, 0.6, 0.1};
  const PositionLossiness all = lossiness_of("accept_all", p, q);
  CHECK(all.acceptance == Approx(1.0).epsilon(tests::few_ulp));
  CHECK(all.acceptance_gain == Approx(0.3).epsilon(tests::few_ulp));  // sum min(p, q) = 0.7
  CHECK(all.total_variation == Approx(0.3).epsilon(tests::few_ulp));
  CHECK(all.kl_divergence ==
        Approx(0.3 * std::log(0.6) + 0.6 * std::log(2.0) + 0.1 * std::log(0.5)).epsilon(10 * tests::few_ulp));
  CHECK(all.top1_agreement == 0.0);
  CHECK(all.top1_probability == Approx(0.3).epsilon(tests::few_ulp));
  const PositionLossiness greedy = lossiness_of("greedy_match", p, q);
  CHECK(greedy.acceptance == Approx(0.3).epsilon(tests::few_ulp));
  CHECK(greedy.acceptance_gain == Approx(-0.4).epsilon(tests::few_ulp));
  CHECK(greedy.total_variation == Approx(0.5).epsilon(tests::few_ulp));
  CHECK(greedy.kl_divergence == Approx(std::log(2.0)).epsilon(10 * tests::few_ulp));
  const double entropy = -(0.5 * std::log(0.5) + 0.3 * std::log(0.3) + 0.2 * std::log(0.2));
  CHECK(greedy.entropy_change == Approx(-entropy).epsilon(10 * tests::few_ulp));
  CHECK(all.entropy_change == Approx(-(0.3 * std::log(0.3) + 0.6 * std::log(0.6) + 0.1 * std::log(0.1)) - entropy));
  CHECK(greedy.top1_agreement == 1.0);
  CHECK(greedy.top1_probability == Approx(1.0).epsilon(tests::few_ulp));
}

TEST_CASE("a token that the target never emits gives an infinite divergence, and a small one keeps its precision") {
  CHECK(lossiness_of("accept_all", {1.0, 0.0}, {0.5, 0.5}).kl_divergence == infinite_loss);
  CHECK(lossiness_of("accept_all", {0.5, 0.5}, {1.0, 0.0}).kl_divergence ==
        Approx(std::log(2.0)).epsilon(10 * tests::few_ulp));
  // KL of (1/2 + d, 1/2 - d) from (1/2, 1/2) is 2 d^2 + O(d^4).
  CHECK(lossiness_of("accept_all", {0.5, 0.5}, {0.5 + 1e-7, 0.5 - 1e-7}).kl_divergence == Approx(2e-14).epsilon(1e-6));
}

TEST_CASE("a lossless rule loses nothing, also on ties, and the acceptance of one draft is the reference") {
  for (const tests::RuleCase& rule : tests::rule_cases()) {
    if (!rule.lossless) continue;
    INFO(rule.label());
    const GivenDistributions table = tests::three_contexts();
    for (std::size_t k = 0; k < 3; ++k) {
      const PositionLossiness loss = lossiness(*rule.make(), {.target = table.target[k], .draft = table.draft[k]});
      CHECK(loss.total_variation < tests::few_ulp);
      CHECK(loss.kl_divergence < tests::few_ulp);
      CHECK(std::abs(loss.entropy_change) < 10 * tests::few_ulp);
      CHECK(loss.top1_agreement == 1.0);
      if (rule.name == "rejection_sampling") CHECK(std::abs(loss.acceptance_gain) < tests::few_ulp);
      if (rule.name == "multi_candidate") CHECK(loss.acceptance_gain > 0.05);
    }
  }
}

TEST_CASE("with one draft a position, acceptance above sum min(p, q) costs total variation, lenience at most as much") {
  const GivenDistributions table = tests::three_contexts();
  for (std::size_t k = 0; k < 3; ++k) {
    for (const tests::RuleCase& rule : tests::rule_cases()) {
      if (rule.make()->candidates(1).count > 1) continue;
      INFO(rule.label());
      const PositionLossiness loss = lossiness(*rule.make(), {.target = table.target[k], .draft = table.draft[k]});
      CHECK(loss.total_variation >= loss.acceptance_gain - tests::few_ulp);
      if (rule.parameters.find("residual") != rule.parameters.end()) {
        CHECK(loss.total_variation == Approx(loss.acceptance_gain).epsilon(10 * tests::few_ulp));
      }
    }
  }
}

TEST_CASE("a tie broken by round-off is still a tie") {
  CHECK(lossiness_of("accept_all", {0.4, 0.4, 0.2}, {std::nextafter(0.4, 0.0), 0.4, 0.2}).top1_agreement == 1.0);
  CHECK(lossiness_of("accept_all", {0.4, 0.4, 0.2}, {0.4 - 1e-9, 0.4 + 1e-9, 0.2}).top1_agreement == 0.0);
}

TEST_CASE("means over contexts carry the standard error of a sample") {
  std::vector<PositionLossiness> positions(4);
  const double values[] = {0.1, 0.2, 0.3, 0.4};
  for (std::size_t i = 0; i < 4; ++i) positions[i].total_variation = values[i];
  const Lossiness mean = mean_lossiness(positions);
  CHECK(mean.total_variation.mean == Approx(0.25).epsilon(tests::few_ulp));
  // Sample variance (0.0225 + 0.0025) * 2 / 3, over 4 contexts.
  CHECK(mean.total_variation.standard_error == Approx(std::sqrt(0.05 / 3 / 4)).epsilon(tests::few_ulp));
  CHECK(mean.acceptance.standard_error == 0.0);
  CHECK(std::isnan(mean_lossiness(std::span(positions).first(1)).acceptance.standard_error));
  CHECK_THROWS_AS(mean_lossiness({}), DomainError);
  positions[0].kl_divergence = infinite_loss;
  CHECK(mean_lossiness(positions).kl_divergence.mean == infinite_loss);
  CHECK(std::isnan(mean_lossiness(positions).kl_divergence.standard_error));
}

TEST_CASE("at 32,000 tokens every rule has its lossiness, within the bounds that hold for any distribution") {
  SyntheticModels pair = tests::small_pair();
  pair.vocabulary = 32'000;
  pair.pool = 2;
  const SyntheticPool pool(pair, 5);
  std::vector<double> p(pool.vocabulary());
  std::vector<double> q(pool.vocabulary());
  pool.target_distribution(0, 1.0, p);
  pool.draft_distribution(0, pool.strength(), 1.0, q);
  for (const tests::RuleCase& rule : tests::rule_cases()) {
    INFO(rule.label());
    const PositionLossiness loss = lossiness(*rule.make(), {.target = p, .draft = q});
    CHECK((loss.total_variation >= 0.0 && loss.total_variation <= 1.0));
    CHECK(loss.kl_divergence >= 2.0 * loss.total_variation * loss.total_variation - tests::few_ulp);  // Pinsker
    if (rule.lossless) CHECK(loss.total_variation < tests::second_route);
    const bool enumerable = rule.parameters.find("candidates") == rule.parameters.end() ||
                            rule.parameters.find("replacement") == rule.parameters.end();
    CHECK(std::isnan(loss.acceptance) != enumerable);
  }
}

}  // namespace foredraft::sim
