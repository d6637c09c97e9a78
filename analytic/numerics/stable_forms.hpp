// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "core/check.hpp"
#include "foredraft/words.hpp"

namespace foredraft::analytic {

/// Maximum gamma of any argument or result. gamma + 1 fits into 64 bits, and every finite optimum is smaller (6.4e18 at
/// the largest double alpha below 1 and the smallest c above 0).
inline constexpr std::int64_t largest_gamma = 7'000'000'000'000'000'000;

/// Requires min_gamma(convention) <= gamma <= largest_gamma.
inline void check_gamma(std::int64_t gamma, Convention convention) {
  check_at_least("gamma", gamma, min_gamma(convention));
  if (gamma > largest_gamma) check_range("gamma", gamma, min_gamma(convention), largest_gamma);
}

/// Running sum with compensation of rounding errors [Neumaier1974]. For terms of the same sign the error is a few units
/// in the last place.
class CompensatedSum {
 public:
  void add(double term) {
    const double next = sum_ + term;
    error_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }

  [[nodiscard]] double value() const { return sum_ + error_; }

 private:
  double sum_ = 0.0;
  double error_ = 0.0;
};

}  // namespace foredraft::analytic

namespace foredraft::analytic::stable {

// ---- Elementary functions in numerically stable forms. complement = 1 - alpha is passed in addition to alpha, because
// callers may know it more precisely than the subtraction gives; alpha may be rounded to 1.

/// -log(alpha); +infinity for alpha = 0.
[[nodiscard]] double negative_log(double alpha, double complement);

/// sum_{j=0}^{n-1} alpha^j for n >= 0, in [0, n].
[[nodiscard]] double geometric_sum(double alpha, double complement, std::int64_t n);

/// Variance of X with P(X >= k) = alpha^(k-1) for 1 <= k <= n. No cancellation: with u = -log(alpha)/2, m = 2n - 1,
///     Var = alpha^(n - 1/2) (sinh(m u) - m sinh(u)) / (2 sinh(u)^2),
/// where the bracket is a power series of positive terms.
[[nodiscard]] double truncated_geometric_variance(double alpha, double complement, std::int64_t n);

/// e^x - 1 - x for x >= 0.
[[nodiscard]] double expm1_minus_x(double x);

/// The x >= 0 with e^x - 1 - x = exp(log_k).
[[nodiscard]] double inverse_expm1_minus_x(double log_k);

/// The alpha in [0, 1] with sum_{j=1}^{m} alpha^j = total, for m >= 1 and 0 <= total <= m.
[[nodiscard]] double alpha_of_geometric_total(double total, std::int64_t m);

}  // namespace foredraft::analytic::stable

namespace foredraft::analytic::exact {

// ---- Comparisons with 400 digits, for ties and near-ties that double precision cannot decide. Arguments are exact
// numbers. Called only if the double-precision result lies within its rounding error. Internal to analytic.

/// True if one draft more than `gamma`, at cost c per draft, does not increase the speedup: alpha^n (1 + gamma c) <= c
/// sum_{j<n} alpha^j, where `gamma` drafts yield up to n tokens. 0 < alpha < 1.
[[nodiscard]] bool one_more_does_not_pay(double alpha, double c, std::int64_t n, std::int64_t gamma);

/// True if the speedup limit of a block drafter with bonus token, 1 / ((1 - alpha) (1 + c)), exceeds 1: c (1 - alpha) <
/// alpha.
[[nodiscard]] bool block_limit_pays(double alpha, double c);

/// An iteration that yields up to n tokens and costs 1 + passes * c.
struct Iteration {
  std::int64_t n;
  std::int64_t passes;
};

/// True if speedup(candidate) >= (1 - fraction) * speedup(best).
[[nodiscard]] bool within_fraction(double alpha, double c, const Iteration& candidate, const Iteration& best,
                                   double fraction);

}  // namespace foredraft::analytic::exact
