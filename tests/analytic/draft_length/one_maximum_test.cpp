// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/best_gamma.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "analytic/answer/iteration_distribution.hpp"
#include "analytic/answer/prediction.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

Scenario scenario_of(const AcceptanceProcess& acceptance, double c, double growth, Convention convention) {
  return {.fidelity = ProcessFidelity{.acceptance = acceptance},
          .convention = convention,
          .cost = ConstantRatio{.c = c, .verify_growth = growth}};
}

/// Every draft length from `first` to `last`, one by one.
std::int64_t looked_up_best(std::int64_t first, std::int64_t last, const auto& speedup_at) {
  std::int64_t best = first;
  double maximum = speedup_at(first);
  for (std::int64_t gamma = first + 1; gamma <= last; ++gamma) {
    const double speedup = speedup_at(gamma);
    if (speedup > maximum) {
      maximum = speedup;
      best = gamma;
    }
  }
  return best;
}

}  // namespace

TEST_CASE("a search finds every maximum, the first of equal ones, and reports if there is none") {
  for (std::int64_t top = 0; top <= 40; ++top) {
    const OneMaximum hill{[top](std::int64_t gamma) { return -std::abs(static_cast<double>(gamma - top)); }, 0, 40};
    CAPTURE(top);
    CHECK(best_gamma(hill) == (top == 40 ? std::nullopt : std::optional(top)));
  }
  const OneMaximum flat{[](std::int64_t gamma) { return static_cast<double>(std::min<std::int64_t>(gamma, 3)); }, 0, 9};
  CHECK(best_gamma(flat) == 3);
  const OneMaximum falls{[](std::int64_t gamma) { return -static_cast<double>(gamma); }, 1, 9};
  CHECK(best_gamma(falls) == 1);
}

TEST_CASE("the range within a fraction of the best is found on both sides") {
  const OneMaximum hill{[](std::int64_t gamma) { return 100.0 - std::abs(static_cast<double>(gamma - 20)); }, 0, 50};
  const NearBestRange range = near_best_gamma(hill, 20, 0.05);
  CHECK(range.first == 15);
  CHECK(range.last == 25);
  CHECK(near_best_gamma(hill, 20, 1.0).first == 0);
  CHECK(near_best_gamma(hill, 20, 1.0).last == 50);
}

TEST_CASE("the best draft length of a mixture and of a chain equals that of an exhaustive search") {
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    for (const double c : {0.02, 0.1, 0.4}) {
      for (const AcceptanceProcess& acceptance :
           {AcceptanceProcess(foredraft::BetaMixture{3.0, 1.2}), AcceptanceProcess(foredraft::BetaMixture{0.5, 0.5}),
            AcceptanceProcess(foredraft::Markov{0.9, 0.4}), AcceptanceProcess(foredraft::Markov{0.2, 0.9})}) {
        const Scenario scenario = scenario_of(acceptance, c, 0.0, convention);
        CAPTURE(c, acceptance.index());
        const auto speedup_at = [&](std::int64_t gamma) {
          Scenario at = scenario;
          at.gamma = gamma;
          return *iteration_distribution(at, unknown<double>).mean / (1.0 + c * static_cast<double>(gamma));
        };
        CHECK(predict(scenario, std::nullopt).best.gamma == looked_up_best(min_gamma(convention), 120, speedup_at));
      }
    }
  }
}

TEST_CASE("a verification that grows with its tokens adds a cost to each draft") {
  // With a bonus token 1 + G gamma + c gamma: the rule at c + G.
  const Scenario growing = scenario_of(Iid{0.8}, 0.05, 0.03, Convention::bonus);
  const Scenario dear = scenario_of(Iid{0.8}, 0.08, 0.0, Convention::bonus);
  const Prediction one = predict(growing, 5);
  const Prediction other = predict(dear, 5);
  CHECK(*one.asked.speedup == Approx(*other.asked.speedup).epsilon(tests::few_ulp));
  CHECK(one.best.gamma == other.best.gamma);
  CHECK(one.near_best->first == other.near_best->first);
  CHECK(one.near_best->last == other.near_best->last);
  CHECK(*one.break_even_alpha == Approx(*other.break_even_alpha).epsilon(1e-12));
  CHECK(*one.break_even_c + 0.03 == Approx(*other.break_even_c).epsilon(1e-12));
  // Without: gamma tokens, so that the first draft is verified at the cost of a decode step.
  const Scenario without = scenario_of(Iid{0.8}, 0.05, 2.0, Convention::no_bonus);
  CHECK(*predict(without, 3).asked.speedup == Approx((1.0 + 0.8 + 0.64) / (1.0 + 2.0 * 2.0 + 3 * 0.05)));
  CHECK(predict(without, std::nullopt).best.gamma == 1);
}

TEST_CASE(
    "a block drafter under a growing verification stops where the speedup is below 1, and drafts only if it gains") {
  Scenario scenario = scenario_of(Iid{0.8}, 0.2, 0.05, Convention::bonus);
  scenario.drafter = BlockDrafter{};
  const auto speedup_at = [&](std::int64_t gamma) { return *predict(scenario, gamma).asked.speedup; };
  CHECK(predict(scenario, std::nullopt).best.gamma == looked_up_best(min_gamma(scenario.convention), 80, speedup_at));
  scenario.cost = ConstantRatio{.c = 9.0, .verify_growth = 0.05};
  CHECK(predict(scenario, std::nullopt).best.gamma == 0);
}

TEST_CASE("when a draft costs nothing, mixtures and chains gain at any length, some up to a limit") {
  const auto best = [](const AcceptanceProcess& acceptance) {
    return predict(scenario_of(acceptance, 0.0, 0.0, Convention::bonus), std::nullopt).best;
  };
  // E[1 / (1 - alpha)] = (a + b - 1) / (b - 1)
  const AtGamma mixture = best(foredraft::BetaMixture{2.0, 3.0});
  CHECK(!mixture.gamma);
  CHECK(*mixture.speedup == Approx(2.0));
  CHECK(!best(foredraft::BetaMixture{2.0, 1.0}).speedup);
  CHECK(!best(foredraft::BetaMixture{2.0, 0.5}).speedup);
  const AtGamma chain = best(foredraft::Markov{0.8, 0.5});
  CHECK(!chain.gamma);
  CHECK(*chain.speedup == Approx(1.0 + 0.5 / 0.2));
  CHECK(best(foredraft::Markov{0.0, 0.5}).gamma == 1);
  const AtGamma all = predict(scenario_of(foredraft::Markov{1.0, 0.5}, 0.1, 0.1, Convention::bonus), std::nullopt).best;
  CHECK(!all.gamma);
  CHECK(!all.tokens);
  CHECK(*all.speedup == Approx(1.0 / 0.2));
  CHECK(best(foredraft::BetaMixture{1e-100, 1.0}).gamma == 0);
}

TEST_CASE("a trace has no closed form to search") {
  CHECK_THROWS_AS(predict(scenario_of(Trace{}, 0.1, 0.0, Convention::bonus), 3), DomainError);
}

}  // namespace foredraft::analytic
