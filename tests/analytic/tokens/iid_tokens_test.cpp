// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/token_count.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "tests/analytic/reference.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::LongReal;
using tests::Real;
using tests::relative_error;

constexpr std::int64_t huge_gamma = std::int64_t{1} << 62;

/// P(X = k) at index k - 1 by enumerating all 2^gamma accept/reject patterns.
std::vector<Real> enumerated_pmf(double alpha, int gamma, Convention convention) {
  std::vector<Real> pmf(static_cast<std::size_t>(max_tokens(gamma, convention)), Real(0));
  for (unsigned pattern = 0; pattern < (1U << static_cast<unsigned>(gamma)); ++pattern) {
    Real probability = 1;
    int accepted = 0;
    bool all_before = true;
    for (int i = 0; i < gamma; ++i) {
      const bool accept = (pattern >> static_cast<unsigned>(i) & 1U) != 0;
      probability *= accept ? Real(alpha) : 1 - Real(alpha);
      all_before = all_before && accept;
      if (all_before) ++accepted;
    }
    // The target's own token follows, except after a fully accepted draft without a bonus.
    const int tokens = accepted == gamma && convention == Convention::no_bonus ? accepted : accepted + 1;
    pmf[static_cast<std::size_t>(tokens - 1)] += probability;
  }
  return pmf;
}

void check_against_enumeration(const IidIteration& iteration) {
  CAPTURE(iteration.alpha, iteration.gamma, iteration.convention == Convention::bonus);
  const auto pmf = enumerated_pmf(iteration.alpha, static_cast<int>(iteration.gamma), iteration.convention);
  Real mean = 0;
  for (std::size_t i = 0; i < pmf.size(); ++i) {
    const auto k = static_cast<std::int64_t>(i + 1);
    CHECK(relative_error(tokens_probability(iteration, k), pmf[i]) < few_ulp);
    CHECK(relative_error(tokens_at_least(iteration, k), std::accumulate(pmf.begin() + (k - 1), pmf.end(), Real(0))) <
          few_ulp);
    mean += k * pmf[i];
  }
  Real variance = 0;
  for (std::size_t i = 0; i < pmf.size(); ++i) variance += pmf[i] * (Real(i + 1) - mean) * (Real(i + 1) - mean);
  CHECK(relative_error(tokens_per_iteration(iteration), mean) < few_ulp);
  CHECK(relative_error(tokens_variance(iteration), variance) < few_ulp);
  CHECK(relative_error(all_accepted_probability(iteration),
                       tests::integer_power(Real(iteration.alpha), iteration.gamma)) < few_ulp);
  const auto n = static_cast<std::int64_t>(pmf.size());
  CHECK(tokens_probability(iteration, 0) == 0.0);
  CHECK(tokens_probability(iteration, n + 1) == 0.0);
  CHECK(tokens_at_least(iteration, n + 1) == 0.0);
  CHECK(tokens_at_least(iteration, 0) == 1.0);
}

}  // namespace

TEST_CASE("the i.i.d. token distribution matches an enumeration of all patterns, under both conventions") {
  const double alpha = GENERATE(0.0, 1e-15, 0.1, 0.37, 0.5, 0.8, 0.999, 1.0 - 1e-15, 1.0);
  for (std::int64_t gamma = 0; gamma <= 9; ++gamma) {
    check_against_enumeration({.alpha = alpha, .gamma = gamma, .convention = Convention::bonus});
    if (gamma >= 1) check_against_enumeration({.alpha = alpha, .gamma = gamma, .convention = Convention::no_bonus});
  }
}

TEST_CASE("the high-precision closed forms that other tests use equal the term-by-term moments") {
  const double alpha = GENERATE(1e-3, 0.6, 0.97, 1.0 - 1e-12);
  const std::int64_t n = GENERATE(1, 2, 17, 400);
  LongReal mean = 0;
  for (std::int64_t k = 0; k < n; ++k) mean += tests::integer_power(LongReal(alpha), k);
  LongReal variance = 0;
  for (std::int64_t k = 1; k <= n; ++k) {
    const LongReal reached = tests::integer_power(LongReal(alpha), k - 1);
    const LongReal probability = k == n ? reached : (1 - LongReal(alpha)) * reached;
    variance += probability * (k - mean) * (k - mean);
  }
  const auto closed = tests::iid_moments(alpha, n);
  constexpr double far_below_a_double = 1e-100;
  CHECK(static_cast<double>(abs(closed.mean - mean)) < far_below_a_double);
  CHECK(static_cast<double>(abs(closed.variance - variance)) < far_below_a_double);
}

