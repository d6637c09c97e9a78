// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/check.hpp"
#include "core/contract.hpp"
#include "sim/ngram/context_counts.hpp"
#include "sim/ngram/discounts.hpp"
#include "sim/ngram/model.hpp"

namespace foredraft::ngram {
namespace {

/// A context. Its children and entries are those from its own first to the next node's first.
struct Node {
  std::uint32_t first_child;
  std::uint32_t first_entry;
  Token best;      ///< the most probable token
  double total;    ///< n(c)
  double backoff;  ///< b(c)
};

class KneserNey final : public Model {
 public:
  KneserNey(const ContextCounts& counts, std::int64_t vocabulary, int order);

  [[nodiscard]] int order() const override { return order_; }
  [[nodiscard]] std::int64_t vocabulary() const override { return static_cast<std::int64_t>(root_probability_.size()); }
  [[nodiscard]] double probability(std::span<const Token> context, Token token) const override;
  [[nodiscard]] Token sample(std::span<const Token> context, RandomStream& random) const override;
  [[nodiscard]] Token argmax(std::span<const Token> context) const override;
  void distribution(std::span<const Token> context, std::span<double> out) const override;

 private:
  /// The seen ends of a context, the empty one first.
  struct Path {
    std::array<std::uint32_t, max_order> node;
    std::size_t length;
  };

  void set_nodes(const ContextCounts& counts);
  void add_shorter_contexts(const ContextCounts& counts);
  void set_best_tokens(const ContextCounts& counts);
  [[nodiscard]] Path path(std::span<const Token> context) const;

