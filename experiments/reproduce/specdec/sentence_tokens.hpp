// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analytic/tokens/token_count.hpp"
#include "foredraft/words.hpp"

/// Tokens per iteration of a test set of short texts: total tokens divided by total iterations.
namespace foredraft::experiments {

/// Tokens per iteration of sentences of `mean_length` tokens (1 to 100,000; a fractional length is a mix of the
/// adjacent whole lengths): mean_length / E[iterations] under i.i.d. acceptance. Less than tokens_per_iteration() of an
/// endless text.
[[nodiscard]] double sentence_tokens_per_iteration(const analytic::IidIteration& iteration, double mean_length);

/// Inverse of sentence_tokens_per_iteration(): the alpha with this result. Throws DomainError if no alpha in [0, 1] has
/// it.
[[nodiscard]] double alpha_from_sentence_tokens(double tokens_per_iteration, std::int64_t gamma, Convention convention,
                                                double mean_length);

}  // namespace foredraft::experiments
