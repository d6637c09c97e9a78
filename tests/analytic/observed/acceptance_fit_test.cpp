// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/acceptance_fit.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

/// The prior of the spread moves a chain without spread away from 0: tokens change by up to 0.2 %, from two drafts with
/// an unknown drafter.
constexpr double pull_of_the_prior = 2e-3;
/// From two drafts the spread is the prior's, which is wrong for a chain without spread.
constexpr double unknown_spread = 1.2e-2;

/// The expected counts of a process.
AcceptanceCluster expected_counts(const Runs& acceptance, std::int64_t gamma, double steps) {
  AcceptanceCluster counts{.gamma = gamma, .steps = steps, .accepted_at = accepted_shares(acceptance, gamma)};
  for (double& share : counts.accepted_at) share *= steps;
  return counts;
}

AcceptanceFit fit_of(const std::vector<AcceptanceCluster>& clusters, DrafterClass drafter = DrafterClass::text) {
  return std::get<AcceptanceFit>(fit_acceptance(clusters, drafter));
}

FitProblem problem_of(const std::vector<AcceptanceCluster>& clusters) {
  return std::get<FitProblem>(fit_acceptance(clusters, DrafterClass::text));
}

AcceptanceCluster counts_of(std::vector<double> accepted_at, double steps) {
  return {
      .gamma = static_cast<std::int64_t>(accepted_at.size()), .steps = steps, .accepted_at = std::move(accepted_at)};
}

double relative_miss(const TokensAtGamma& tokens, const Runs& truth) {
  return std::abs(tokens.value / tokens_per_iteration(truth, tokens.gamma) - 1.0);
}

}  // namespace

TEST_CASE("counts of a Markov chain at one gamma give its tokens at every other") {
  for (const Markov chain : {Markov{0.8, 0.4}, {0.6, 0.6}, {0.72, 0.1}, {0.3, 0.7}}) {
    for (const std::int64_t logged : {2, 3, 5}) {
      const AcceptanceFit fit = fit_of({expected_counts({.a = chain.a, .b = chain.b}, logged, 1e6)});
      for (std::int64_t gamma = 1; gamma <= 12; ++gamma) {
        CAPTURE(chain.a, chain.b, logged, gamma);
        CHECK(relative_miss(tokens_at(fit, gamma), {.a = chain.a, .b = chain.b}) <
              (logged == 2 ? unknown_spread : pull_of_the_prior));
      }
    }
  }
}

TEST_CASE("easy and hard runs are distinguished from three drafts on") {
  const Runs truth{.a = 0.7, .b = 0.3, .spread = 0.9};
  for (const std::int64_t logged : {3, 5, 8}) {
    const AcceptanceFit fit = fit_of({expected_counts(truth, logged, 1e6)});
    CHECK(fit.model->spread == Approx(truth.spread).margin(0.05));
    for (const std::int64_t gamma : {1, 2, 4, 12}) {
      CAPTURE(logged, gamma);
      CHECK(relative_miss(tokens_at(fit, gamma), truth) < pull_of_the_prior);
    }
  }
}

TEST_CASE("two logged gammas show the effect of the bonus token, one takes it from the class of the drafter") {
  const Runs truth{.a = 0.65, .b = 0.6, .spread = 0.6, .rho = 1.4};
  const std::vector one{expected_counts(truth, 3, 1e6)};
  CHECK(fit_of(one, DrafterClass::text).model->rho == Approx(1.0).epsilon(1e-3));
  CHECK(fit_of(one, DrafterClass::feature_head).model->rho == Approx(1.4).epsilon(1e-3));
  CHECK(fit_of(one, DrafterClass::parallel_heads).model->rho == Approx(3.3).epsilon(1e-3));
  const std::vector both{expected_counts(truth, 1, 1e6), expected_counts(truth, 6, 1e6)};
  CHECK(fit_of(both, DrafterClass::unknown).model->rho == Approx(1.4).epsilon(0.04));
}

TEST_CASE("an unknown drafter has the interval of its possible classes") {
  const Runs text{.a = 0.7, .b = 0.4, .spread = 0.6};
  Runs head = text;
  head.rho = 1.4;
  for (const Runs& truth : {text, head}) {
    const AcceptanceFit fit = fit_of({expected_counts(truth, 3, 1e5)}, DrafterClass::unknown);
    for (const std::int64_t gamma : {1, 2, 5, 12}) {
      CAPTURE(truth.rho, gamma);
      const TokensAtGamma tokens = tokens_at(fit, gamma);
      CHECK(tokens.low <= tokens_per_iteration(truth, gamma));
      CHECK(tokens.high >= tokens_per_iteration(truth, gamma));
    }
  }
}

