// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/acceptance.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random_stream.hpp"
#include "tests/analytic/reference.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::Real;
using tests::relative_error;

/// Probabilities from uniform weights to the given power: the larger the power, the more they differ.
std::vector<double> random_distribution(std::size_t size, std::uint64_t block, int power) {
  RandomStream random(11, {Purpose::test, 0, block});
  std::vector<double> weights(size);
  double total = 0.0;
  for (double& w : weights) total += (w = std::pow(random.uniform(), power));
  for (double& w : weights) w /= total;
  return weights;
}

Real exact_beta(const std::vector<double>& p, const std::vector<double>& q) {
  Real sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::min(p[i], q[i]);
  return sum;
}

Real exact_distance(const std::vector<double>& p, const std::vector<double>& q) {
  Real sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += abs(Real(p[i]) - Real(q[i]));
  return sum / 2;
}

}  // namespace

TEST_CASE("three tokens by hand: beta 0.7, total variation 0.3, envelope 0.4") {
  const std::vector<double> p{0.5, 0.3, 0.2};
  const std::vector<double> q{0.2, 0.4, 0.4};
  CHECK(acceptance_beta(p, q) == Approx(0.7).epsilon(few_ulp));
  CHECK(total_variation(p, q) == Approx(0.3).epsilon(few_ulp));
  CHECK(leviathan_divergence(p, q) == Approx(0.3).epsilon(few_ulp));
  CHECK(envelope_acceptance(p, q) == Approx(0.4).epsilon(few_ulp));
  // Both distances are symmetric; the envelope is not: min p/q = 0.5.
  CHECK(acceptance_beta(q, p) == Approx(0.7).epsilon(few_ulp));
  CHECK(envelope_acceptance(q, p) == Approx(0.5).epsilon(few_ulp));
}

TEST_CASE("beta is the acceptance probability of speculative sampling, by enumeration of the drafted token") {
  const std::vector<double> p = random_distribution(9, 1, 2);
  const std::vector<double> q = random_distribution(9, 2, 3);
  Real accepted = 0;
  for (std::size_t x = 0; x < p.size(); ++x) {
    const Real ratio = Real(p[x]) / Real(q[x]);
    accepted += Real(q[x]) * (ratio < 1 ? ratio : Real(1));
  }
  CHECK(relative_error(acceptance_beta(p, q), accepted) < few_ulp);
}

TEST_CASE("envelope rejection sampling never accepts more often than speculative sampling") {
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::vector<double> p = random_distribution(20, 2 * i, 2);
    const std::vector<double> q = random_distribution(20, 2 * i + 1, 2);
    Real smallest = 1;
    for (std::size_t x = 0; x < p.size(); ++x) smallest = std::min(smallest, Real(Real(q[x]) / Real(p[x])));
    CHECK(relative_error(envelope_acceptance(p, q), smallest) < few_ulp);
    CHECK(envelope_acceptance(p, q) <= acceptance_beta(p, q));
  }
  CHECK(envelope_acceptance(std::vector<double>{0.5, 0.5}, std::vector<double>{1.0, 0.0}) == 0.0);
}

TEST_CASE("256,000 tokens: beta and the distances are right to the last digits and sum to one") {
  const std::vector<double> p = random_distribution(256'000, 1, 8);
  const std::vector<double> q = random_distribution(256'000, 2, 8);
  CHECK(relative_error(acceptance_beta(p, q), exact_beta(p, q)) < few_ulp);
  CHECK(relative_error(total_variation(p, q), exact_distance(p, q)) < few_ulp);
  CHECK(relative_error(leviathan_divergence(p, q), exact_distance(p, q)) < few_ulp);
  // The doubles p and q miss a sum of one by up to V half-ulps of a typical entry.
  CHECK(acceptance_beta(p, q) + total_variation(p, q) == Approx(1.0).epsilon(tests::second_route));
}

TEST_CASE("a distance of 1e-13 keeps its digits where one minus beta would have lost them") {
  std::vector<double> p = random_distribution(256'000, 3, 2);
  std::vector<double> q = p;
  double moved = 0.0;
  for (std::size_t i = 0; i + 1 < q.size() && moved < 1e-13; i += 2) {
    const double shift = 0x1p-66;  // far below the entries of 4e-6, above their last place
    q[i] += shift;
    q[i + 1] -= shift;
    moved += shift;
  }
  const Real expected = exact_distance(p, q);
  REQUIRE(expected > 0);
  CHECK(relative_error(total_variation(p, q), expected) < few_ulp);
  CHECK(acceptance_beta(p, q) <= 1.0);
}

TEST_CASE("one-hot distributions accept always or never, and equal ones always") {
  const std::vector<double> first{1.0, 0.0};
  const std::vector<double> second{0.0, 1.0};
  CHECK(acceptance_beta(first, first) == 1.0);
  CHECK(total_variation(first, first) == 0.0);
  CHECK(leviathan_divergence(first, first) == 0.0);
  CHECK(envelope_acceptance(first, first) == 1.0);
  CHECK(acceptance_beta(first, second) == 0.0);
  CHECK(total_variation(first, second) == 1.0);
  CHECK(leviathan_divergence(first, second) == 1.0);
  CHECK(envelope_acceptance(first, second) == 0.0);
}

TEST_CASE("acceptance refuses what is no pair of distributions") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> good{0.5, 0.5};
  CHECK_THROWS_WITH(acceptance_beta(std::vector<double>{0.5, 0.25}, good), "invalid sum of p=0.75 (must be 1)");
  CHECK_THROWS_WITH(total_variation(good, std::vector<double>{nan, 0.5}),
                    "invalid q[0]=nan (must be finite and not negative)");
  CHECK_THROWS_WITH(leviathan_divergence(std::vector<double>{1.5, -0.5}, good),
                    "invalid p[1]=-0.5 (must be finite and not negative)");
  CHECK_THROWS_WITH(envelope_acceptance(good, std::vector<double>{1.0}),
                    "invalid size of q=1 (must equal the size of p=2)");
  CHECK_THROWS_WITH(acceptance_beta(std::vector<double>{}, std::vector<double>{}),
                    "invalid p (must have at least one entry)");
}

}  // namespace foredraft::analytic
