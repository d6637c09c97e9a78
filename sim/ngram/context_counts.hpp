// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/ngram/model.hpp"

namespace foredraft::ngram {

/// The contexts of a training text and the tokens that followed each, as a trie that grows backward in time.
///
/// Node 0 is the empty context; a child adds one older token, the window's next, to its parent. Nodes are numbered by
/// length of context, then parent, then added token, so the children of a node are contiguous and sorted. The entries
/// of a node are the tokens that followed it, sorted; every token that followed a context also followed its parent.
struct ContextCounts {
  std::vector<std::uint32_t> level_begin;  ///< [d]: first node of d tokens; [order]: number of nodes
  std::vector<std::uint32_t> parent;       ///< per node: the context without its oldest token; 0 for node 0
  std::vector<Token> oldest;               ///< per node: the token it adds to its parent; unused for node 0
  std::vector<std::uint32_t> first_child;  ///< nodes + 1
  std::vector<std::uint32_t> first_entry;  ///< nodes + 1
  std::vector<Token> token;                ///< per entry
  std::vector<std::uint32_t> count;        ///< per entry: n(c w) as defined by Model
  std::vector<std::uint32_t> shorter;      ///< per entry: that of the same token in the parent; 0 in node 0
};

/// Throws DomainError for no tokens at all, more than 2^29 of them, or a token outside 0 .. vocabulary - 1.
[[nodiscard]] ContextCounts count_contexts(std::span<const std::vector<Token>> documents, std::int64_t vocabulary,
                                           const Window& window);

}  // namespace foredraft::ngram