  int order_;
  std::vector<Node> nodes_;                ///< as ContextCounts numbers them, and one behind the last
  std::vector<std::uint32_t> root_child_;  ///< [token]: the context of this token alone, 0 where there is none
  std::vector<Token> oldest_;              ///< a node: the token it adds to its parent
  std::vector<Token> token_;               ///< an entry
  std::vector<double> cumulative_;         ///< an entry: sum of n(c w) - D(n(c w)) of the node up to here
  std::vector<double> probability_;        ///< an entry: p(w | c), the shorter contexts' share included
  std::vector<double> root_probability_;   ///< [token]: p(token)
};

KneserNey::KneserNey(const ContextCounts& counts, std::int64_t vocabulary, int order)
    : order_(order),
      root_child_(static_cast<std::size_t>(vocabulary), 0),
      oldest_(counts.oldest),
      token_(counts.token),
      root_probability_(static_cast<std::size_t>(vocabulary)) {
  set_nodes(counts);
  add_shorter_contexts(counts);
  set_best_tokens(counts);
}

void KneserNey::set_nodes(const ContextCounts& counts) {
  nodes_.resize(oldest_.size() + 1);
  cumulative_.resize(token_.size());
  probability_.resize(token_.size());
  for (std::size_t level = 0; std::cmp_less(level, order_); ++level) {
    const std::uint32_t begin = counts.level_begin[level];
    const std::uint32_t end = counts.level_begin[level + 1];
    const std::uint32_t entries = counts.first_entry[begin];
    const Discounts discount =
        estimate_discounts(std::span(counts.count).subspan(entries, counts.first_entry[end] - entries));
    for (std::uint32_t n = begin; n < end; ++n) {
      Node& node = nodes_[n];
      node.first_child = counts.first_child[n];
      node.first_entry = counts.first_entry[n];
      double discounted = 0.0;
      double taken = 0.0;
      for (std::uint32_t entry = node.first_entry; entry < counts.first_entry[n + 1U]; ++entry) {
        const std::uint32_t count = counts.count[entry];
        node.total += count;
        discounted += count - discount(count);
        taken += discount(count);
        cumulative_[entry] = discounted;
      }
      for (std::uint32_t entry = node.first_entry; entry < counts.first_entry[n + 1U]; ++entry) {
        probability_[entry] = (counts.count[entry] - discount(counts.count[entry])) / node.total;
      }
      node.backoff = taken / node.total;
    }
  }
  nodes_.back().first_child = static_cast<std::uint32_t>(oldest_.size());
  nodes_.back().first_entry = static_cast<std::uint32_t>(token_.size());
  for (std::uint32_t n = nodes_[0].first_child; n < nodes_[1].first_child; ++n) {
    root_child_[static_cast<std::size_t>(oldest_[n])] = n;
  }
}

/// Adds the shorter contexts' share to each entry; a parent's entries are done before its children's.
void KneserNey::add_shorter_contexts(const ContextCounts& counts) {
  std::fill(root_probability_.begin(), root_probability_.end(),
            nodes_[0].backoff / static_cast<double>(root_probability_.size()));
  for (std::uint32_t entry = 0; entry < nodes_[1].first_entry; ++entry) {
    probability_[entry] = root_probability_[static_cast<std::size_t>(token_[entry])] += probability_[entry];
  }
  for (std::uint32_t n = 1; n + 1 < nodes_.size(); ++n) {
    for (std::uint32_t entry = nodes_[n].first_entry; entry < nodes_[n + 1U].first_entry; ++entry) {
      probability_[entry] += nodes_[n].backoff * probability_[counts.shorter[entry]];
    }
  }
}

/// The most probable token of a context either followed it, or is its parent's: any other token that did not follow it
/// has backoff times a parent's probability that is no larger.
void KneserNey::set_best_tokens(const ContextCounts& counts) {
  std::vector<double> best_probability(nodes_.size() - 1);
  const auto top = std::max_element(root_probability_.begin(), root_probability_.end());  // the first of equals
  nodes_[0].best = static_cast<Token>(top - root_probability_.begin());
  best_probability[0] = *top;
  for (std::uint32_t n = 1; n + 1 < nodes_.size(); ++n) {
    Node& node = nodes_[n];
    node.best = nodes_[counts.parent[n]].best;
    double best = node.backoff * best_probability[counts.parent[n]];
    for (std::uint32_t entry = node.first_entry; entry < nodes_[n + 1U].first_entry; ++entry) {
      if (probability_[entry] > best || (probability_[entry] == best && token_[entry] < node.best)) {
        best = probability_[entry];
        node.best = token_[entry];
      }
    }
    best_probability[n] = best;
  }
}

KneserNey::Path KneserNey::path(std::span<const Token> context) const {
  Path path{};
  path.length = 1;
  std::uint32_t node = 0;
  for (std::size_t i = context.size(); i-- > 0 && std::cmp_less(path.length, order_);) {
    if (path.length == 1) {
      const auto index = static_cast<std::size_t>(context[i]);
      if (index >= root_child_.size() || root_child_[index] == 0) break;
      node = root_child_[index];
    } else {
      const auto begin = oldest_.begin() + nodes_[node].first_child;
      const auto end = oldest_.begin() + nodes_[node + 1U].first_child;
      const auto found = std::lower_bound(begin, end, context[i]);
      if (found == end || *found != context[i]) break;
      node = static_cast<std::uint32_t>(found - oldest_.begin());
    }
    // Nodes of a context that begins with end_of_document have no children: nothing behind it is looked at.
    path.node[path.length++] = node;
  }
  return path;
}

double KneserNey::probability(std::span<const Token> context, Token token) const {
  FOREDRAFT_EXPECT(token >= 0 && token < vocabulary());
  const Path seen = path(context);
  std::size_t level = seen.length - 1;
  double result = 0.0;
  for (; level > 0; --level) {
    const std::uint32_t node = seen.node[level];
    const auto end = token_.begin() + nodes_[node + 1U].first_entry;
    const auto found = std::lower_bound(token_.begin() + nodes_[node].first_entry, end, token);
    if (found != end && *found == token) {
      result = probability_[static_cast<std::size_t>(found - token_.begin())];
      break;
    }
  }
  if (level == 0) result = root_probability_[static_cast<std::size_t>(token)];
  while (++level < seen.length) result *= nodes_[seen.node[level]].backoff;
  return result;
}

Token KneserNey::sample(std::span<const Token> context, RandomStream& random) const {
  const Path seen = path(context);
  for (std::size_t level = seen.length; level-- > 0;) {
    const std::uint32_t node = seen.node[level];
    const auto begin = cumulative_.begin() + nodes_[node].first_entry;
    const auto end = cumulative_.begin() + nodes_[node + 1U].first_entry;
    // The first cumulative sum above the draw; behind the last lies the share of the shorter context.
    const auto found = std::upper_bound(begin, end, random.uniform() * nodes_[node].total);
    if (found != end) return token_[static_cast<std::size_t>(found - cumulative_.begin())];
  }
  return static_cast<Token>(random.uniform() * static_cast<double>(root_probability_.size()));
}

Token KneserNey::argmax(std::span<const Token> context) const {
  const Path seen = path(context);
  return nodes_[seen.node[seen.length - 1]].best;
}

void KneserNey::distribution(std::span<const Token> context, std::span<double> out) const {
  check_range("out.size", static_cast<std::int64_t>(out.size()), vocabulary(), vocabulary());
  std::copy(root_probability_.begin(), root_probability_.end(), out.begin());
  const Path seen = path(context);
  for (std::size_t level = 1; level < seen.length; ++level) {
    const std::uint32_t node = seen.node[level];
    for (double& p : out) p *= nodes_[node].backoff;
    for (std::uint32_t entry = nodes_[node].first_entry; entry < nodes_[node + 1U].first_entry; ++entry) {
      out[static_cast<std::size_t>(token_[entry])] = probability_[entry];
    }
  }
}

}  // namespace

std::shared_ptr<const Model> Model::train(std::span<const std::vector<Token>> documents, std::int64_t vocabulary,
                                          int order) {
  return train(documents, vocabulary, adjacent_window(order));
}

std::shared_ptr<const Model> Model::train(std::span<const std::vector<Token>> documents, std::int64_t vocabulary,
                                          const Window& window) {
  check_window(window);
  check_range("vocabulary", vocabulary, 2, std::int64_t{1} << 30);
  return std::make_shared<const KneserNey>(count_contexts(documents, vocabulary, window), vocabulary, window.order());
}

}  // namespace foredraft::ngram
