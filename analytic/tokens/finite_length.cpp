// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/finite_length.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "analytic/numerics/compensated_sum.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {

double expected_iterations(std::span<const double> tokens_pmf, std::int64_t length, StopToken stop) {
  check_distribution("tokens_pmf", tokens_pmf);
  check_at_least("length", length, 0);
  // A ring of the last n expectations, E[N(l)] at slot l mod n; slots not yet reached hold E[N(<=0)] = 0.
  const std::size_t n = tokens_pmf.size();
  std::vector<double> expectation(n, 0.0);
  double last = 0.0;
  std::size_t slot = 0;
  StopMeter meter(stop);
  for (std::int64_t l = 1; l <= length; ++l) {
    meter.spend(static_cast<std::int64_t>(n));
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

std::vector<double> iterations_survival(std::span<const double> tokens_pmf, std::int64_t length, StopToken stop) {
  check_distribution("tokens_pmf", tokens_pmf);
  check_at_least("length", length, 1);
  // left[l]: probability that l >= 1 tokens are missing after n iterations.
  std::vector<double> left(static_cast<std::size_t>(length) + 1, 0.0);
  left.back() = 1.0;
  std::vector<double> survival;
  StopMeter meter(stop);
  for (;;) {
    CompensatedSum running;
    for (std::size_t l = 1; l < left.size(); ++l) running.add(left[l]);
    if (running.value() <= 0.0) return survival;
    survival.push_back(std::min(running.value(), 1.0));
    for (std::size_t l = 1; l < left.size(); ++l) {
      meter.spend(static_cast<std::int64_t>(std::min(tokens_pmf.size(), left.size() - l)));
      double missing = 0.0;
      for (std::size_t k = 1; k <= tokens_pmf.size() && l + k < left.size(); ++k) {
        missing += tokens_pmf[k - 1] * left[l + k];
      }
      left[l] = missing;
    }
  }
}

double iterations_second_moment(std::span<const double> iterations_survival) {
  check_probabilities("iterations_survival", iterations_survival);
  CompensatedSum sum;
  for (std::size_t n = 0; n < iterations_survival.size(); ++n) {
    sum.add((2.0 * static_cast<double>(n) + 1.0) * iterations_survival[n]);
  }
  return sum.value();
}

double slowest_iterations(std::span<const double> iterations_survival, std::int64_t rows) {
  check_probabilities("iterations_survival", iterations_survival);
  check_at_least("rows", rows, 1);
  // 1 - (1 - s)^rows: some row is still running.
  CompensatedSum sum;
  for (const double s : iterations_survival) sum.add(-std::expm1(static_cast<double>(rows) * std::log1p(-s)));
  return sum.value();
}

}  // namespace foredraft::analytic