TEST_CASE("the estimate at the logged gamma is the count") {
  const TokensAtGamma tokens = tokens_at(fit_of({counts_of({600, 300, 90}, 1000)}), 3);
  CHECK(tokens.source == TokensAtGamma::Source::observed);
  CHECK(tokens.value == Approx(1.99).epsilon(tests::few_ulp));
  // 0 to 3 accepted with 0.4, 0.3, 0.21, 0.09: a variance of 0.9699, plus the weight of one step.
  const double half_width = 1.959964 * std::sqrt((0.9699 + 1e-3) / 1000.0);
  CHECK(tokens.high - tokens.value == Approx(half_width).epsilon(1e-6));
  CHECK(tokens.value - tokens.low == Approx(half_width).epsilon(1e-6));
}

TEST_CASE("rounded counts widen the interval of a count by the width of their rounding") {
  AcceptanceCluster counts = counts_of({600, 300, 90}, 1000);
  counts.rounding = 0.01;
  const TokensAtGamma tokens = tokens_at(fit_of({counts}), 3);
  // Three shares that are off by at most 0.01 together: a uniform error of 0.03, and the variance of the test above.
  const double half_width = 1.959964 * std::sqrt((0.9699 + 1e-3) / 1000.0 + 0.03 * 0.03 / 3.0);
  CHECK(tokens.high - tokens.value == Approx(half_width).epsilon(1e-6));
}

TEST_CASE("the interval of two clusters has the quantile of one degree of freedom") {
  std::vector requests{counts_of({60'000, 30'000, 9'000}, 1e5), counts_of({60'100, 30'050, 9'020}, 1e5)};
  for (AcceptanceCluster& one : requests) one.in_time = false;  // windows would have a prior
  const AcceptanceFit fit = fit_of(requests);
  REQUIRE(fit.cluster_degrees == Approx(1.0).epsilon(tests::few_ulp));
  const TokensAtGamma tokens = tokens_at(fit, 3);
  const double variance = fit.variance_factor * (variance_of_a_step(fit.counts.front()) + 0.5e-5) / 2e5;
  // The quantile of Student's distribution with 1 degree of freedom is tan(pi (0.975 - 0.5)).
  const double half_width = std::tan(0.475 * std::acos(-1.0)) * std::sqrt(variance);
  CHECK(tokens.high - tokens.value == Approx(half_width).epsilon(1e-6));
}

TEST_CASE("a fit at one gamma includes the spread of rho in its class of drafters") {
  for (const auto& [drafter, deviation] : {std::pair{DrafterClass::text, 0.03},
                                           {DrafterClass::unknown, 0.17},
                                           {DrafterClass::feature_head, 0.15},
                                           {DrafterClass::parallel_heads, 0.3}}) {
    const AcceptanceFit fit = fit_of({expected_counts({.a = 0.7, .b = 0.4, .spread = 0.6}, 3, 1e6)}, drafter);
    CAPTURE(deviation);
    CHECK(std::sqrt(fit.covariance.back()) == Approx(deviation).epsilon(1e-3));
  }
}

TEST_CASE("the model error grows beyond 1.5 times the logged gamma, and is twice as large for a head") {
  const std::vector counts{expected_counts({.a = 0.7, .b = 0.4, .spread = 0.6}, 4, 1e6)};
  for (const DrafterClass drafter : {DrafterClass::text, DrafterClass::feature_head}) {
    AcceptanceFit fit = fit_of(counts, drafter);
    fit.covariance = {};  // only the model's own error remains
    for (const auto& [gamma, error] :
         {std::pair<std::int64_t, double>{3, 0.002}, {5, 0.002}, {6, 0.002}, {12, 0.002 + 0.006 * std::log(2.0)}}) {
      const TokensAtGamma tokens = tokens_at(fit, gamma);
      CAPTURE(gamma, drafter);
      CHECK((tokens.high - tokens.value) / tokens.value ==
            Approx(1.959964 * error * (drafter == DrafterClass::text ? 1.0 : 2.0)).epsilon(0.01));
    }
  }
}

TEST_CASE("a few steps at a gamma do not override the model of all") {
  const Runs truth{.a = 0.7, .b = 0.5, .spread = 0.6};
  const AcceptanceFit fit = fit_of({counts_of({9, 9}, 10), expected_counts(truth, 5, 1e5)});
  CHECK(tokens_at(fit, 2).source == TokensAtGamma::Source::fitted);
  CHECK(relative_miss(tokens_at(fit, 2), truth) < 0.01);
  CHECK(tokens_at(fit, 5).source == TokensAtGamma::Source::observed);
}

