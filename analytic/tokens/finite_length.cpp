#include "analytic/tokens/finite_length.hpp"

#include <fmt/format.h>
#include <cmath>

#include "analytic/numerics/compensated_sum.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {

double expected_iterations(std::span<const double> tokens_pmf, std::int64_t length) {
  check_distribution("tokens_pmf", tokens_pmf);
  check_at_least("length", length, 0);
  // A ring of the last n expectations, E[N(l)] at slot l mod n; slots not yet reached hold E[N(<=0)] = 0.
  const std::size_t n = tokens_pmf.size();
  std::vector<double> expectation(n, 0.0);
  double last = 0.0;
  std::size_t slot = 0;
  for (std::int64_t l = 1; l <= length; ++l) {
    slot = slot + 1 == n ? 0 : slot + 1;
    last = 1.0;
    for (std::size_t k = 1; k <= n; ++k) {
      last += tokens_pmf[k - 1] * expectation[slot >= k ? slot - k : slot + n - k];
    }
    expectation[slot] = last;
  }
  return last;
}

double expected_iterations_asymptotic(std::span<const double> tokens_pmf, std::int64_t length) {
  check_distribution("tokens_pmf", tokens_pmf);
  check_at_least("length", length, 0);
  CompensatedSum mean;
  CompensatedSum ordered_pairs;  // E[X (X - 1)]
  for (std::size_t i = 0; i < tokens_pmf.size(); ++i) {
    const auto k = static_cast<double>(i + 1);
    mean.add(k * tokens_pmf[i]);
    ordered_pairs.add(k * (k - 1.0) * tokens_pmf[i]);
  }
  const double mu = mean.value();
  return static_cast<double>(length) / mu + ordered_pairs.value() / (2.0 * mu * mu);
}

double expected_iterations_geometric(std::span<const double> tokens_pmf, double mean_length) {
  check_distribution("tokens_pmf", tokens_pmf);
  if (!(mean_length >= 1.0 && std::isfinite(mean_length))) {
    throw DomainError(fmt::format("invalid mean_length={} (must be finite and at least 1)", mean_length));
  }
  // E[N] = sum_j P(L > S_j) = sum_j E[s^(S_j)] = 1 / (1 - E[s^X]), s = 1 - 1/mean_length; 1 - s^k term by term, so that
  // long sequences keep their digits.
  const double log_survival = std::log1p(-1.0 / mean_length);
  CompensatedSum ends;
  for (std::size_t i = 0; i < tokens_pmf.size(); ++i) {
    ends.add(tokens_pmf[i] * -std::expm1(static_cast<double>(i + 1) * log_survival));
  }
  return 1.0 / ends.value();
}

}  // namespace foredraft::analytic
