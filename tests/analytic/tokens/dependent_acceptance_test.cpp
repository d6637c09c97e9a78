// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/dependent_acceptance.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "analytic/tokens/token_count.hpp"
#include "tests/analytic/reference.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::Real;
using tests::relative_error;

/// Long-run tokens per iteration of a Markov process, as a chain over iterations whose state is whether the drafter was
/// right at the last position. Computed draft by draft, without the run-length argument of the closed form.
Real markov_by_iterations(const Markov& chain, std::int64_t gamma, Convention convention) {
  Real mean[2];
  Real to_accepted[2];
  for (int state = 0; state < 2; ++state) {
    Real reached = 1;
    Real accept = state == 1 ? chain.a : chain.b;
    mean[state] = 0;
    for (std::int64_t i = 1; i <= gamma; ++i) {
      mean[state] += reached * (1 - accept) * i;
      reached *= accept;
      accept = chain.a;
    }
    const bool has_bonus = convention == Convention::bonus;
    mean[state] += reached * max_tokens(gamma, convention);
    to_accepted[state] = reached * (has_bonus ? Real(chain.a) : Real(1));
  }
  const Real accepted_share = to_accepted[0] / (1 - to_accepted[1] + to_accepted[0]);
  return accepted_share * mean[1] + (1 - accepted_share) * mean[0];
}

/// Tokens and iterations of one period of the cycle that iterations over a periodic accept/reject pattern reach.
struct Replay {
  std::int64_t tokens;
  std::int64_t iterations;
};
Replay replay(unsigned pattern, int length, std::int64_t gamma, Convention convention) {
  std::vector<std::int64_t> tokens_at(static_cast<std::size_t>(length), -1);
  std::vector<std::int64_t> iterations_at(static_cast<std::size_t>(length), 0);
  std::int64_t tokens = 0;
  std::int64_t iterations = 0;
  for (;;) {
    const auto phase = static_cast<std::size_t>(tokens % length);
    if (tokens_at[phase] >= 0) return {tokens - tokens_at[phase], iterations - iterations_at[phase]};
    tokens_at[phase] = tokens;
    iterations_at[phase] = iterations;
    std::int64_t accepted = 0;
    while (accepted < gamma && (pattern >> static_cast<unsigned>((tokens + accepted) % length) & 1U) != 0) ++accepted;
    tokens += accepted == gamma && convention == Convention::no_bonus ? accepted : accepted + 1;
    ++iterations;
  }
}

int ones(unsigned pattern) { return __builtin_popcount(pattern); }

}  // namespace

TEST_CASE("the Markov closed form is the stationary mean of the chain over iterations") {
  const double a = GENERATE(0.0, 0.3, 0.8, 0.99, 1.0 - 1e-12);
  const double b = GENERATE(0.0, 0.05, 0.6, 1.0);
  const std::int64_t gamma = GENERATE(as<std::int64_t>(), 1, 2, 5, 40);
  CAPTURE(a, b, gamma);
  const Markov chain{a, b};
  CHECK(relative_error(tokens_per_iteration(chain, gamma, Convention::bonus),
                       markov_by_iterations(chain, gamma, Convention::bonus)) < few_ulp);
  CHECK(relative_error(tokens_per_iteration(chain, gamma, Convention::no_bonus),
                       markov_by_iterations(chain, gamma, Convention::no_bonus)) < few_ulp);
}

TEST_CASE("a Markov chain without memory is i.i.d., and its limits are certain, alternating or zero acceptance") {
  for (const double alpha : {0.0, 0.4, 0.9, 1.0 - 1e-15}) {
    for (const std::int64_t gamma : {1, 7, 1'000'000}) {
      CHECK(tokens_per_iteration(Markov{alpha, alpha}, gamma, Convention::bonus) ==
            Approx(tokens_per_iteration({alpha, gamma, Convention::bonus})).epsilon(few_ulp));
    }
  }
  CHECK(tokens_per_iteration(Markov{1.0, 0.2}, 4, Convention::bonus) == Approx(5.0).epsilon(few_ulp));
  CHECK(tokens_per_iteration(Markov{1.0, 0.2}, 4, Convention::no_bonus) == Approx(4.0).epsilon(few_ulp));
  CHECK(tokens_per_iteration(Markov{0.0, 1.0}, 4, Convention::bonus) == 2.0);
  CHECK(tokens_per_iteration(Markov{0.0, 1.0}, 1, Convention::no_bonus) == 1.0);
  CHECK(tokens_per_iteration(Markov{0.7, 0.0}, 4, Convention::bonus) == 1.0);
  CHECK(tokens_per_iteration(Markov{0.7, 0.4}, 0, Convention::bonus) == 1.0);
  // Two absorbing states: the long run depends on the start.
  CHECK(std::isnan(tokens_per_iteration(Markov{1.0, 0.0}, 4, Convention::bonus)));
}

