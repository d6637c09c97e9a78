// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analytic/tokens/iid_tokens.hpp"

/// Tokens per iteration as a test set of short texts reports them: total tokens over total iterations, the last
/// iteration of every sentence cut short.
namespace foredraft::analytic {

/// Sentences of `mean_length` tokens (1 to 100,000; a fraction is a mix of the two whole lengths around it):
/// mean_length / E[iterations] under i.i.d. acceptance. Below tokens_per_iteration() of an endless text.
[[nodiscard]] double sentence_tokens_per_iteration(const IidIteration& iteration, double mean_length);

/// The alpha that yields this ratio: its inverse. Throws DomainError where no alpha in [0, 1] does.
[[nodiscard]] double alpha_from_sentence_tokens(double tokens_per_iteration, std::int64_t gamma, Convention convention,
                                                double mean_length);

}  // namespace foredraft::analytic
