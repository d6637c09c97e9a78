// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace foredraft::analytic {

/// E[f(alpha, 1 - alpha)] for alpha ~ Beta(a, b), a, b > 0, by double-exponential quadrature on both sides of the mode;
/// right to about 1e-13 for positive f that are smooth on a logarithmic scale of alpha and of 1 - alpha. Internal to
/// analytic.
///
/// f receives 1 - alpha with its own digits, as alpha itself may round to 1. Boundary layers such as that of alpha^n at
/// 1 - alpha = 1/n cost nothing extra, and neither do sharp modes, up to a, b of about 1e12.
[[nodiscard]] double beta_expectation(double a, double b, const std::function<double(double, double)>& f);

}  // namespace foredraft::analytic
