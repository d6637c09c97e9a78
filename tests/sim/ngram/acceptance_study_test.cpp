// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/acceptance_study.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "foredraft/errors.hpp"
#include "sim/ngram/speculation.hpp"
#include "tests/sim/ngram/exact_chain.hpp"
#include "tests/sim/ngram/generated_text.hpp"
#include "tests/support/estimates.hpp"

namespace foredraft::ngram {
namespace {

/// A bigram target and a drafter of `draft_order`, which ExactChain can compute exactly.
AcceptanceStudy small_study(int draft_order, double temperature, std::uint64_t tokens) {
  return {.target = Model::train(tests::generated_documents(tests::generated_vocabulary, 100, 1),
                                 tests::generated_vocabulary, 2),
          .drafter = ngram_drafter(Model::train(tests::generated_documents(tests::generated_vocabulary, 4, 2),
                                                tests::generated_vocabulary, draft_order)),
          .index = 0,
          .temperature = temperature,
          .tokens = tokens};
}

/// Accepted drafts per position: the same expectation as alpha, with the noise of verification.
Estimate accepted_share(const StudyTally& tally) {
  std::array<double, StudyTally::quantity_count> accepted{};
  std::array<double, StudyTally::quantity_count> positions{};
  accepted[StudyTally::accepted] = 1.0;
  positions[StudyTally::positions] = 1.0;
  return ratio_estimate(tally.units, accepted, positions);
}

}  // namespace

TEST_CASE("alpha of a study at temperature 1 is that of the exact sum over contexts") {
  // 400,000 tokens detect an error of 0.004 in alpha.
  for (const int order : {1, 2}) {
    const AcceptanceStudy study = small_study(order, 1.0, 400'000);
    const StudyTally tally = run_acceptance_study(study, {.seed = 1, .point = 0}, 2);
    const double exact = tests::ExactChain(*study.target, *study.drafter.models.front()).alpha();
    tests::check_estimate(alpha(tally), exact);
    tests::check_estimate(accepted_share(tally), exact);
    CHECK(alpha(tally).standard_error < 0.0008);
    CHECK(alpha(tally).standard_error < accepted_share(tally).standard_error);
  }
}

TEST_CASE("the chain fitted by a study is that of the exact sum over contexts") {
  // Acceptances in clusters: 0.65 after an acceptance, 0.25 after a rejection. An error of 0.03 in either is detected.
  const AcceptanceStudy study{
      .target = Model::train(tests::two_regime_documents(20, 1), tests::generated_vocabulary, 2),
      .drafter = ngram_drafter(Model::train(tests::two_regime_documents(1, 2), tests::generated_vocabulary, 1)),
      .index = 0,
      .temperature = 1.0,
      .tokens = 400'000};
  const StudyTally tally = run_acceptance_study(study, {.seed = 1, .point = 0}, 2);
  const tests::ExactChain exact(*study.target, *study.drafter.models.front());
  tests::check_estimate(accept_after_acceptance(tally), exact.accept_after_acceptance());
  tests::check_estimate(accept_after_rejection(tally), exact.accept_after_rejection());
  REQUIRE(exact.accept_after_acceptance() - exact.accept_after_rejection() > 0.3);
}

TEST_CASE("alpha of a study at temperature 0 is the exact share of equal choices along greedy text") {
  const AcceptanceStudy study = small_study(2, 0.0, 200'000);
  const StudyTally tally = run_acceptance_study(study, {.seed = 1, .point = 0}, 2);
  const double exact =
      tests::ExactChain(*study.target, *study.drafter.models.front()).greedy_alpha(Prompts::passage_tokens);
  REQUIRE(exact > 0.05);
  REQUIRE(exact < 0.95);
  tests::check_estimate(alpha(tally), exact);
  CHECK(alpha(tally).mean == accepted_share(tally).mean);
}

TEST_CASE("a study has one run per rejection, as long as the acceptances after it") {
  // Runs of about 300 acceptances: omitting those that are cut off by the end of a text of 2,048 tokens would shorten
  // their mean by a quarter, ten standard errors.
  AcceptanceStudy study = small_study(2, 1.0, 400'000);
  study.drafter = ngram_drafter(
      Model::train(tests::generated_documents(tests::generated_vocabulary, 99, 1), tests::generated_vocabulary, 2));
  const StudyTally tally = run_acceptance_study(study, {.seed = 2, .point = 0}, 2);
  double runs = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t r = 0; r < tally.runs.size(); ++r) {
    const auto times = static_cast<double>(tally.runs[r]);
    runs += times;
    sum += times * static_cast<double>(r);
    squares += times * static_cast<double>(r * r);
  }
  CHECK(runs == static_cast<double>(tally.units.sum(StudyTally::positions) - tally.units.sum(StudyTally::accepted)));
  const double mean = sum / runs;
  const double exact = tests::ExactChain(*study.target, *study.drafter.models.front()).alpha();
  tests::check_estimate({mean, std::sqrt((squares / runs - mean * mean) / runs)}, exact / (1.0 - exact));
  CHECK(run_acceptance_study(small_study(2, 0.0, 3000), {.seed = 2, .point = 0}, 2).runs.empty());
}

TEST_CASE("the accuracy of a head or a stage along the target's text equals the exact sum over contexts") {
  // 400,000 tokens detect an error of 0.004 in an accuracy. The distribution of c, the last token seen, and y, the one
  // before the draft, two places on, is stationary(c) (P P)(c, y).
  for (const bool sees_before : {false, true}) {
    AcceptanceStudy study = small_study(2, 1.0, 400'000);
    const auto documents = tests::generated_documents(tests::generated_vocabulary, 12, 2);
    std::vector<std::shared_ptr<const Model>> models;
    for (int i = 1; i <= 3; ++i) {
      models.push_back(
          Model::train(documents, tests::generated_vocabulary, sees_before ? stage_window(2, i) : head_window(2, i)));
    }
    study.drafter = sees_before ? stages(models) : heads(models);
    study.index = 2;
    const double exact = tests::ExactChain(*study.target, *models.front()).alpha_after(2, [&](Token c, Token y) {
      std::vector<double> q(tests::generated_vocabulary);
      models[2]->distribution(sees_before ? std::vector<Token>{c, y} : std::vector<Token>{c}, q);
      return q;
    });
    tests::check_estimate(alpha(run_acceptance_study(study, {.seed = 1, .point = 0}, 2)), exact);
  }
}

TEST_CASE("a run many times as long as a text is read to its end") {
  // About 3,000 acceptances per run.
  AcceptanceStudy study = small_study(2, 1.0, 200'000);
  study.target =
      Model::train(tests::generated_documents(tests::generated_vocabulary, 2000, 1), tests::generated_vocabulary, 2);
  study.drafter = ngram_drafter(
      Model::train(tests::generated_documents(tests::generated_vocabulary, 1995, 1), tests::generated_vocabulary, 2));
  const StudyTally tally = run_acceptance_study(study, {.seed = 2, .point = 0}, 2);
  std::int64_t runs = 0;
  for (const std::uint64_t times : tally.runs) runs += static_cast<std::int64_t>(times);
  CHECK(runs == tally.units.sum(StudyTally::positions) - tally.units.sum(StudyTally::accepted));
  CHECK(runs > 10);
  CHECK(tally.runs.size() > 2 * 2048 + 1);
}

TEST_CASE("positions of different texts are not neighbors") {
  const auto transitions = [](const StudyTally& tally) {
    return tally.units.sum(StudyTally::after_acceptance_accepted) +
           tally.units.sum(StudyTally::after_acceptance_rejected) +
           tally.units.sum(StudyTally::after_rejection_accepted) +
           tally.units.sum(StudyTally::after_rejection_rejected);
  };
  constexpr std::int64_t tokens = 3 * 2048;
  const sim::RunKey key{.seed = 2, .point = 0};
  CHECK(transitions(run_acceptance_study(small_study(2, 1.0, tokens), key, 1)) == tokens - 3);
  CHECK(transitions(run_acceptance_study(small_study(2, 0.0, tokens), key, 1)) ==
        tokens - tokens / Prompts::passage_tokens);
}

TEST_CASE("a study counts every token once and is the same on any number of threads") {
  const AcceptanceStudy study = small_study(2, 1.0, 10'001);
  const StudyTally one = run_acceptance_study(study, {.seed = 3, .point = 1}, 1);
  CHECK(one == run_acceptance_study(study, {.seed = 3, .point = 1}, 7));
  CHECK_FALSE(one == run_acceptance_study(study, {.seed = 4, .point = 1}, 1));
  CHECK_FALSE(one == run_acceptance_study(study, {.seed = 3, .point = 2}, 1));
  CHECK(one.units.count() == 5);
  CHECK(one.units.sum(StudyTally::positions) == 10'001);
}

TEST_CASE("a study rejects models that do not belong together, other temperatures and an empty task") {
  AcceptanceStudy study = small_study(2, 1.0, 100);
  const auto problem = [](const AcceptanceStudy& bad) { (void)run_acceptance_study(bad, {.seed = 1, .point = 0}, 1); };
  study.temperature = 0.5;
  CHECK_THROWS_WITH(problem(study), Catch::Contains("temperature=0.5") && Catch::Contains("0 or 1"));
  study.temperature = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(problem(study), DomainError);
  study.temperature = 1.0;
  study.index = 1;
  study.drafter = heads(study.drafter.models);
  CHECK_THROWS_WITH(problem(study), Catch::Contains("gamma=2 (must be at most the number of models that draft, 1)"));
  study.index = 0;
  study.tokens = 0;
  CHECK_THROWS_WITH(problem(study), Catch::Contains("tokens=0"));
  study.tokens = (std::uint64_t{1} << 63U) + 5;
  CHECK_THROWS_WITH(problem(study), Catch::Contains("tokens=9223372036854775813 (must lie in 1 to 4398046511104)"));
  study.tokens = 100;
  study.drafter = ngram_drafter(Model::train(tests::generated_documents(11, 20, 2), 11, 2));
  CHECK_THROWS_WITH(problem(study), Catch::Contains("draft.vocabulary=11"));
  study.drafter = ngram_drafter(nullptr);
  CHECK_THROWS_WITH(problem(study), Catch::Contains("models=null"));
}

}  // namespace foredraft::ngram
