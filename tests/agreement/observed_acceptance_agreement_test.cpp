// SPDX-License-Identifier: Apache-2.0
// Predictions for other gammas from the counts at one, against runs at those. A run has 400,000 iterations (an n-gram
// pair 200,000), so its tokens per iteration are known to 0.4 % (five standard errors).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <vector>

#include "analytic/observed/acceptance_fit.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/estimates.hpp"
#include "sim/ngram/model.hpp"
#include "sim/simulate.hpp"
#include "sim/token/models/model_pair.hpp"
#include "tests/sim/ngram/generated_text.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {
namespace {

/// The model's error, as ADR 0018 states it for logs of two drafts and of more.
constexpr double goal_from_two = 0.06;
constexpr double goal_from_more = 0.03;

analytic::AcceptanceCluster counts_of(const sim::Tally& tally, std::int64_t gamma) {
  double steps = 0.0;
  for (const std::uint64_t count : tally.tokens_count) steps += static_cast<double>(count);
  analytic::AcceptanceCluster counts{.gamma = gamma, .steps = steps, .accepted_at = {}};
  for (const std::uint64_t accepted : tally.accepted_at) counts.accepted_at.push_back(static_cast<double>(accepted));
  return counts;
}

analytic::AcceptanceFit fit_of(const std::vector<analytic::AcceptanceCluster>& clusters) {
  return std::get<analytic::AcceptanceFit>(analytic::fit_acceptance(clusters, analytic::DrafterClass::text));
}

std::unique_ptr<sim::Simulator> markov(double a, double b, std::int64_t gamma, std::uint64_t iterations) {
  return sim::make_simulator({.fidelity = ProcessFidelity{.acceptance = Markov{.a = a, .b = b}}, .gamma = gamma},
                             {.iterations = iterations});
}

/// An n-gram model is the target; another, trained on `documents` of the same source, drafts.
NgramModels ngram_pair(std::int64_t documents) {
  constexpr std::int64_t vocabulary = 40;
  return {.trained = std::make_shared<const TrainedModels>(TrainedModels{
              .target = ngram::Model::train(tests::generated_documents(vocabulary, 2000, 1), vocabulary, 3),
              .drafter = ngram::ngram_drafter(
                  ngram::Model::train(tests::generated_documents(vocabulary, documents, 2), vocabulary, 3))})};
}

std::unique_ptr<sim::Simulator> ngrams(const NgramModels& pair, std::int64_t gamma, std::uint64_t iterations) {
  return sim::make_simulator({.fidelity = TokenFidelity{.models = pair}, .gamma = gamma}, {.iterations = iterations});
}

/// Checks that the mean of a run lies in the interval, apart from the run's own noise, and that its error is below the
/// goal.
void check_met(const analytic::TokensAtGamma& tokens, const Estimate& run, double goal) {
  CAPTURE(tokens.gamma, tokens.low, tokens.value, tokens.high, run.mean, run.standard_error);
  const double noise = tests::standard_errors * run.standard_error;
  CHECK(tokens.low <= run.mean + noise);
  CHECK(tokens.high >= run.mean - noise);
  CHECK(std::abs(tokens.value - run.mean) <= goal * run.mean + noise);
}

constexpr std::int64_t logged_gammas[] = {2, 3, 5};
constexpr std::int64_t other_gammas[] = {1, 2, 4, 8, 12};

/// Each logged gamma against runs at the others, each run once.
template <class Simulate>
void check_all(const Simulate& simulate) {
  std::vector<Estimate> runs;
  for (const std::int64_t gamma : other_gammas) runs.push_back(sim::tokens_per_iteration(simulate(gamma)));
  for (const std::int64_t logged : logged_gammas) {
    const analytic::AcceptanceFit fit = fit_of({counts_of(simulate(logged), logged)});
    CAPTURE(logged);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      check_met(analytic::tokens_at(fit, other_gammas[i]), runs[i], logged == 2 ? goal_from_two : goal_from_more);
    }
  }
}

}  // namespace

