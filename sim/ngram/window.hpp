// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foredraft/scenario.hpp"

/// Which earlier tokens a language model looks at: the next to the last ones, or with a gap between.
namespace foredraft::ngram {

/// The farthest position that a head or a stage predicts.
inline constexpr int max_heads = max_ngram_heads;

/// Where the tokens of a context stand.
struct Window {
  /// [k]: places from the predicted token back to the context's k-th nearest token; from 1 on, strictly increasing.
  std::vector<int> distances;

  [[nodiscard]] int order() const { return static_cast<int>(distances.size()) + 1; }
};

/// The last order - 1 tokens: an n-gram model. Throws DomainError on an order outside 1 .. max_order.
[[nodiscard]] Window adjacent_window(int order);

/// A head for the token `position` >= 1 places behind the last of the order - 1 tokens that it sees: blind to the
/// position - 1 tokens between, a skip-gram [Stern2018; Cai2024]. Position 1 is adjacent_window. Throws DomainError on
/// an order outside 1 .. max_order or a position outside 1 .. max_heads.
[[nodiscard]] Window head_window(int order, int position);

/// A stage that sees what the head of its position does and, nearest, the token right before the predicted one
/// [Wertheimer2024]: one token more from position 2 on. Throws DomainError as head_window, and on an order of
/// max_order.
[[nodiscard]] Window stage_window(int order, int position);

/// Throws DomainError on more than max_order - 1 distances and on distances that do not increase from 1 on.
void check_window(const Window& window);

}  // namespace foredraft::ngram
