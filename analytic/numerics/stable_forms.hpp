// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Elementary functions in forms that keep their digits at the ends. Internal to analytic.
///
/// Where a function takes `alpha` and `complement`, complement = 1 - alpha is the primary variable: callers that know
/// it better than the subtraction does (an integral over alpha close to 1) pass it, and alpha may have rounded to 1.
namespace foredraft::analytic::stable {

/// -log(alpha); +infinity for alpha = 0.
[[nodiscard]] double negative_log(double alpha, double complement);

/// sum_{j=0}^{n-1} alpha^j for n >= 0, in [0, n].
[[nodiscard]] double geometric_sum(double alpha, double complement, std::int64_t n);

/// Variance of X with P(X >= k) = alpha^(k-1) for 1 <= k <= n. No cancellation: with u = -log(alpha)/2, m = 2n - 1,
///     Var = alpha^(n - 1/2) (sinh(m u) - m sinh(u)) / (2 sinh(u)^2),
/// whose bracket is a power series of positive terms.
[[nodiscard]] double truncated_geometric_variance(double alpha, double complement, std::int64_t n);

/// e^x - 1 - x for x >= 0.
[[nodiscard]] double expm1_minus_x(double x);

/// The x >= 0 with e^x - 1 - x = exp(log_k).
[[nodiscard]] double inverse_expm1_minus_x(double log_k);

/// The alpha in [0, 1] with sum_{j=1}^{m} alpha^j = total, for m >= 1 and 0 <= total <= m.
[[nodiscard]] double alpha_of_geometric_total(double total, std::int64_t m);

}  // namespace foredraft::analytic::stable
