// SPDX-License-Identifier: Apache-2.0
// Combined drafters: closed forms against rounds and drafts that are drawn one by one. 200,000 iterations resolve
// tokens and speedups to about 1 % (five standard errors).
#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/predict.hpp"
#include "foredraft/simulate.hpp"
#include "scenario/drafters.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {
namespace {

void check_quantity(const Estimate& simulated, double expected) {
  if (!std::isnan(expected)) tests::check_estimate(simulated, expected, tests::second_route);
}

/// In infinite text and in texts of two lengths, by both paths.
void check_drafter(const Drafter& drafter, const AcceptanceProcess& process, std::int64_t gamma) {
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    for (const Path path : {Path::reference, Path::fast}) {
      for (const double tokens : {0.0, 7.0, 40.0}) {
        CAPTURE(scenario::name_of(drafter), gamma, to_string(convention), static_cast<int>(path), tokens);
        ProcessFidelity fidelity{.acceptance = process};
        if (tokens > 0.0) fidelity.sequence_length = SequenceLength{.tokens = tokens, .geometric = tokens > 20.0};
        const Scenario scenario{.fidelity = fidelity,
                                .gamma = gamma,
                                .convention = convention,
                                .drafter = drafter,
                                .cost = ConstantRatio{.c = 0.15}};
        SimulationPlan plan{.seed = 29, .path = path};
        (tokens > 0.0 ? plan.sequences : plan.iterations) = tokens > 0.0 ? 30'000 : 200'000;
        const ClosedForm expected = predict(scenario);
        const Estimates seen = simulate(scenario, plan, 1).estimates;
        REQUIRE(expected.tokens_per_iteration > 0.0);
        REQUIRE(expected.speedup > 0.0);
        check_quantity(seen.tokens_per_iteration, expected.tokens_per_iteration);
        check_quantity(seen.tokens_variance, expected.tokens_variance);
        check_quantity(seen.speedup, expected.speedup);
        check_quantity(seen.per_token, expected.per_token);
        check_quantity(seen.mean_gamma, expected.mean_gamma);
        check_quantity(seen.accepted_over_drafted, expected.accepted_over_drafted);
      }
    }
  }
}

}  // namespace

TEST_CASE("staged drafting agrees, in full rounds and with a shorter last round") {
  check_drafter(StagedDrafter{.inner_gamma = 3, .inner_alpha = 0.7, .inner_c = 0.1}, Iid{0.85}, 8);
  check_drafter(StagedDrafter{.inner_gamma = 4, .inner_alpha = 0.4, .inner_c = 0.0}, Iid{0.6}, 12);
  check_drafter(StagedDrafter{.inner_gamma = 2, .inner_alpha = 1.0, .inner_c = 0.5}, Iid{0.95}, 7);
  check_drafter(StagedDrafter{.inner_gamma = 0, .inner_alpha = 0.5, .inner_c = 0.5}, Iid{0.3}, 4);
}

TEST_CASE("several independent drafts agree") {
  for (const std::int64_t drafts : {1, 4, 30}) check_drafter(IndependentDrafts{drafts}, Iid{0.5}, 5);
  check_drafter(IndependentDrafts{3}, Iid{0.9}, 12);
}

TEST_CASE("a horizontal cascade agrees") {
  const HorizontalCascade cascade{{1.0, 1.0, 0.3, 0.05}};
  for (const std::int64_t gamma : {1, 3, 4}) check_drafter(cascade, Positional{{0.9, 0.8, 0.5, 0.4}}, gamma);
}

}  // namespace foredraft
