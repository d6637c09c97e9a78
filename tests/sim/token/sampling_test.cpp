// SPDX-License-Identifier: Apache-2.0
// Temperature and truncation, each of the target and of the drafter.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "foredraft/lossiness.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

std::vector<double> drawn_from(std::vector<double> row, const Sampling& sampling) {
  apply_sampling(row, sampling);
  return row;
}

/// Settings that change one side, both, or everything.
std::vector<TokenFidelity> samplings(const Models& models) {
  const TokenFidelity plain{.models = models};
  std::vector<TokenFidelity> all(6, plain);
  all[0].draft_temperature = 0.0;
  all[1].draft_temperature = 0.5;
  all[2].truncation = {.top_k = 2};
  all[3].draft_truncation = {.top_p = 0.6};
  all[4].temperature = 0.7;
  all[4].truncation = {.top_k = 4, .top_p = 0.8};
  all[4].draft_temperature = 1.5;
  all[4].draft_truncation = {.top_k = 3};
  all[5].temperature = 0.0;
  all[5].draft_temperature = 1.0;
  return all;
}

double mean_overlap(const GivenDistributions& given) {
  double sum = 0.0;
  for (std::size_t k = 0; k < given.target.size(); ++k) sum += overlap(given.target[k], given.draft[k]);
  return sum / static_cast<double>(given.target.size());
}

}  // namespace

TEST_CASE("truncation keeps the most probable tokens, first by rank, then by their total, and all that are tied") {
  const std::vector<double> row{0.1, 0.4, 0.3, 0.2};
  CHECK(drawn_from(row, {}) == row);
  CHECK(drawn_from(row, {.truncation = {.top_k = 4}}) == row);
  CHECK(drawn_from(row, {.truncation = {.top_k = 1}}) == std::vector<double>{0.0, 1.0, 0.0, 0.0});
  const std::vector<double> two = drawn_from(row, {.truncation = {.top_k = 2}});
  CHECK(two[1] == Approx(4.0 / 7.0).epsilon(tests::few_ulp));
  CHECK(two[2] == Approx(3.0 / 7.0).epsilon(tests::few_ulp));
  CHECK(two[0] + two[3] == 0.0);
  CHECK(drawn_from(row, {.truncation = {.top_p = 0.6}}) == two);
  CHECK(drawn_from(row, {.truncation = {.top_p = 1e-9}}) == std::vector<double>{0.0, 1.0, 0.0, 0.0});
  // Of the best three, 4/9 and 3/9 reach 0.7; of all, 0.4 and 0.3 would not reach 0.75.
  CHECK(drawn_from(row, {.truncation = {.top_k = 3, .top_p = 0.75}}) == two);
  CHECK(drawn_from({0.25, 0.25, 0.25, 0.25}, {.truncation = {.top_k = 1, .top_p = 0.1}}) ==
        std::vector<double>(4, 0.25));
  // Temperature 1/2 squares: 0.16 of 0.30 is more than half.
  CHECK(drawn_from(row, {.temperature = 0.5, .truncation = {.top_p = 0.5}}) == std::vector<double>{0.0, 1.0, 0.0, 0.0});
}