TEST_CASE("the log of a Markov process at one gamma predicts its tokens at others") {
  for (const auto& [a, b] : {std::pair{0.8, 0.3}, {0.6, 0.7}, {0.75, 0.1}}) {
    CAPTURE(a, b);
    check_all([a = a, b = b](std::int64_t gamma) {
      return sim::run(*markov(a, b, gamma, 400'000), {.seed = 7, .point = static_cast<std::uint64_t>(gamma)}, 2);
    });
  }
}

TEST_CASE("the log of an n-gram drafter at one gamma predicts its tokens at others") {
  for (const std::int64_t documents : {20, 300}) {
    CAPTURE(documents);
    const NgramModels pair = ngram_pair(documents);
    check_all([&](std::int64_t gamma) {
      return sim::run(*ngrams(pair, gamma, 200'000), {.seed = 7, .point = static_cast<std::uint64_t>(gamma)}, 2);
    });
  }
}

TEST_CASE("95 % intervals of short logs cover the true value nine times in ten", "[long]") {
  // 200 logs of ten windows of 300 steps. A coverage of 0.95 shows 179 of them or fewer once in 500 times.
  constexpr int logs = 200;
  constexpr int min_covered = 180;
  constexpr std::uint64_t windows = 10;
  constexpr double a = 0.75;
  constexpr double b = 0.4;
  for (const std::int64_t logged : {2, 3, 5}) {
    std::vector<analytic::AcceptanceFit> fits;
    for (std::uint64_t log = 0; log < logs; ++log) {
      std::vector<analytic::AcceptanceCluster> clusters;
      for (std::uint64_t window = 0; window < windows; ++window) {
        clusters.push_back(counts_of(sim::run(*markov(a, b, logged, 300), {.seed = log, .point = window}, 1), logged));
      }
      fits.push_back(fit_of(clusters));
    }
    for (const std::int64_t gamma : {1, 3, 5, 10}) {
      const double truth = analytic::tokens_per_iteration(Markov{a, b}, gamma, Convention::bonus);
      const auto covered = std::count_if(fits.begin(), fits.end(), [&](const analytic::AcceptanceFit& fit) {
        const analytic::TokensAtGamma tokens = analytic::tokens_at(fit, gamma);
        return tokens.low <= truth && truth <= tokens.high;
      });
      CAPTURE(logged, gamma, covered);
      CHECK(covered >= min_covered);
    }
  }
}

TEST_CASE("clusters of dependent iterations give intervals that cover the true value", "[long]") {
  // 60 logs of eight texts each. A coverage of 0.9 shows 45 of them or fewer once in 2,000 times.
  constexpr int logs = 60;
  constexpr int min_covered = 46;
  constexpr std::uint64_t texts = 8;
  constexpr std::uint64_t iterations_of_a_text = 1024;
  const NgramModels pair = ngram_pair(20);
  const auto at_three = ngrams(pair, 3, texts * iterations_of_a_text);
  for (const std::int64_t gamma : {3, 6}) {
    const Estimate truth = sim::tokens_per_iteration(
        sim::run(*ngrams(pair, gamma, 400'000), {.seed = 99, .point = static_cast<std::uint64_t>(gamma)}, 2));
    int covered = 0;
    for (int log = 0; log < logs; ++log) {
      std::vector<analytic::AcceptanceCluster> clusters;
      for (std::uint64_t text = 0; text < at_three->blocks(); ++text) {
        clusters.push_back(
            counts_of(at_three->run_block({.seed = static_cast<std::uint64_t>(log), .point = 5}, text), 3));
      }
      const auto tokens = analytic::tokens_at(fit_of(clusters), gamma);
      covered += tokens.low <= truth.mean && truth.mean <= tokens.high ? 1 : 0;
    }
    CAPTURE(gamma, covered);
    CHECK(covered >= min_covered);
  }
}

}  // namespace foredraft
