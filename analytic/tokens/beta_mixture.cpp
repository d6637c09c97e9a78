// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <boost/math/special_functions/log1p.hpp>
#include <cmath>

#include "analytic/numerics/compensated_sum.hpp"
#include "analytic/numerics/gamma_range.hpp"
#include "analytic/numerics/stable_forms.hpp"
#include "analytic/tokens/beta_expectation.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

// E[alpha^k] = (a)_k / (a + b)_k is a product of k positive factors below one: no cancellation for any a and b, an
// error that grows like sqrt(k) roundings. Differences of log-gamma functions, the usual closed form, lose all digits
// near b = 1 and for large a. So products up to here; beyond, where the product's error and time would pass those of a
// quadrature over alpha (about a thousand evaluations), the quadrature.
constexpr std::int64_t longest_product = 4096;
constexpr std::int64_t longest_mixture = 1'000'000;

/// Beyond these limits, where the law is a point or two points to any precision, the quadrature's weights leave the
/// range of a double.
void check_parameter(std::string_view name, double value) {
  check_positive(name, value);
  if (!(value >= 1e-100 && value <= 1e100)) {
    throw DomainError(fmt::format("invalid {}={} (must lie in [1e-100, 1e+100])", name, value));
  }
}

void check(const BetaMixture& mixture) {
  check_parameter("a", mixture.a);
  check_parameter("b", mixture.b);
}

void check(const BetaMixture& mixture, std::int64_t gamma, Convention convention) {
  check(mixture);
  check_gamma(gamma, convention);
}

/// E[alpha | the first j drafts were accepted].
double next_acceptance(const BetaMixture& mixture, double j) { return (mixture.a + j) / (mixture.a + mixture.b + j); }

/// sum_{j=first}^{last-1} log1p(b / (a + j)) by Euler-Maclaurin at midpoints, for first >= longest_product: the
/// integral, with the parts that cancel taken out (z log1p(b/z) = b + z log1pmx(b/z)), and one correction.
double log_product_tail(const BetaMixture& mixture, double first, double last) {
  const double b = mixture.b;
  const double z = mixture.a + first - 0.5;
  const double end = mixture.a + last - 0.5;
  const double integral =
      end * boost::math::log1pmx(b / end) - z * boost::math::log1pmx(b / z) + b * std::log1p((last - first) / (z + b));
  const double slope_difference = b / (z * (z + b)) - b / (end * (end + b));
  return integral - slope_difference / 24.0;
}

}  // namespace

double accepted_at_least(const BetaMixture& mixture, std::int64_t k) {
  check(mixture);
  check_range("k", k, 0, largest_gamma);
  double product = 1.0;
  const std::int64_t factors = std::min(k, longest_product);
  for (std::int64_t j = 0; j < factors; ++j) product *= next_acceptance(mixture, static_cast<double>(j));
  if (k > factors) {
    product *= std::exp(-log_product_tail(mixture, static_cast<double>(factors), static_cast<double>(k)));
  }
  return product;
}

std::vector<double> marginal_of(const BetaMixture& mixture, std::int64_t gamma) {
  check(mixture);
  check_range("gamma", gamma, 0, longest_mixture);
  std::vector<double> marginal;
  double product = 1.0;
  for (std::int64_t j = 0; j < gamma; ++j) {
    product *= next_acceptance(mixture, static_cast<double>(j));
    marginal.push_back(product);
  }
  return marginal;
}

double tokens_per_iteration(const BetaMixture& mixture, std::int64_t gamma, Convention convention) {
  check(mixture, gamma, convention);
  const std::int64_t n = max_tokens(gamma, convention);
  if (n > longest_product) {
    return beta_expectation(mixture.a, mixture.b, [n](double alpha, double complement) {
      return stable::geometric_sum(alpha, complement, n);
    });
  }
  CompensatedSum tokens;
  double reached = 1.0;
  for (std::int64_t j = 0; j < n; ++j) {
    tokens.add(reached);
    reached *= next_acceptance(mixture, static_cast<double>(j));
  }
  return tokens.value();
}

double tokens_variance(const BetaMixture& mixture, std::int64_t gamma, Convention convention) {
  const double mean = tokens_per_iteration(mixture, gamma, convention);
  const std::int64_t n = max_tokens(gamma, convention);
  if (n > longest_product) {
    // Law of total variance about the mean: both parts positive.
    return beta_expectation(mixture.a, mixture.b, [n, mean](double alpha, double complement) {
      const double deviation = stable::geometric_sum(alpha, complement, n) - mean;
      return stable::truncated_geometric_variance(alpha, complement, n) + deviation * deviation;
    });
  }
  CompensatedSum variance;
  double reached = 1.0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double deviation = static_cast<double>(j + 1) - mean;
    const auto position = static_cast<double>(j);
    const double rejected = j + 1 == n ? 1.0 : mixture.b / (mixture.a + mixture.b + position);
    variance.add(reached * rejected * deviation * deviation);
    reached *= next_acceptance(mixture, position);
  }
  return variance.value();
}

JensenSandwich jensen_sandwich(const BetaMixture& alpha_law, std::int64_t gamma, Convention convention) {
  check(alpha_law, gamma, convention);
  const std::int64_t n = max_tokens(gamma, convention);
  const auto [a, b] = alpha_law;
  const double mean_inverse = beta_expectation(
      a, b, [n](double alpha, double complement) { return 1.0 / stable::geometric_sum(alpha, complement, n); });
  return {.ratio_of_totals = 1.0 / mean_inverse,
          .at_mean = stable::geometric_sum(a / (a + b), b / (a + b), n),
          .mean_of_ratios = tokens_per_iteration(alpha_law, gamma, convention)};
}

}  // namespace foredraft::analytic
