// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Several drafts of one position onwards that never share a token but the first: E[X] of an iteration.
namespace foredraft::analytic {

/// Chains that begin with different candidates of one position: `any_first` is the probability that one of these is
/// accepted, `conditional` that of each later token. 1 + P (1 - p^d) / (1 - p), at most 1 + 1 / (1 - p). depth >= 0.
/// [Chen2024, Sec. 3.1]
[[nodiscard]] double chains_tokens(double any_first, double conditional, std::int64_t depth);

/// `drafts` independent drafts of gamma tokens, each accepted with probability alpha; the longest accepted prefix is
/// kept: (gamma + 1) - sum_{i=1}^{gamma} (1 - alpha^i)^drafts. Optimistic: the drafts of one model overlap. gamma from
/// 0 to 10^6, drafts >= 1. [Fu2024, Sec. 4]
[[nodiscard]] double independent_drafts_tokens(double alpha, std::int64_t gamma, std::int64_t drafts);

}  // namespace foredraft::analytic
