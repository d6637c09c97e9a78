// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/stop.hpp"
#include "foredraft/words.hpp"

/// Sequences of finite length: the last iteration is cut short. The token law is P(X = k) at index k - 1. What may take
/// long throws Interrupted when stopped.
namespace foredraft::analytic {

/// Expected iterations to emit `length` >= 0 tokens: E[N(l)] = 1 + sum_k P(X = k) E[N(l - k)], E[N(0)] = 0.
/// O(length * gamma).
[[nodiscard]] double expected_iterations(std::span<const double> tokens_pmf, std::int64_t length, StopToken stop = {});

/// The same for large lengths: L/mu + E[X(X-1)] / (2 mu^2) (Wald plus stationary overshoot). Holds where the possible
/// token counts have no common divisor, so for 0 < alpha < 1 but not for alpha = 1.
[[nodiscard]] double expected_iterations_asymptotic(std::span<const double> tokens_pmf, std::int64_t length);

/// Expected iterations when the length is geometric with the given mean (end of sequence with hazard 1 / mean_length at
/// every token): sum_j E[s^(S_j)] = 1 / (1 - E[s^X]), s = 1 - 1/mean_length, exact. mean_length >= 1.
[[nodiscard]] double expected_iterations_geometric(std::span<const double> tokens_pmf, double mean_length);

/// P(N(length) > n) at index n, from n = 0 to the last that is not 0: at most `length` entries, `length` >= 1.
/// O(iterations * length * gamma).
[[nodiscard]] std::vector<double> iterations_survival(std::span<const double> tokens_pmf, std::int64_t length,
                                                      StopToken stop = {});

/// E[N^2] of a law that is given as its survival.
[[nodiscard]] double iterations_second_moment(std::span<const double> iterations_survival);

/// Expected iterations of a batch that ends with its slowest row: E[max of `rows` >= 1 independent N], exact.
[[nodiscard]] double slowest_iterations(std::span<const double> iterations_survival, std::int64_t rows);

}  // namespace foredraft::analytic