TEST_CASE("temperature and truncation of either model match its written rows, given or synthetic") {
  const std::vector<Models> all{tests::given(tests::three_contexts()), tests::small_pair()};
  for (const Models& models : all) {
    for (const TokenFidelity& token : samplings(models)) {
      const TokenSampling sampling = sampling_of(token);
      CAPTURE(models.index(), token.temperature, sampling.draft.temperature, token.truncation.top_k,
              token.truncation.top_p, token.draft_truncation.top_k, token.draft_truncation.top_p);
      GivenDistributions written = tests::three_contexts();
      if (const auto* pair = std::get_if<SyntheticModels>(&models)) {
        written = written_out(SyntheticPool(*pair, 1));
      }
      for (std::vector<double>& row : written.target) apply_sampling(row, sampling.target);
      for (std::vector<double>& row : written.draft) apply_sampling(row, sampling.draft);
      const Scenario scenario{.fidelity = token, .gamma = 3};
      const double alpha = mean_overlap(written);
      CHECK(lossiness(scenario).acceptance.mean == Approx(alpha).epsilon(tests::second_route).margin(tests::few_ulp));
      const Estimate found = simulate(scenario, {.iterations = 50'000}).estimates.per_token;
      CHECK(std::abs(found.mean - alpha) <= tests::standard_errors * found.standard_error + tests::few_ulp);
      const auto emitted = emitted_distributions(scenario);
      for (std::size_t k = 0; k < emitted.size(); ++k) {
        for (std::size_t x = 0; x < emitted[k].size(); ++x) {
          CHECK(std::abs(emitted[k][x] - written.target[k][x]) < tests::second_route);
        }
      }
    }
  }
}

// The pool of 400 contexts has a standard error of its own, which hides differences up to 0.06.
TEST_CASE("fresh contexts have the temperature and truncation of a pool") {
  SyntheticModels pair = tests::small_pair();
  pair.pool = 400;
  for (const DraftDistribution draft :
       {DraftDistribution::noise, DraftDistribution::temperature, DraftDistribution::mixing}) {
    pair.draft = draft;
    for (TokenFidelity token : samplings(pair)) {
      const TokenSampling sampling = sampling_of(token);
      CAPTURE(static_cast<int>(draft), token.temperature, sampling.draft.temperature, token.truncation.top_k,
              token.truncation.top_p, token.draft_truncation.top_k, token.draft_truncation.top_p);
      const Lossiness pooled = lossiness({.fidelity = token, .gamma = 1});
      std::get<SyntheticModels>(token.models).contexts = Contexts::fresh;
      const Estimate fresh = simulate({.fidelity = token, .gamma = 1}, {.iterations = 20'000}).estimates.per_token;
      const double error = std::hypot(pooled.acceptance.standard_error, fresh.standard_error);
      CHECK(std::abs(fresh.mean - pooled.acceptance.mean) <= tests::standard_errors * error + tests::few_ulp);
    }
  }
}

TEST_CASE("an argmax draft is accepted with the target's probability of it, and a sampled one more often at equal p") {
  const std::vector<double> p{0.2, 0.5, 0.3};
  TokenFidelity token{.models = tests::given({.target = {p}, .draft = {p}})};
  CHECK(lossiness({.fidelity = token, .gamma = 1}).acceptance.mean == Approx(1.0).epsilon(tests::few_ulp));
  token.draft_temperature = 0.0;
  CHECK(lossiness({.fidelity = token, .gamma = 1}).acceptance.mean == Approx(0.5).epsilon(tests::few_ulp));
}

TEST_CASE("temperatures and truncations are checked, and rejected for rules given as rows and for text") {
  using Change = std::function<void(TokenFidelity&)>;
  const auto message = [](const Change& change) {
    TokenFidelity token{.models = tests::given(tests::three_contexts())};
    change(token);
    return whole_rejection<DomainError>([&] { return lossiness({.fidelity = token, .gamma = 1}); });
  };
  CHECK(message([](TokenFidelity& token) {
          token.draft_temperature = -1.0;
        }).starts_with("invalid draft_temperature=-1"));
  CHECK(message([](TokenFidelity& token) {
          token.draft_temperature = 1e-9;
        }).starts_with("invalid draft_temperature=1e-09"));
  CHECK(message([](TokenFidelity& token) {
          token.draft_temperature = NAN;
        }).starts_with("invalid draft_temperature=nan"));
  CHECK(message([](TokenFidelity& token) { token.truncation.top_k = -1; }).starts_with("invalid top_k=-1"));
  CHECK(message([](TokenFidelity& token) { token.truncation.top_p = 0.0; }).starts_with("invalid top_p=0"));
  CHECK(message([](TokenFidelity& token) {
          token.draft_truncation.top_k = 1 << 30;
        }).starts_with("invalid draft_top_k="));
  CHECK(
      message([](TokenFidelity& token) { token.draft_truncation.top_p = 1.5; }).starts_with("invalid draft_top_p=1.5"));
  const auto with_rule = [](const Change& change) -> Change {
    return [change](TokenFidelity& token) {
      GivenDistributions given = tests::three_contexts();
      given.acceptance = given.target;
      given.replacement = given.target;
      token.models = tests::given(given);
      change(token);
    };
  };
  CHECK(message(with_rule([](TokenFidelity&) {})) == "");
  CHECK(message(with_rule([](TokenFidelity& token) {
          token.draft_temperature = 0.5;
        })).starts_with("invalid draft_temperature"));
  CHECK(
      message(with_rule([](TokenFidelity& token) { token.truncation.top_p = 0.5; })).starts_with("invalid top_p=0.5"));
  CHECK(message(with_rule([](TokenFidelity& token) {
          token.draft_truncation.top_k = 5;
        })).starts_with("invalid draft_top_k=5"));
  CHECK(message([](TokenFidelity& token) {
          token.models = NgramModels{};
          token.truncation.top_k = 3;
        }).find("invalid top_k=3 (not used with n-gram models") != std::string::npos);
}

}  // namespace foredraft::sim
