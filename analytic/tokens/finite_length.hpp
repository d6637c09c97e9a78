// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analytic/tokens/token_count.hpp"
#include "core/parallel.hpp"
#include "foredraft/words.hpp"

/// Sequences of finite length: the last iteration is cut short. The token distribution is P(X = k) at index k - 1.
/// Functions that may take long throw Interrupted when stopped.
namespace foredraft::analytic {

/// Expected iterations to emit `length` >= 0 tokens: E[N(l)] = 1 + sum_k P(X = k) E[N(l - k)], E[N(0)] = 0.
/// O(length * gamma).
[[nodiscard]] double expected_iterations(std::span<const double> tokens_pmf, std::int64_t length, StopToken stop = {});

/// The same for large lengths: L/mu + E[X(X-1)] / (2 mu^2) (Wald plus stationary overshoot). Valid if the possible
/// token counts have no common divisor, so for 0 < alpha < 1 but not for alpha = 1.
[[nodiscard]] double expected_iterations_asymptotic(std::span<const double> tokens_pmf, std::int64_t length);

/// Expected iterations when the length is geometric with the given mean (end of sequence with hazard 1 / mean_length at
/// every token): sum_j E[s^(S_j)] = 1 / (1 - E[s^X]), s = 1 - 1/mean_length, exact. mean_length >= 1.
[[nodiscard]] double expected_iterations_geometric(std::span<const double> tokens_pmf, double mean_length);

/// P(N(length) > n) at index n, from n = 0 to the last that is not 0: at most `length` entries, `length` >= 1.
/// O(iterations * length * gamma).
[[nodiscard]] std::vector<double> iterations_survival(std::span<const double> tokens_pmf, std::int64_t length,
                                                      StopToken stop = {});

/// E[N^2] of a distribution given by its survival function.
[[nodiscard]] double iterations_second_moment(std::span<const double> iterations_survival);

/// Expected iterations of a batch that ends with its slowest sequence: E[max of `rows` >= 1 independent N], exact.
[[nodiscard]] double slowest_iterations(std::span<const double> iterations_survival, std::int64_t rows);

// ---- Tokens per iteration of a test set of short texts: total tokens divided by total iterations, the last iteration
// of every sentence cut short.

/// Sentences of `mean_length` tokens (1 to 100,000; a fraction is a mix of the two whole lengths around it):
/// mean_length / E[iterations] under i.i.d. acceptance. Below tokens_per_iteration() of an endless text.
[[nodiscard]] double sentence_tokens_per_iteration(const IidIteration& iteration, double mean_length);

/// The alpha with this ratio: the inverse of the function above. Throws DomainError if no alpha in [0, 1] has it.
[[nodiscard]] double alpha_from_sentence_tokens(double tokens_per_iteration, std::int64_t gamma, Convention convention,
                                                double mean_length);

// ---- Input-guided decoding: the draft is the rest of the input, and after each edit the text is generated one token
// at a time until both are aligned again [Sun2021; Xia2023, App. G.2]. Derivation in docs/model.md.

/// Edit process: every token that could be copied is an edit with this probability, independently of all others. A
/// position that a bonus token passes counts like any other.
struct InputCopy {
  double edit_rate;      ///< in [0, 1]
  std::int64_t realign;  ///< tokens generated one by one after each edit, >= 0
};

/// Endless text: tokens (1 + e r) / (1/G + e r) an iteration, G = (1 - (1-e)^n) / e, n = max_tokens(gamma, convention).
/// A realigning iteration drafts min_gamma(convention) tokens.
[[nodiscard]] VaryingYield input_copy(const InputCopy& copy, std::int64_t gamma, Convention convention);

/// Expected iterations (target calls) of a text of `length` >= 0 tokens, by renewal; O(length).
[[nodiscard]] double input_copy_iterations(const InputCopy& copy, std::int64_t gamma, Convention convention,
                                           std::int64_t length);

/// The same for geometric lengths of this mean >= 1.
[[nodiscard]] double input_copy_iterations_geometric(const InputCopy& copy, std::int64_t gamma, Convention convention,
                                                     double mean_length);

/// The published count for a text with this many edits and drafts of unlimited length, 1 + edits (1 + realign)
/// [Xia2023, App. G.2]: exact if no edit, and no realignment after one, meets the end of the text.
[[nodiscard]] double input_copy_published_calls(double edits, std::int64_t realign);

}  // namespace foredraft::analytic
