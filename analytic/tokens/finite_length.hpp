// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analytic/tokens/token_count.hpp"
#include "core/parallel.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/words.hpp"

/// Sequences of finite length: the last iteration is cut short. The token distribution is P(X = k) at index k - 1.
/// Functions with a StopToken throw Interrupted when stopped.
namespace foredraft::analytic {

/// E[N(l)] = 1 + sum_k P(X = k) E[N(l - k)], E[N(0)] = 0: expected iterations to emit `length` >= 0 tokens.
[[nodiscard]] double expected_iterations(std::span<const double> tokens_pmf, std::int64_t length, StopToken stop = {});

/// Expected iterations when the length is geometric with the given mean (end of sequence with hazard 1 / mean_length at
/// every token): sum_j E[s^(S_j)] = 1 / (1 - E[s^X]), s = 1 - 1/mean_length, exact. mean_length >= 1.
[[nodiscard]] double expected_iterations_geometric(std::span<const double> tokens_pmf, double mean_length);

/// [n]: P(N(length) > n), up to the last nonzero entry; `length` >= 1. O(iterations * length * gamma).
[[nodiscard]] std::vector<double> iterations_survival(std::span<const double> tokens_pmf, std::int64_t length,
                                                      StopToken stop = {});

/// E[N^2] of a distribution given by its survival function.
[[nodiscard]] double iterations_second_moment(std::span<const double> iterations_survival);

/// Expected iterations of a batch that ends with its slowest sequence: E[max of `rows` >= 1 independent N]. Exact.
[[nodiscard]] double slowest_iterations(std::span<const double> iterations_survival, std::int64_t rows);

// ---- Input-guided decoding: the draft is the rest of the input, and after each edit the text is generated one token
// at a time until both are aligned again [Sun2021; Xia2023, App. G.2]. Derivation in docs/model.md.
//
// Each copied token is an edit with probability edit_rate, independently of all others. The position of a bonus token
// counts like any other.

/// Endless text: (1 + e r) / (1/G + e r) tokens per iteration, G = (1 - (1-e)^n) / e, n = max_tokens(gamma,
/// convention). A realigning iteration drafts min_gamma(convention) tokens.
[[nodiscard]] VaryingYield input_copy(const InputCopy& copy, std::int64_t gamma, Convention convention);

/// Expected iterations (target calls) of a text of `length` >= 0 tokens, by renewal; O(length).
[[nodiscard]] double input_copy_iterations(const InputCopy& copy, std::int64_t gamma, Convention convention,
                                           std::int64_t length);

/// The same for geometric lengths of this mean >= 1.
[[nodiscard]] double input_copy_iterations_geometric(const InputCopy& copy, std::int64_t gamma, Convention convention,
                                                     double mean_length);

}  // namespace foredraft::analytic
