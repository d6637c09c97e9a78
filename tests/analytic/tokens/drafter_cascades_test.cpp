// SPDX-License-Identifier: Apache-2.0
// Staged drafting and several independent drafts: closed forms against every outcome of an iteration, and their limits.
#include "analytic/tokens/drafter_cascades.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "foredraft/predict.hpp"
#include "foredraft/scenario.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::second_route;

/// [k - 1]: P(k tokens), from every outcome of the inner drafts of each round and of the target's tests.
std::vector<double> staged_by_enumeration(const StagedDrafter& drafter, double alpha, std::int64_t gamma,
                                          Convention convention) {
  std::vector<double> pmf(static_cast<std::size_t>(max_tokens(gamma, convention)), 0.0);
  const auto verify = [&](std::int64_t drafted, double probability) {
    for (std::int64_t accepted = 0; accepted <= drafted; ++accepted) {
      const double ends = accepted < drafted ? 1.0 - alpha : 1.0;
      const std::int64_t tokens = std::min(accepted + 1, max_tokens(drafted, convention));
      pmf[static_cast<std::size_t>(tokens - 1)] += probability * std::pow(alpha, static_cast<double>(accepted)) * ends;
    }
  };
  const std::function<void(std::int64_t, std::int64_t, double)> draft = [&](std::int64_t left, std::int64_t drafted,
                                                                            double probability) {
    if (left == 0) return verify(drafted, probability);
    const std::int64_t tokens = std::min(left, drafter.inner_gamma + 1);
    double reached = probability;
    for (std::int64_t accepted = 0; accepted < tokens; ++accepted) {
      const double ends = accepted + 1 < tokens ? 1.0 - drafter.inner_alpha : 1.0;
      draft(left - tokens, drafted + accepted + 1, reached * ends);
      reached *= drafter.inner_alpha;
    }
  };
  draft(gamma, 0, 1.0);
  return pmf;
}

double mean_of(const std::vector<double>& pmf) {
  double mean = 0.0;
  for (std::size_t k = 0; k < pmf.size(); ++k) mean += static_cast<double>(k + 1) * pmf[k];
  return mean;
}

Scenario scenario_of(const Drafter& drafter, AcceptanceProcess process, std::int64_t gamma, double c) {
  return {.fidelity = ProcessFidelity{.acceptance = std::move(process)},
          .gamma = gamma,
          .drafter = drafter,
          .cost = ConstantRatio{.c = c}};
}

constexpr Convention both[] = {Convention::bonus, Convention::no_bonus};

}  // namespace

TEST_CASE("staged drafting: tokens and their distribution match an enumeration of all outcomes") {
  for (const Convention convention : both) {
    for (const double alpha : {0.0, 0.3, 0.85, 1.0}) {
      for (const double inner_alpha : {0.0, 0.55, 1.0}) {
        for (const std::int64_t inner_gamma : {0, 1, 3}) {
          for (const std::int64_t gamma : {1, 4, 7, 8}) {
            CAPTURE(alpha, inner_alpha, inner_gamma, gamma, to_string(convention));
            const StagedDrafter drafter{inner_gamma, inner_alpha, 0.1};
            const std::vector<double> expected = staged_by_enumeration(drafter, alpha, gamma, convention);
            CHECK(staged_tokens(drafter, alpha, gamma, convention).tokens ==
                  Approx(mean_of(expected)).epsilon(second_route));
            const std::vector<double> pmf =
                tokens_pmf(staged_tokens_beyond(drafter, alpha, gamma, convention), gamma, convention);
            REQUIRE(pmf.size() == expected.size());
            for (std::size_t k = 0; k < pmf.size(); ++k) CHECK(pmf[k] == Approx(expected[k]).margin(second_route));
          }
        }
      }
    }
  }
}

