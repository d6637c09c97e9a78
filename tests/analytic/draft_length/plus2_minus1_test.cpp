// SPDX-License-Identifier: Apache-2.0
// The +2/-1 heuristic against a long power iteration of its chain in extended precision, which shares neither the cuts
// nor the recursion of the code.
#include "analytic/draft_length/draft_length_rules.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "analytic/tokens/token_count.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::second_route;

std::vector<double> powers(double alpha, std::size_t cap) {
  std::vector<double> marginal;
  for (std::size_t g = 1; g <= cap; ++g) marginal.push_back(std::pow(alpha, static_cast<double>(g)));
  return marginal;
}

/// The distribution after very many steps from `start`. Both moves change the length by the same number modulo 3, so
/// the chain nearly alternates between three classes. A lazy chain, which stays with probability 1/2, has the same
/// distribution and does not alternate.
std::vector<double> by_power_iteration(const std::vector<double>& marginal, std::size_t start) {
  const std::size_t cap = marginal.size();
  std::vector<long double> distribution(cap, 0.0L);
  distribution[std::min(start, cap) - 1] = 1.0L;
  constexpr int steps = 5'000;
  for (int step = 0; step < steps; ++step) {
    std::vector<long double> next(cap, 0.0L);
    for (std::size_t g = 1; g <= cap; ++g) {
      const auto up = static_cast<long double>(marginal[g - 1]);
      next[g - 1] += distribution[g - 1] / 2.0L;
      next[std::min(g + 2, cap) - 1] += distribution[g - 1] * up / 2.0L;
      next[std::max<std::size_t>(g - 1, 1) - 1] += distribution[g - 1] * (1.0L - up) / 2.0L;
    }
    distribution = next;
  }
  return {distribution.begin(), distribution.end()};
}

double mean_length(const std::vector<double>& distribution) {
  double mean = 0.0;
  for (std::size_t i = 0; i < distribution.size(); ++i) mean += distribution[i] * static_cast<double>(i + 1);
  return mean;
}

}  // namespace

TEST_CASE("the heuristic's draft length has the stationary distribution of its chain, for any cap and acceptance") {
  const std::vector<std::vector<double>> settings{
      powers(0.0, 6),       powers(0.3, 12),      powers(0.7, 5),  powers(0.9, 30),
      powers(0.97, 4),      powers(1.0, 5),       powers(0.5, 1),  powers(1.0, 1),
      {1.0, 1.0, 0.5, 0.2}, {1.0, 0.5, 0.0, 0.0}, {0.4, 0.4, 0.4}, {1.0, 1.0, 0.0, 0.0, 0.0},
  };
  for (const auto& marginal : settings) {
    CAPTURE(marginal);
    const std::vector<double> distribution = plus2_minus1_distribution(marginal);
    const std::vector<double> expected = by_power_iteration(marginal, 5);
    REQUIRE(distribution.size() == expected.size());
    for (std::size_t i = 0; i < distribution.size(); ++i)
      CHECK(distribution[i] == Approx(expected[i]).margin(second_route));
    CHECK(std::accumulate(distribution.begin(), distribution.end(), 0.0) == Approx(1.0).epsilon(few_ulp));
  }
}

// Three digits each, and all digits by the power iteration, whose cap of 100 is beyond the range of the chain.
TEST_CASE("an acceptance of 0.7, 0.8 and 0.9 gives 3.65, 5.45 and 10.9 drafts and 2.58, 3.67 and 7.00 tokens") {
  const struct {
    double alpha;
    double drafts;
    double tokens;
    double rounding;
  } cases[] = {{0.7, 3.65, 2.58, 0.005}, {0.8, 5.45, 3.67, 0.005}, {0.9, 10.9, 7.00, 0.05}};
  for (const auto& [alpha, drafts, tokens, rounding] : cases) {
    CAPTURE(alpha);
    const VaryingYield yield = plus2_minus1(powers(alpha, 100), Convention::bonus);
    CHECK(std::abs(yield.mean_gamma - drafts) <= rounding);
    CHECK(std::abs(yield.tokens - tokens) <= 0.005);
    const std::vector<double> distribution = by_power_iteration(powers(alpha, 100), 5);
    double expected = 0.0;
    for (std::size_t g = 1; g <= distribution.size(); ++g) {
      expected += distribution[g - 1] * tokens_per_iteration({alpha, static_cast<std::int64_t>(g), Convention::bonus});
    }
    CHECK(yield.tokens == Approx(expected).epsilon(second_route));
    CHECK(yield.mean_gamma == Approx(mean_length(distribution)).epsilon(second_route));
  }
}

TEST_CASE("without a bonus token the same lengths yield the tokens of one draft less") {
  for (const double alpha : {0.3, 0.8}) {
    const std::vector<double> marginal = powers(alpha, 50);
    const std::vector<double> distribution = plus2_minus1_distribution(marginal);
    double expected = 0.0;
    for (std::size_t g = 1; g <= distribution.size(); ++g) {
      expected +=
          distribution[g - 1] * tokens_per_iteration({alpha, static_cast<std::int64_t>(g), Convention::no_bonus});
    }
    CHECK(plus2_minus1(marginal, Convention::no_bonus).tokens == Approx(expected).epsilon(second_route));
  }
}

TEST_CASE("the heuristic keeps its precision for long drafts and rejects invalid marginal acceptance") {
  const VaryingYield none = plus2_minus1(powers(0.0, 64), Convention::bonus);
  CHECK(none.mean_gamma == 1.0);
  CHECK(none.tokens == 1.0);
  // A diffusion of width 1000 around 1.1 million, where alpha^gamma is 1/3: the mean differs from the point of zero
  // drift by far less than a thousandth.
  const std::vector<double> distribution = plus2_minus1_distribution(powers(1.0 - 1e-6, 1'120'000));
  CHECK(distribution.back() < 1e-20);
  CHECK(std::accumulate(distribution.begin(), distribution.end(), 0.0) == Approx(1.0).epsilon(1e-13));
  CHECK(mean_length(distribution) == Approx(std::log(3.0) * 1e6).epsilon(1e-3));
  CHECK_THROWS_AS(plus2_minus1_distribution(std::vector<double>{0.5, 0.6}), DomainError);
  CHECK_THROWS_AS(plus2_minus1_distribution(std::vector<double>{}), DomainError);
}

}  // namespace foredraft::analytic
