// SPDX-License-Identifier: Apache-2.0
// Products of Beta variates: one factor against the incomplete Beta function, two against quadrature, factors that are
// powers of uniforms against the Gamma distribution of their logarithm.
#include "analytic/draft_length/beta_products.hpp"

#include <boost/math/quadrature/tanh_sinh.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::second_route;

/// Values of a contour integral of about 100 terms, each to some hundred units in the last place.
constexpr double contour = 1e-11;

}  // namespace

TEST_CASE("one factor has the tail of its Beta distribution, from certain tokens to equally likely ones") {
  for (const auto& [a, b] : {std::pair{1.6, 0.4}, std::pair{8e-7, 2e-7}, std::pair{0.3, 2.0}, std::pair{1.99, 0.01},
                             std::pair{80.0, 20.0}, std::pair{8000.0, 2000.0}}) {
    for (const double below_one : {1e-9, 0.01, 0.2, 0.21, 0.5, 0.99}) {
      CAPTURE(a, b, below_one);
      const double expected = boost::math::ibeta(b, a, below_one);
      const double found = product_survival(a, b, -std::log1p(-below_one), 1)[1];
      CHECK(found == Approx(expected).epsilon(contour).margin(1e-20));
    }
  }
}

TEST_CASE("two factors have the tail that quadrature gives") {
  for (const auto& [a, b] : {std::pair{1.6, 0.4}, std::pair{3.0, 3.0}, std::pair{0.5, 1.5}}) {
    for (const double least : {0.05, 0.3, 0.9}) {
      CAPTURE(a, b, least);
      boost::math::quadrature::tanh_sinh<double> quadrature;
      // In the distance y of one factor to 1, where the density may be infinite.
      const double expected = quadrature.integrate(
          [&, a = a, b = b](double y) {
            const double other = (1.0 - least - y) / (1.0 - y);
            return other <= 0.0 ? 0.0
                                : std::pow(1.0 - y, a - 1.0) * std::pow(y, b - 1.0) / boost::math::beta(a, b) *
                                      boost::math::ibeta(b, a, other);
          },
          0.0, 1.0 - least);
      CHECK(product_survival(a, b, -std::log(least), 2)[2] == Approx(expected).epsilon(tests::solved_root));
    }
  }
}

TEST_CASE("the logarithm of a product of powers of uniforms has a Gamma distribution") {
  for (const double a : {0.01, 0.8, 5.0, 100.0}) {
    for (const double budget : {0.1, 1.0, 7.0}) {
      const std::vector<double> survival = product_survival(a, 1.0, budget, 200);
      for (const std::size_t k : {1U, 3U, 10U, 50U, 200U}) {
        CAPTURE(a, budget, k);
        const double expected = boost::math::gamma_p(static_cast<double>(k), a * budget);
        CHECK(survival[k] == Approx(expected).epsilon(contour).margin(1e-20));
      }
    }
  }
}

TEST_CASE("equally likely tokens reach their power, and the limits of the budget are exact") {
  // 0.8^3 = 0.512: three tokens with a concentration of 1e9 pass a minimum probability just below it, and none passes
  // one above.
  CHECK(product_survival(8e8, 2e8, -std::log(0.511), 3)[3] == Approx(1.0).epsilon(tests::solved_root));
  CHECK(product_survival(8e8, 2e8, -std::log(0.513), 3)[3] == Approx(0.0).margin(tests::solved_root));
  CHECK(product_survival(1.6, 0.4, 0.0, 2) == std::vector<double>{1.0, 0.0, 0.0});
  CHECK(product_survival(1.6, 0.4, -1.0, 2) == std::vector<double>{0.0, 0.0, 0.0});
  CHECK(product_survival(1.6, 0.4, std::numeric_limits<double>::infinity(), 2) == std::vector<double>{1.0, 1.0, 1.0});
  CHECK(product_survival(1.6, 0.4, 690.0, 9)[9] == Approx(1.0).epsilon(second_route));
}

}  // namespace foredraft::analytic