TEST_CASE("staged drafting in full rounds is the cascade formula, and has its cost") {
  // E = (1 - alpha phi(alpha)^n) / (1 - alpha), S = E / (1 + n c1 + n k c2)
  const auto phi = [](double x, double inner_alpha, std::int64_t k) {
    double sum = std::pow(inner_alpha, static_cast<double>(k)) * std::pow(x, static_cast<double>(k + 1));
    for (std::int64_t j = 1; j <= k; ++j) {
      sum +=
          (1.0 - inner_alpha) * std::pow(inner_alpha, static_cast<double>(j - 1)) * std::pow(x, static_cast<double>(j));
    }
    return sum;
  };
  for (const double alpha : {0.4, 0.8}) {
    for (const std::int64_t rounds : {1, 3}) {
      for (const std::int64_t k : {1, 4}) {
        CAPTURE(alpha, rounds, k);
        const double tokens = (1.0 - alpha * std::pow(phi(alpha, 0.7, k), static_cast<double>(rounds))) / (1.0 - alpha);
        const ClosedForm answer = predict(scenario_of(StagedDrafter{k, 0.7, 0.05}, Iid{alpha}, rounds * (k + 1), 0.2));
        CHECK(answer.tokens_per_iteration == Approx(tokens).epsilon(second_route));
        const double steps = 1.0 + static_cast<double>(rounds) * (0.2 + static_cast<double>(k) * 0.2 * 0.05);
        CHECK(answer.speedup == Approx(tokens / steps).epsilon(second_route));
      }
    }
  }
}

TEST_CASE("staged drafting has the limits of one drafter") {
  for (const Convention convention : both) {
    for (const double alpha : {0.25, 0.9, 1.0 - 1e-14, 1.0}) {
      CAPTURE(alpha, to_string(convention));
      const double flat = tokens_per_iteration({alpha, 12, convention});
      // All inner drafts are accepted, or there are none and each round is a draft step.
      CHECK(staged_tokens({3, 1.0, 0.1}, alpha, 12, convention).tokens == Approx(flat).epsilon(second_route));
      CHECK(staged_tokens({0, 0.0, 0.1}, alpha, 12, convention).tokens == Approx(flat).epsilon(second_route));
      CHECK(staged_tokens({3, 1.0, 0.1}, alpha, 12, convention).mean_gamma == Approx(12.0));
      // A round whose inner drafts are never accepted is one token.
      CHECK(staged_tokens({3, 0.0, 0.1}, alpha, 12, convention).tokens ==
            Approx(tokens_per_iteration({alpha, 3, convention})).epsilon(second_route));
      CHECK(staged_tokens({3, 0.0, 0.1}, alpha, 12, convention).mean_gamma == Approx(3.0));
    }
  }
  const auto flat = predict(scenario_of(AutoregressiveDrafter{}, Iid{0.8}, 5, 0.1));
  CHECK(predict(scenario_of(StagedDrafter{0, 0.5, 0.5}, Iid{0.8}, 5, 0.1)).speedup ==
        Approx(flat.speedup).epsilon(second_route));
}

TEST_CASE("the longest of independent drafts yields the tokens of the formula, and has its limits") {
  const auto tokens = [](double alpha, std::int64_t gamma, std::int64_t drafts) {
    return predict(scenario_of(IndependentDrafts{drafts}, Iid{alpha}, gamma, 0.0)).tokens_per_iteration;
  };
  for (const double alpha : {0.0, 0.3, 0.9, 1.0}) {
    for (const std::int64_t gamma : {1, 4, 9}) {
      for (const std::int64_t drafts : {1, 2, 15}) {
        CAPTURE(alpha, gamma, drafts);
        double expected = static_cast<double>(gamma + 1);
        for (std::int64_t i = 1; i <= gamma; ++i) {
          expected -= std::pow(1.0 - std::pow(alpha, static_cast<double>(i)), static_cast<double>(drafts));
        }
        CHECK(tokens(alpha, gamma, drafts) == Approx(expected).epsilon(second_route));
      }
      CHECK(tokens(alpha, gamma, 1) ==
            Approx(tokens_per_iteration({alpha, gamma, Convention::bonus})).epsilon(second_route));
    }
  }
  CHECK(marginal_of_longest(std::vector{0.5, 0.1}, 4096).front() == Approx(1.0).epsilon(second_route));
  CHECK(tokens(0.6, 3, max_independent_drafts) == Approx(4.0).epsilon(second_route));
}

TEST_CASE("verification grows by every token of every independent draft") {
  const auto steps = [](std::int64_t drafts, Convention convention) {
    Scenario scenario = scenario_of(IndependentDrafts{drafts}, Iid{0.7}, 4, 0.02);
    scenario.cost = ConstantRatio{.c = 0.02, .verify_growth = 0.01};
    scenario.convention = convention;
    const ClosedForm answer = predict(scenario);
    return answer.tokens_per_iteration / answer.speedup;
  };
  CHECK(steps(5, Convention::bonus) == Approx(1.0 + 0.01 * 20 + 0.02 * 4).epsilon(second_route));
  CHECK(steps(5, Convention::no_bonus) == Approx(1.0 + 0.01 * 19 + 0.02 * 4).epsilon(second_route));
}