TEST_CASE("no periodic acceptance pattern up to length 14 exceeds the any-process bounds, and both are reached") {
  const Convention convention = GENERATE(Convention::bonus, Convention::no_bonus);
  for (std::int64_t gamma = 1; gamma <= 7; ++gamma) {
    bool low_reached = false;
    bool high_reached = false;
    for (int length = 1; length <= 14; ++length) {
      std::vector<TokenBounds> bounds;  // by the number of ones
      for (int accepted = 0; accepted <= length; ++accepted) {
        bounds.push_back(any_process_bounds(static_cast<double>(accepted) / length, gamma, convention));
      }
      for (unsigned pattern = 0; pattern < (1U << static_cast<unsigned>(length)); ++pattern) {
        const Replay run = replay(pattern, length, gamma, convention);
        const double tokens = static_cast<double>(run.tokens) / static_cast<double>(run.iterations);
        const auto [low, high] = bounds[static_cast<std::size_t>(ones(pattern))];
        if (!(tokens >= low * (1.0 - few_ulp) && tokens <= high * (1.0 + few_ulp))) {
          FAIL_CHECK("pattern " << pattern << " of length " << length << ", gamma " << gamma << ": " << tokens
                                << " outside " << low << " to " << high);
        }
        // Patterns with both outcomes: the bounds of alpha 0 and 1 coincide.
        if (pattern == 0 || ones(pattern) == length || low == high) continue;
        low_reached = low_reached || tokens <= low * (1.0 + few_ulp);
        high_reached = high_reached || tokens >= high * (1.0 - few_ulp);
      }
    }
    const bool one_token_only = max_tokens(gamma, convention) == 1;
    CHECK((low_reached || one_token_only));
    CHECK((high_reached || one_token_only));
  }
}

TEST_CASE("every Markov chain and the i.i.d. process lie within the any-process bounds of their mean") {
  for (int i = 0; i <= 20; ++i) {
    for (int j = 0; j <= 20; ++j) {
      const Markov chain{i / 20.0, j / 20.0};
      if (i == 20 && j == 0) continue;
      for (const std::int64_t gamma : {1, 5, 30}) {
        const auto [low, high] = any_process_bounds(chain.b / (1.0 - chain.a + chain.b), gamma, Convention::bonus);
        const double tokens = tokens_per_iteration(chain, gamma, Convention::bonus);
        CHECK(tokens >= low * (1.0 - few_ulp));
        CHECK(tokens <= high * (1.0 + few_ulp));
      }
    }
  }
}

TEST_CASE("acceptance of mean 0.8 yields 3 to 5 tokens of gamma 5 for any dependence") {
  const auto bounds = any_process_bounds(0.8, 5, Convention::bonus);
  CHECK(bounds.low == Approx(3.0).epsilon(few_ulp));
  CHECK(bounds.high == Approx(5.0).epsilon(few_ulp));
  CHECK(any_process_bounds(0.8, 3, Convention::bonus).high == 4.0);
  CHECK(any_process_bounds(1.0, 5, Convention::bonus).low == 6.0);
  CHECK(any_process_bounds(1.0, 5, Convention::no_bonus).high == 5.0);
  CHECK(any_process_bounds(0.0, 5, Convention::bonus).high == 1.0);
  CHECK(any_process_bounds(0.3, 0, Convention::bonus).low == 1.0);
}

TEST_CASE("dependent acceptance rejects invalid probabilities") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(tokens_per_iteration(Markov{nan, 0.5}, 3, Convention::bonus), "invalid a=nan (must lie in [0, 1])");
  CHECK_THROWS_WITH(tokens_per_iteration(Markov{0.5, 1.5}, 3, Convention::bonus), "invalid b=1.5 (must lie in [0, 1])");
  CHECK_THROWS_WITH(tokens_per_iteration(Markov{0.5, 0.5}, 0, Convention::no_bonus),
                    "invalid gamma=0 (must be at least 1)");
  CHECK_THROWS_WITH(any_process_bounds(-0.5, 3, Convention::bonus), "invalid alpha=-0.5 (must lie in [0, 1])");
}

}  // namespace foredraft::analytic