TEST_CASE("mean and variance of the tokens keep their precision at every limit of alpha and gamma") {
  const double alpha =
      GENERATE(1e-300, 1e-15, 0.05, 0.3, 0.5, 0.8, 0.95, 0.999, 1.0 - 1e-6, 1.0 - 1e-10, 1.0 - 1e-15, 1.0 - 0x1p-53);
  const std::int64_t gamma =
      GENERATE(as<std::int64_t>(), 1, 2, 5, 14, 15, 16, 17, 50, 1000, 12'345, 1'000'000, 4'000'000'000, huge_gamma);
  CAPTURE(alpha, gamma);
  const auto reference = tests::iid_moments(alpha, gamma + 1);
  const IidIteration iteration{.alpha = alpha, .gamma = gamma, .convention = Convention::bonus};
  CHECK(relative_error(tokens_per_iteration(iteration), reference.mean) < few_ulp);
  CHECK(relative_error(tokens_variance(iteration), reference.variance) < few_ulp);
}

TEST_CASE("alpha 0 yields one token, alpha 1 all of them, and no draft one") {
  const std::int64_t gamma = GENERATE(as<std::int64_t>(), 1, 7, 1'000'000, huge_gamma);
  const IidIteration never{.alpha = 0.0, .gamma = gamma, .convention = Convention::bonus};
  CHECK(tokens_per_iteration(never) == 1.0);
  CHECK(tokens_variance(never) == 0.0);
  const IidIteration always{.alpha = 1.0, .gamma = gamma, .convention = Convention::bonus};
  CHECK(tokens_per_iteration(always) == static_cast<double>(gamma + 1));
  CHECK(tokens_variance(always) == 0.0);
  const IidIteration plain{.alpha = 0.3, .gamma = 0, .convention = Convention::bonus};
  CHECK(tokens_per_iteration(plain) == 1.0);
  CHECK(tokens_variance(plain) == 0.0);
  CHECK(all_accepted_probability(plain) == 1.0);
}

TEST_CASE("without a bonus token gamma drafts have the token distribution of gamma - 1 with one, bit for bit") {
  const double alpha = GENERATE(0.0, 0.2, 0.8, 1.0 - 1e-12, 1.0);
  const std::int64_t gamma = GENERATE(as<std::int64_t>(), 1, 2, 6, 1'000'000);
  const IidIteration without{alpha, gamma, Convention::no_bonus};
  const IidIteration with{alpha, gamma - 1, Convention::bonus};
  CHECK(tokens_per_iteration(without) == tokens_per_iteration(with));
  CHECK(tokens_variance(without) == tokens_variance(with));
  CHECK(tokens_probability(without, gamma) == tokens_probability(with, gamma));
  CHECK(tokens_at_least(without, gamma) == tokens_at_least(with, gamma));
  CHECK(all_accepted_probability(without) == std::pow(alpha, static_cast<double>(gamma)));
}

TEST_CASE("tokens per iteration grow with alpha and with gamma") {
  for (const std::int64_t gamma : {1, 4, 15, 16, 40, 5000}) {
    double last = 0.0;
    for (int i = 0; i <= 1000; ++i) {
      const double tokens = tokens_per_iteration({i / 1000.0, gamma, Convention::bonus});
      CHECK(tokens > last);
      CHECK(tokens <= static_cast<double>(gamma + 1));
      last = tokens;
    }
  }
  for (const double alpha : {0.1, 0.8, 1.0 - 1e-9}) {
    double last = 0.0;
    for (std::int64_t gamma = 0; gamma < 200; ++gamma) {
      const double tokens = tokens_per_iteration({alpha, gamma, Convention::bonus});
      CHECK(tokens >= last);
      last = tokens;
    }
  }
}

TEST_CASE("alpha 0.8 and gamma 5 yield the worked 3.68928 tokens with variance 3.8640930816") {
  const IidIteration iteration{.alpha = 0.8, .gamma = 5, .convention = Convention::bonus};
  CHECK(tokens_per_iteration(iteration) == Approx(3.68928).epsilon(few_ulp));
  CHECK(tokens_variance(iteration) == Approx(3.8640930816).epsilon(few_ulp));
}

}  // namespace foredraft::analytic
