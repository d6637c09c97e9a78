// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/token_budget.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

/// Passes in tiles of four tokens, twice as expensive beyond eight.
double tiled(std::int64_t tokens) {
  const double tiles = std::ceil(static_cast<double>(tokens) / 4.0);
  return 3.0 + tiles + std::max(tiles - 2.0, 0.0);
}
double smooth(std::int64_t tokens) { return 10.0 + static_cast<double>(tokens); }
double free_tokens(std::int64_t /*tokens*/) { return 5.0; }

/// Each of `requests` with up to `longest` drafts; some have none, some probabilities are equal or 0.
Survival random_survival(std::size_t requests, std::size_t longest, RandomStream& random) {
  Survival survival(requests);
  for (auto& request : survival) {
    double accepted = 1.0;
    const auto drafts = static_cast<std::size_t>(random.uniform() * static_cast<double>(longest + 1));
    for (std::size_t i = 0; i < drafts; ++i) {
      accepted *= std::round(8.0 * random.uniform()) / 8.0;
      request.push_back(accepted);
    }
  }
  return survival;
}

double rate_of(const Survival& survival, const std::vector<std::int64_t>& verified, const BudgetTime& time) {
  double tokens = 0.0;
  auto positions = static_cast<std::int64_t>(survival.size());
  for (std::size_t request = 0; request < survival.size(); ++request) {
    tokens += 1.0;
    positions += verified[request];
    for (std::int64_t i = 0; i < verified[request]; ++i) tokens += survival[request][static_cast<std::size_t>(i)];
  }
  return tokens / time(positions);
}

/// The best over all choices of drafts for each request.
double best_of_all(const Survival& survival, const BudgetTime& time) {
  std::vector<std::int64_t> verified(survival.size());
  double best = 0.0;
  for (std::size_t request = 0; request < survival.size();) {
    best = std::max(best, rate_of(survival, verified, time));
    for (request = 0; request < survival.size(); ++request) {
      if (++verified[request] <= static_cast<std::int64_t>(survival[request].size())) break;
      verified[request] = 0;
    }
  }
  return best;
}

}  // namespace

TEST_CASE("a token budget is spent like the best of all allocations, and never worse than one draft length") {
  RandomStream random(11, {.purpose = Purpose::test, .point = 0, .block = 0});
  for (std::size_t requests = 1; requests <= 4; ++requests) {
    for (int draw = 0; draw < 50; ++draw) {
      const Survival survival = random_survival(requests, 4, random);
      for (const BudgetTime& time : {BudgetTime(tiled), BudgetTime(smooth), BudgetTime(free_tokens)}) {
        const TokenBudget found = best_budget(survival, time);
        CHECK(found.rate == Approx(best_of_all(survival, time)).epsilon(tests::second_route));
        CHECK(found.rate == Approx(rate_of(survival, found.verified, time)).epsilon(tests::second_route));
        const TokenBudget fixed = best_fixed(survival, time);
        CHECK(fixed.rate == Approx(rate_of(survival, fixed.verified, time)).epsilon(tests::second_route));
        CHECK(found.rate >= fixed.rate * (1.0 - tests::second_route));
      }
    }
  }
}

TEST_CASE("equal requests get the same budget up to one incomplete layer, and hopeless drafts get none") {
  const std::vector<double> chances{0.75, 0.5, 0.25, 0.125};
  const TokenBudget equal = best_budget(Survival(6, chances), tiled);
  const auto [least, most] = std::ranges::minmax(equal.verified);
  CHECK(most - least <= 1);
  // 6 (1 + 0.75) / (10 + 12), 6 (1 + 0.75 + 0.5) / (10 + 18), 6 (2.5) / (10 + 24): the second.
  const TokenBudget fixed = best_fixed(Survival(6, chances), smooth);
  CHECK(fixed.verified == std::vector<std::int64_t>(6, 2));
  CHECK(fixed.tokens == Approx(13.5).epsilon(tests::few_ulp));
  CHECK(fixed.rate == Approx(13.5 / 28.0).epsilon(tests::few_ulp));
  CHECK(best_budget({{0.5, 0.0}, {}}, free_tokens).verified == std::vector<std::int64_t>{1, 0});
}

TEST_CASE("a budget rejects invalid probabilities and times") {
  CHECK_THROWS_AS(best_budget({}, smooth), DomainError);
  CHECK_THROWS_AS(best_budget({{0.5, 0.6}}, smooth), DomainError);
  CHECK_THROWS_AS(best_fixed({{1.5}}, smooth), DomainError);
  CHECK_THROWS_AS(best_fixed({{std::numeric_limits<double>::quiet_NaN()}}, smooth), DomainError);
  CHECK_THROWS_AS(best_budget({{0.5}}, [](std::int64_t) { return 0.0; }), DomainError);
}

}  // namespace foredraft::analytic
