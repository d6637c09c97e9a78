// SPDX-License-Identifier: Apache-2.0
#include "core/check.hpp"
#include "tests/support/errors.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

namespace foredraft {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("check_probability takes 0, 1 and values in between, and names what it rejects") {
  for (const double value : {0.0, 1e-300, 0.5, 1.0}) CHECK_NOTHROW(check_probability("alpha", value));
  CHECK_THROWS_MATCHES(check_probability("alpha", 1.5), DomainError, Says("invalid alpha=1.5"));
  for (const double value : {-1e-300, 1.0 + 1e-15, nan, infinity, -infinity}) {
    CHECK_THROWS_AS(check_probability("alpha", value), DomainError);
  }
}

TEST_CASE("checks of size reject NaN and infinities as well as the wrong sign") {
  CHECK_NOTHROW(check_nonnegative("c", 0.0));
  CHECK_NOTHROW(check_positive("scale", 1e-300));
  CHECK_THROWS_MATCHES(check_nonnegative("c", -1.0), DomainError, Says("invalid c=-1"));
  CHECK_THROWS_MATCHES(check_positive("scale", 0.0), DomainError, Says("invalid scale=0"));
  for (const double value : {nan, infinity}) {
    CHECK_THROWS_AS(check_nonnegative("c", value), DomainError);
    CHECK_THROWS_AS(check_positive("c", value), DomainError);
  }
}

TEST_CASE("integer checks include both ends") {
  CHECK_NOTHROW(check_at_least("gamma", 0, 0));
  CHECK_THROWS_MATCHES(check_at_least("gamma", -1, 0), DomainError, Says("invalid gamma=-1"));
  CHECK_NOTHROW(check_range("gamma", 5, 0, 5));
  CHECK_NOTHROW(check_range("gamma", 0, 0, 5));
  CHECK_THROWS_MATCHES(check_range("gamma", 6, 0, 5), DomainError, Says("invalid gamma=6"));
}

TEST_CASE("vector checks name the first bad entry") {
  CHECK_NOTHROW(check_probabilities("conditional", std::vector<double>{0.0, 1.0}));
  CHECK_THROWS_MATCHES(check_probabilities("conditional", std::vector<double>{0.5, 1.5, nan}), DomainError,
                       Says("invalid conditional[1]=1.5"));
  CHECK_THROWS_MATCHES(check_probabilities("conditional", {}), DomainError, Says("invalid conditional"));
}

TEST_CASE("a distribution sums to one within its tolerance and has no negative or undefined entry") {
  CHECK_NOTHROW(check_distribution("p", std::vector<double>{0.25, 0.75}));
  CHECK_NOTHROW(check_distribution("p", std::vector<double>(256'000, 1.0 / 256'000)));
  CHECK_THROWS_MATCHES(check_distribution("p", std::vector<double>{0.5, 0.25}), DomainError,
                       Says("invalid sum of p=0.75"));
  CHECK_THROWS_MATCHES(check_distribution("p", std::vector<double>{1.5, -0.5}), DomainError, Says("invalid p[1]=-0.5"));
  CHECK_THROWS_AS(check_distribution("p", std::vector<double>{nan, 1.0}), DomainError);
}

}  // namespace foredraft
