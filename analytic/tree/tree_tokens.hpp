// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analytic/tree/head_accuracies.hpp"
#include "analytic/tree/token_tree.hpp"

/// What an iteration yields that drafts a tree: the token of the target (the root) and the longest accepted path below
/// it, X = 1 + accepted depth. Every function throws DomainError where the tree has a depth or a rank that there is no
/// accuracy for.
namespace foredraft::analytic {

/// f(v) for every node: the product of the accuracies on the path to it, which is the probability that it is accepted;
/// 1 for the root.
[[nodiscard]] std::vector<double> node_probabilities(const TokenTree& tree, const HeadAccuracies& accuracies);

/// E[X] = sum_v f(v), in tokens. [Chen2024, Prop. 3.4]
[[nodiscard]] double tokens_per_iteration(const TokenTree& tree, const HeadAccuracies& accuracies);

/// P(X = k) at index k - 1, k = 1..depth + 1. P(X > d) is the sum of f over the nodes of depth d: they exclude each
/// other.
[[nodiscard]] std::vector<double> tokens_pmf(const TokenTree& tree, const HeadAccuracies& accuracies);

/// Var[X], in tokens^2.
[[nodiscard]] double tokens_variance(const TokenTree& tree, const HeadAccuracies& accuracies);

}  // namespace foredraft::analytic
