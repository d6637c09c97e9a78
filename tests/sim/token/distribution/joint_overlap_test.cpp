// SPDX-License-Identifier: Apache-2.0
// The bound of lossless rules with one draft, by enumeration; block verification is closer to it than rejection
// sampling.
#include "sim/token/distribution/joint_overlap.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/errors.hpp"
#include "tests/support/estimates.hpp"

namespace foredraft::sim {
namespace {

const GivenDistributions two_contexts{.target = {{0.5, 0.3, 0.2}, {0.1, 0.0, 0.9}},
                                      .draft = {{0.2, 0.5, 0.3}, {0.4, 0.2, 0.4}}};

/// sum over all drafts of i tokens, each in one of the contexts, of min(P, Q).
double enumerated(const GivenDistributions& contexts, int length, double p, double q) {
  if (length == 0) return std::min(p, q);
  const auto count = static_cast<double>(contexts.target.size());
  double sum = 0.0;
  for (std::size_t k = 0; k < contexts.target.size(); ++k) {
    for (std::size_t x = 0; x < contexts.target[k].size(); ++x) {
      sum += enumerated(contexts, length - 1, p * contexts.target[k][x], q * contexts.draft[k][x]) / count;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("the joint overlap is that of the enumeration, at least that of independent tests, and 1 if p is q") {
  double expected = 0.0;
  double token_wise = 0.0;
  const double one = enumerated(two_contexts, 1, 1.0, 1.0);
  for (int gamma = 1; gamma <= 4; ++gamma) {
    expected += enumerated(two_contexts, gamma, 1.0, 1.0);
    token_wise += std::pow(one, gamma);
    const Estimate estimate = joint_overlap(two_contexts, gamma, 200'000, 7);
    CAPTURE(gamma, estimate.mean, estimate.standard_error, expected);
    tests::check_estimate(estimate, expected);
    CHECK(expected >= token_wise);
  }
  CHECK(expected > 1.02 * token_wise);
  const GivenDistributions equal{.target = two_contexts.target, .draft = two_contexts.target};
  CHECK(joint_overlap(equal, 3, 1'000, 1).mean == Approx(3.0));
  CHECK(joint_overlap(equal, 3, 1'000, 1).standard_error < 1e-9);
}

TEST_CASE("a draft without tokens and an estimate without an error are rejected") {
  CHECK_THROWS_AS(joint_overlap(two_contexts, 0, 100, 1), DomainError);
  CHECK_THROWS_AS(joint_overlap(two_contexts, 2, 1, 1), DomainError);
}

}  // namespace foredraft::sim
