// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/acceptance_counts.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "analytic/tokens/token_count.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::second_route;

/// Shares of accepted drafts from a chain over iterations. Its state is the start of the iteration: after a rejection,
/// or inside a run of either kind. Solved by powers of the chain, without sums over whole runs.
std::vector<double> shares_by_iterations(const Runs& acceptance, int gamma) {
  constexpr int many_iterations = 4000;
  const double odds = acceptance.a / (1 - acceptance.a);
  std::array<double, 2> persistence{};
  std::array<double, 2> over_bonus{};
  for (const std::size_t kind : {0U, 1U}) {
    const double kind_odds = odds * std::exp(kind == 0 ? acceptance.spread : -acceptance.spread);
    persistence.at(kind) = kind_odds / (1 + kind_odds);
    over_bonus.at(kind) = acceptance.rho * kind_odds / (1 + acceptance.rho * kind_odds);
  }
  std::array<double, 2> in_run{0.0, 0.0};
  std::vector<double> shares;
  for (int iteration = 0; iteration < many_iterations; ++iteration) {
    shares.assign(static_cast<std::size_t>(gamma), 0.0);
    const double after_rejection = 1.0 - in_run[0] - in_run[1];
    for (const std::size_t kind : {0U, 1U}) {
      double reached = 0.5 * after_rejection * acceptance.b + in_run.at(kind) * over_bonus.at(kind);
      for (double& share : shares) {
        share += reached;
        in_run.at(kind) = reached * over_bonus.at(kind);
        reached *= persistence.at(kind);
      }
    }
  }
  return shares;
}

}  // namespace

TEST_CASE("a run model without spread and fresh features is the Markov closed form") {
  for (const double a : {0.0, 0.3, 0.8, 0.999, 1.0}) {
    for (const double b : {0.05, 0.6, 1.0}) {
      for (const std::int64_t gamma : {0, 1, 2, 5, 40}) {
        CAPTURE(a, b, gamma);
        const double expected = tokens_per_iteration(Markov{a, b}, gamma, Convention::bonus);
        CHECK(std::abs(tokens_per_iteration(Runs{.a = a, .b = b}, gamma) - expected) <= second_route * expected);
      }
    }
  }
}

TEST_CASE("accepted shares of runs are those of the chain over iterations") {
  for (const double spread : {0.0, 0.6, 2.0}) {
    for (const double rho : {0.7, 1.0, 3.0}) {
      for (const int gamma : {1, 2, 6}) {
        CAPTURE(spread, rho, gamma);
        const Runs acceptance{.a = 0.7, .b = 0.4, .spread = spread, .rho = rho};
        const std::vector<double> shares = accepted_shares(acceptance, gamma);
        const std::vector<double> expected = shares_by_iterations(acceptance, gamma);
        for (std::size_t i = 0; i < shares.size(); ++i) CHECK(std::abs(shares[i] - expected[i]) < second_route);
      }
    }
  }
}

TEST_CASE("the run model has finite values at the limits of its range") {
  CHECK(tokens_per_iteration(Runs{.a = 1.0, .b = 1.0, .spread = 0.6, .rho = 2.0}, 7) == 8.0);
  CHECK(tokens_per_iteration(Runs{.a = 1.0, .b = 0.01, .spread = 0.6}, 7) == 8.0);
  CHECK(tokens_per_iteration(Runs{.a = 0.5, .b = 0.0, .spread = 0.6}, 7) == 1.0);
  CHECK(accepted_shares({.a = 0.0, .b = 0.25, .spread = 0.6}, 3) == std::vector{0.25, 0.0, 0.0});
  CHECK(std::isnan(tokens_per_iteration(Runs{.a = 1.0, .b = 0.0}, 3)));
  // Shares of the same iterations can only fall, and lie in [0, 1].
  for (const double spread : {0.0, 1.0, 800.0}) {
    for (const double a : {1e-12, 0.5, 1.0 - 1e-12}) {
      CAPTURE(spread, a);
      const std::vector<double> shares = accepted_shares({.a = a, .b = 0.5, .spread = spread, .rho = 1e6}, 50);
      CHECK(std::is_sorted(shares.rbegin(), shares.rend()));
      CHECK(shares.back() >= 0.0);
      CHECK(shares.front() <= 1.0 + few_ulp);
    }
  }
}

TEST_CASE("parameters outside of the run model are rejected") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(accepted_shares({.a = 1.1, .b = 0.5}, 2), DomainError);
  CHECK_THROWS_AS(accepted_shares({.a = 0.5, .b = nan}, 2), DomainError);
  CHECK_THROWS_AS(accepted_shares({.a = 0.5, .b = 0.5, .spread = -1.0}, 2), DomainError);
  CHECK_THROWS_AS(accepted_shares({.a = 0.5, .b = 0.5, .rho = 0.0}, 2), DomainError);
  CHECK_THROWS_AS(accepted_shares({.a = 0.5, .b = 0.5}, -1), DomainError);
  CHECK_THROWS_AS(tokens_left_open(3.1, 2, 5), DomainError);
  CHECK_THROWS_AS(tokens_left_open(nan, 2, 5), DomainError);
}

TEST_CASE("the range of tokens at another gamma contains every chain of runs") {
  for (const double a : {0.0, 0.2, 0.5, 0.9, 1.0}) {
    for (const double b : {0.05, 0.5, 0.95}) {
      for (const double spread : {0.0, 2.0}) {
        for (const std::int64_t logged : {1, 3, 8}) {
          for (const std::int64_t gamma : {0, 1, 2, 5, 12}) {
            CAPTURE(a, b, spread, logged, gamma);
            const Runs acceptance{.a = a, .b = b, .spread = spread};
            const TokenBounds open = tokens_left_open(tokens_per_iteration(acceptance, logged), logged, gamma);
            const double tokens = tokens_per_iteration(acceptance, gamma);
            CHECK(open.low <= tokens + second_route);
            CHECK(tokens <= open.high + second_route);
          }
        }
      }
    }
  }
}

TEST_CASE("the range of tokens at another gamma is reached by patterns") {
  // One rejection in three, evenly spaced: 2 tokens per iteration at gamma 1 (a rejection costs two iterations of
  // gamma 1 and yields 3 tokens: 1.5), 3 at gamma 2 and beyond, twice the 1.5.
  const TokenBounds open = tokens_left_open(1.5, 1, 2);
  CHECK(open.high == Approx(3.0).epsilon(few_ulp));
  CHECK(open.low == Approx(1.5).epsilon(few_ulp));
  const TokenBounds same = tokens_left_open(1.5, 1, 1);
  CHECK(same.low == Approx(1.5).epsilon(few_ulp));
  CHECK(same.high == Approx(1.5).epsilon(few_ulp));
}

}  // namespace foredraft::analytic