TEST_CASE("no draft yields one token, and beyond 1.5 times the logged gamma is extrapolated") {
  const AcceptanceFit fit = fit_of({counts_of({600, 300, 90, 30}, 1000)});
  CHECK(tokens_at(fit, 0).value == 1.0);
  CHECK(tokens_at(fit, 0).high == 1.0);
  CHECK(tokens_at(fit, 0).source == TokensAtGamma::Source::observed);
  CHECK_FALSE(tokens_at(fit, 6).extrapolated);
  CHECK(tokens_at(fit, 7).extrapolated);
  CHECK(tokens_at(fit, 7).source == TokensAtGamma::Source::fitted);
  CHECK(tokens_at(fit, 12).high - tokens_at(fit, 12).low > tokens_at(fit, 6).high - tokens_at(fit, 6).low);
}

TEST_CASE("when acceptance falls with depth beyond noise, the counts override the model") {
  // A drafter that was trained for two drafts: the third is nearly always wrong, at any gamma.
  const AcceptanceFit fit = fit_of({counts_of({60'000, 40'000, 2'000, 100, 0}, 100'000)});
  CHECK(tokens_at(fit, 2).value > 1.95);
  CHECK(tokens_at(fit, 12).value < 2.1);
  CHECK(fit.chi_squared > 100.0 * fit.degrees_of_freedom);
  CHECK(fit.collapsed_position == 3);
}

TEST_CASE("one draft does not identify a model and leaves a range") {
  const AcceptanceFit fit = fit_of({counts_of({500}, 1e6 / 1000)});
  CHECK_FALSE(fit.model);
  CHECK(tokens_at(fit, 1).value == 1.5);
  const TokensAtGamma tokens = tokens_at(fit, 5);
  CHECK(tokens.source == TokensAtGamma::Source::left_open);
  CHECK(std::isnan(tokens.value));
  CHECK(tokens.low < 1.5);
  CHECK(tokens.high > 3.0);
}

TEST_CASE("acceptance length without positions gives one alpha within a range") {
  for (const Markov chain : {Markov{0.62, 0.62}, {0.8, 0.4}, {0.2, 0.9}}) {
    // Every chain of these tokens at gamma 4 lies in the range at gamma 8.
    const double tokens = tokens_per_iteration(chain, 4, Convention::bonus);
    const AcceptanceFit of_chain =
        fit_of({{.gamma = 4, .steps = 1e6, .accepted_at = {}, .accepted_tokens = 1e6 * (tokens - 1.0)}});
    const TokensAtGamma at_eight = tokens_at(of_chain, 8);
    CHECK(at_eight.low <= tokens_per_iteration(chain, 8, Convention::bonus));
    CHECK(at_eight.high >= tokens_per_iteration(chain, 8, Convention::bonus));
  }
  // An alpha of 1/2 accepts 15/16 of four drafts.
  const AcceptanceFit half = fit_of({{.gamma = 4, .steps = 1e6, .accepted_at = {}, .accepted_tokens = 937'500}});
  CHECK_FALSE(half.model);
  CHECK(tokens_at(half, 8).value == Approx(2.0 - std::pow(0.5, 8)).epsilon(tests::solved_root));
}

TEST_CASE("acceptance lengths at two gammas identify a model together") {
  const Runs truth{.a = 0.75, .b = 0.35, .spread = 0.6};
  std::vector<AcceptanceCluster> clusters;
  for (const std::int64_t gamma : {2, 6}) {
    clusters.push_back({.gamma = gamma,
                        .steps = 1e6,
                        .accepted_at = {},
                        .accepted_tokens = 1e6 * (tokens_per_iteration(truth, gamma) - 1.0)});
  }
  const AcceptanceFit fit = fit_of(clusters);
  REQUIRE(fit.model);
  for (const std::int64_t gamma : {3, 4, 8}) CHECK(relative_miss(tokens_at(fit, gamma), truth) < 0.01);
}

TEST_CASE("gammas of one text are fitted together, those of two texts are distinguished") {
  const Runs truth{.a = 0.7, .b = 0.5, .spread = 0.6};
  const AcceptanceFit one = fit_of({expected_counts(truth, 2, 1e4), expected_counts(truth, 5, 1e4)});
  CHECK_FALSE(one.text_changed);
  REQUIRE(one.misfit.size() == 2);
  CHECK(std::abs(one.misfit[1].deviation) < 0.5);
  const Runs other{.a = 0.5, .b = 0.4, .spread = 0.6};
  const AcceptanceFit two = fit_of({expected_counts(truth, 2, 1e4), expected_counts(other, 5, 1e4)});
  CHECK(two.text_changed);
  CHECK(two.chi_squared > 10.0 * two.degrees_of_freedom);
}

TEST_CASE("clusters that differ widen intervals, and for one cluster the interval is marked as a lower bound") {
  const Runs easy{.a = 0.85, .b = 0.7};
  const Runs hard{.a = 0.5, .b = 0.3};
  std::vector<AcceptanceCluster> clusters;
  for (int i = 0; i < 10; ++i) clusters.push_back(expected_counts(i % 2 == 0 ? easy : hard, 3, 1000));
  AcceptanceCluster pooled = clusters[0];
  for (std::size_t i = 0; i < 3; ++i)
    pooled.accepted_at[i] = 5.0 * (clusters[0].accepted_at[i] + clusters[1].accepted_at[i]);
  pooled.steps = 10'000;
  const AcceptanceFit many = fit_of(clusters);
  const AcceptanceFit single = fit_of({pooled});
  CHECK_FALSE(many.interval_is_lower_bound);
  CHECK(single.interval_is_lower_bound);
  for (const std::int64_t gamma : {3, 5}) {
    const TokensAtGamma wide = tokens_at(many, gamma);
    const TokensAtGamma narrow = tokens_at(single, gamma);
    CHECK(wide.value == Approx(narrow.value).epsilon(0.02));
    CHECK(wide.high - wide.low > 4.0 * (narrow.high - narrow.low));
  }
}

TEST_CASE("too few steps are rejected, and the error says how many more are needed") {
  const FitProblem problem = problem_of({counts_of({60, 30, 9}, 100)});
  CHECK(problem.reason == FitProblem::Reason::too_few_steps);
  CHECK(problem.steps == 100);
  // +-2 % of 1.99 tokens with a variance of 0.9699 a step: 1.96^2 (0.9699 + 0.01) / 0.0398^2 = 2,376.4 steps.
  CHECK(problem.more_steps_needed == 2277);
  CHECK(problem_of({counts_of({0, 0, 0}, 150)}).more_steps_needed == 50);
}

TEST_CASE("a counter that accepts everything and one that rises are rejected") {
  CHECK(problem_of({counts_of({1000, 1000}, 1000)}).reason == FitProblem::Reason::all_accepted);
  const FitProblem rising = problem_of({counts_of({600, 650, 100}, 1000)});
  CHECK(rising.reason == FitProblem::Reason::rising);
  CHECK(rising.position == 2);
  // Rates of three digits may rise by their rounding.
  AcceptanceCluster rounded = counts_of({600, 602}, 1e4);
  rounded.rounding = 0.0005;
  CHECK(fit_of({rounded}).model);
  CHECK(fit_of({counts_of({999, 998}, 1000)}).model);
}

TEST_CASE("a log in which nothing was accepted has one token at every gamma") {
  const AcceptanceFit fit = fit_of({counts_of({0, 0, 0}, 5000)});
  CHECK(tokens_at(fit, 3).value == 1.0);
  for (const std::int64_t gamma : {1, 2, 5, 12}) {
    const TokensAtGamma tokens = tokens_at(fit, gamma);
    CHECK(tokens.value < 1.001);
    CHECK(tokens.low == 1.0);
    CHECK(tokens.high < 1.02);
  }
}

TEST_CASE("a log in which nearly everything was accepted stays within gamma + 1") {
  const AcceptanceFit fit = fit_of({counts_of({100'000, 100'000, 99'999}, 100'000)});
  for (const std::int64_t gamma : {1, 2, 5, 12}) {
    const TokensAtGamma tokens = tokens_at(fit, gamma);
    CHECK(tokens.high <= static_cast<double>(gamma) + 1.0);
    CHECK(tokens.value > 0.99 * (static_cast<double>(gamma) + 1.0));
  }
}

TEST_CASE("acceptance that collapses at the first draft is reported as a fault of the drafter") {
  CHECK_FALSE(fit_of({expected_counts({.a = 0.7, .b = 0.1, .spread = 0.6}, 5, 1e5)}).collapsed_position);
  CHECK(fit_of({counts_of({7000, 5000, 500, 350}, 10'000)}).collapsed_position == 3);
  CHECK(fit_of({counts_of({7000, 0, 0, 0}, 10'000)}).collapsed_position == 2);
  // Too few for certainty.
  CHECK_FALSE(fit_of({counts_of({20, 0, 0}, 300)}).collapsed_position);
}

}  // namespace foredraft::analytic