TEST_CASE("drafts that cost nothing have no best length, for any drafter") {
  const std::vector<Drafter> drafters{AutoregressiveDrafter{}, BlockDrafter{.decay = 0.8}, IndependentDrafts{3},
                                      MlpSpeculator{.decay = 0.8, .recovery = 0.5}};
  for (const Drafter& drafter : drafters) {
    CAPTURE(drafter.index());
    const BestDraftLength free = best_draft_length(scenario_of(drafter, Iid{0.7}, 4, 0.0));
    CHECK_FALSE(free.gamma.has_value());
    CHECK(free.speedup == Approx(predict(scenario_of(drafter, Iid{0.7}, 500, 0.0)).speedup).epsilon(second_route));
    // Drafts that are never accepted are not worth drafting.
    CHECK(best_draft_length(scenario_of(drafter, Iid{0.0}, 4, 0.0)).gamma == 0);
  }
  for (const Drafter& drafter : {drafters[0], drafters[2], drafters[3]}) {
    CHECK(best_draft_length(scenario_of(drafter, Iid{0.7}, 4, 1e-6)).gamma.has_value());
    Scenario verified = scenario_of(drafter, Iid{0.7}, 4, 0.0);
    verified.cost = ConstantRatio{.c = 0.0, .verify_growth = 1e-3};
    CHECK(best_draft_length(verified).gamma.has_value());
  }
}

TEST_CASE("the window of lookahead decoding is a cost of drafting: W positions for each depth") {
  // [Fu2024]: W windows and G n-grams of N - 1 tokens each in a pass.
  constexpr std::int64_t window = 5, ngrams = 4, order = 4;
  constexpr double growth = 0.01;
  Scenario scenario = scenario_of(IndependentDrafts{ngrams}, Iid{0.6}, order - 1, 0.0);
  scenario.cost = ConstantRatio{.c = window * growth, .verify_growth = growth};
  const ClosedForm answer = predict(scenario);
  CHECK(answer.tokens_per_iteration / answer.speedup ==
        Approx(1.0 + growth * (window + ngrams) * (order - 1)).epsilon(second_route));
}

TEST_CASE("a horizontal cascade costs the sum of its parts, and its best length is the best of all") {
  const std::vector<double> conditional{0.9, 0.6, 0.55, 0.5};
  const std::vector<double> costs{1.0, 0.2, 1.0, 0.1};
  double best = 0.0;
  for (std::int64_t gamma = 0; gamma <= 4; ++gamma) {
    CAPTURE(gamma);
    double tokens = 1.0;
    double steps = 1.0;
    double marginal = 1.0;
    for (std::size_t i = 0; std::cmp_less(i, gamma); ++i) {
      marginal *= conditional[i];
      tokens += marginal;
      steps += 0.3 * costs[i];
    }
    best = std::max(best, tokens / steps);
    const ClosedForm answer = predict(scenario_of(HorizontalCascade{costs}, Positional{conditional}, gamma, 0.3));
    CHECK(answer.tokens_per_iteration == Approx(tokens).epsilon(second_route));
    CHECK(answer.speedup == Approx(tokens / steps).epsilon(second_route));
  }
  const auto found = best_draft_length(scenario_of(HorizontalCascade{costs}, Positional{conditional}, 1, 0.3));
  CHECK(found.gamma == 2);  // the fourth draft would gain, but not with the cost of the third
  CHECK(found.speedup == Approx(best).epsilon(second_route));
}

TEST_CASE("a staged drafter returns what its draft model reaches alone") {
  const Scenario staged = scenario_of(StagedDrafter{3, 0.7, 0.02}, Iid{0.8}, 8, 0.2);
  const ClosedForm answer = predict(staged);
  const auto alone = best_draft_length(scenario_of(AutoregressiveDrafter{}, Iid{0.8}, 1, 0.2));
  CHECK(answer.best_gamma == static_cast<double>(alone.gamma.value()));
  CHECK(answer.best_speedup == Approx(alone.speedup).epsilon(second_route));
  CHECK(answer.speedup > answer.best_speedup);
}

}  // namespace foredraft::analytic
