// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/model.hpp"

#include <algorithm>
#include <utility>

#include "core/check.hpp"

namespace foredraft::ngram {

/// The contexts of a training text and the tokens that followed each, as a trie that grows backward in time. Node 0 is
/// the empty context; a child adds one older token, the window's next. Nodes are numbered by length of context, then
/// parent, then added token. The entries of a node are the tokens that followed it, sorted.
struct ContextCounts {
  std::vector<std::uint32_t> level_begin;  ///< [d]: first node of d tokens; [order]: number of nodes
  std::vector<std::uint32_t> parent;       ///< per node: the context without its oldest token; 0 for node 0
  std::vector<Token> oldest;               ///< per node: the token it adds to its parent; unused for node 0
  std::vector<std::uint32_t> first_child;  ///< nodes + 1
  std::vector<std::uint32_t> first_entry;  ///< nodes + 1
  std::vector<Token> token;                ///< per entry
  std::vector<std::uint32_t> count;        ///< per entry: n(c w) as defined by Model
  std::vector<std::uint32_t> shorter;      ///< per entry: the entry of the same token in the parent; 0 in node 0
};

namespace {

/// All documents concatenated, with an end_of_document before each and after the last.
std::vector<Token> join(std::span<const std::vector<Token>> documents, std::int64_t vocabulary) {
  std::vector<Token> stream{end_of_document};
  for (const std::vector<Token>& document : documents) {
    for (const Token token : document) {
      check_range("token", token, 0, vocabulary - 1);
      if (token != end_of_document || stream.back() != end_of_document) stream.push_back(token);
    }
    if (stream.back() != end_of_document) stream.push_back(end_of_document);
  }
  if (stream.size() == 1) throw DomainError("invalid corpus=empty (must have at least one token)");
  // With this limit, five levels of nodes and entries fit into 32 bits.
  check_range("tokens", static_cast<std::int64_t>(stream.size()), 2, std::int64_t{1} << 29);
  return stream;
}

/// A predicted position of the text with its context at the current level.
struct Place {
  std::uint64_t key;  ///< node in the high half, a token in the low half
  std::uint32_t position;

  [[nodiscard]] std::uint32_t node() const { return static_cast<std::uint32_t>(key >> 32U); }
};

/// The token `distance` places before a position.
Token token_before(const std::vector<Token>& stream, std::uint32_t position, int distance) {
  return std::cmp_less(position, distance) ? end_of_document : stream[position - static_cast<std::uint32_t>(distance)];
}

std::uint64_t make_key(std::uint32_t node, Token token) {
  return std::uint64_t{node} << 32U | static_cast<std::uint32_t>(token);
}

/// Assigns a node to each distinct (parent, older token) of the places, and sets the places to it.
void add_nodes(ContextCounts& counts, std::vector<Place>& places) {
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.key < b.key; });
  std::uint64_t previous = 0;
  bool first = true;
  for (Place& place : places) {
    if (first || place.key != previous) {
      counts.parent.push_back(place.node());
      counts.oldest.push_back(static_cast<Token>(place.key & 0xffffffffU));
      previous = place.key;
      first = false;
    }
    place.key = make_key(static_cast<std::uint32_t>(counts.parent.size() - 1), 0);
  }
}

/// Entries of the newest level, with their counts in the text.
void add_entries(ContextCounts& counts, const std::vector<Place>& places, const std::vector<Token>& stream) {
  std::vector<std::uint64_t> keys;
  keys.reserve(places.size());
  for (const Place& place : places) keys.push_back(make_key(place.node(), stream[place.position]));
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i != 0 && keys[i] == keys[i - 1]) {
      ++counts.count.back();
      continue;
    }
    // The first entry of a node: every node has one.
    if (i == 0 || keys[i] >> 32U != keys[i - 1] >> 32U) {
      counts.first_entry.push_back(static_cast<std::uint32_t>(counts.token.size()));
    }
    counts.token.push_back(static_cast<Token>(keys[i] & 0xffffffffU));
    counts.count.push_back(1);
  }
}

void link_children(ContextCounts& counts) {
  const std::size_t nodes = counts.parent.size();
  counts.first_child.assign(nodes + 1, static_cast<std::uint32_t>(nodes));
  // Parents increase with the node number, so a backward scan leaves the first child of each.
  for (std::size_t node = nodes - 1; node >= 1; --node) {
    counts.first_child[counts.parent[node]] = static_cast<std::uint32_t>(node);
  }
  for (std::size_t node = nodes; node-- > 0;) {
    if (counts.first_child[node] == nodes) counts.first_child[node] = counts.first_child[node + 1];
  }
}

void link_shorter_entries(ContextCounts& counts) {
  counts.shorter.assign(counts.token.size(), 0);
  for (std::size_t node = 1; node < counts.parent.size(); ++node) {
    std::uint32_t at = counts.first_entry[counts.parent[node]];
    const auto parent_end = counts.token.begin() + counts.first_entry[counts.parent[node] + 1U];
    for (std::uint32_t entry = counts.first_entry[node]; entry < counts.first_entry[node + 1]; ++entry) {
      const auto found = std::lower_bound(counts.token.begin() + at, parent_end, counts.token[entry]);
      FOREDRAFT_ENSURE(found != parent_end && *found == counts.token[entry]);
      at = static_cast<std::uint32_t>(found - counts.token.begin());
      counts.shorter[entry] = at;
    }
  }
}

/// Counts distinct predecessors instead, except in the longest contexts and those that nothing can precede.
void use_continuation_counts(ContextCounts& counts, int order) {
  const auto longest = counts.level_begin[static_cast<std::size_t>(order) - 1];
  for (std::uint32_t node = 0; node < longest; ++node) {
    if (node != 0 && counts.oldest[node] == end_of_document) continue;
    std::fill(counts.count.begin() + counts.first_entry[node], counts.count.begin() + counts.first_entry[node + 1U], 0);
  }
  for (std::size_t entry = counts.first_entry[1]; entry < counts.token.size(); ++entry) {
    ++counts.count[counts.shorter[entry]];
  }
}

/// Throws DomainError for no tokens at all, more than 2^29 of them, or a token outside 0 .. vocabulary - 1.
ContextCounts count_contexts(std::span<const std::vector<Token>> documents, std::int64_t vocabulary,
                             const Window& window) {
  const std::vector<Token> stream = join(documents, vocabulary);
  ContextCounts counts;
  counts.level_begin = {0};
  counts.parent = {0};
  counts.oldest = {unknown_word};
  std::vector<Place> places;
  places.reserve(stream.size());
  for (std::size_t i = 1; i < stream.size(); ++i) places.push_back({0, static_cast<std::uint32_t>(i)});
  add_entries(counts, places, stream);

  for (std::size_t k = 0; k < window.distances.size(); ++k) {
    counts.level_begin.push_back(static_cast<std::uint32_t>(counts.parent.size()));
    // A context that begins with end_of_document cannot be extended.
    std::erase_if(places, [&](const Place& place) {
      return k > 0 && token_before(stream, place.position, window.distances[k - 1]) == end_of_document;
    });
    for (Place& place : places) {
      place.key = make_key(place.node(), token_before(stream, place.position, window.distances[k]));
    }
    add_nodes(counts, places);
    add_entries(counts, places, stream);
  }
  counts.level_begin.push_back(static_cast<std::uint32_t>(counts.parent.size()));
  counts.first_entry.push_back(static_cast<std::uint32_t>(counts.token.size()));
  link_children(counts);
  link_shorter_entries(counts);
  if (window.order() > 1) use_continuation_counts(counts, window.order());
  return counts;
}

}  // namespace

Model::Model(const ContextCounts& counts, std::int64_t vocabulary, int order)
    : order_(order),
      root_child_(static_cast<std::size_t>(vocabulary), 0),
      oldest_(counts.oldest),
      token_(counts.token),
      root_probability_(static_cast<std::size_t>(vocabulary)) {
  set_nodes(counts);
  add_shorter_contexts(counts);
  set_best_tokens(counts);
}

void Model::set_nodes(const ContextCounts& counts) {
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

/// Adds the contribution of shorter contexts to each entry; parents before children.
void Model::add_shorter_contexts(const ContextCounts& counts) {
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

/// The most probable token of a context is either one that followed it or its parent's: any other token that did not
/// follow it has backoff times a smaller or equal probability of the parent.
void Model::set_best_tokens(const ContextCounts& counts) {
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

Model::Path Model::path(std::span<const Token> context) const {
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
    // A node whose context begins with end_of_document has no children, so the search stops there.
    path.node[path.length++] = node;
  }
  return path;
}

double Model::probability(std::span<const Token> context, Token token) const {
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

Token Model::sample(std::span<const Token> context, RandomStream& random) const {
  const Path seen = path(context);
  for (std::size_t level = seen.length; level-- > 0;) {
    const std::uint32_t node = seen.node[level];
    const auto begin = cumulative_.begin() + nodes_[node].first_entry;
    const auto end = cumulative_.begin() + nodes_[node + 1U].first_entry;
    // The first cumulative sum above the draw; the remaining mass belongs to the shorter context.
    const auto found = std::upper_bound(begin, end, random.uniform() * nodes_[node].total);
    if (found != end) return token_[static_cast<std::size_t>(found - cumulative_.begin())];
  }
  return static_cast<Token>(random.uniform() * static_cast<double>(root_probability_.size()));
}

Token Model::argmax(std::span<const Token> context) const {
  const Path seen = path(context);
  return nodes_[seen.node[seen.length - 1]].best;
}

void Model::distribution(std::span<const Token> context, std::span<double> out) const {
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

std::shared_ptr<const Model> Model::train(std::span<const std::vector<Token>> documents, std::int64_t vocabulary,
                                          int order) {
  return train(documents, vocabulary, adjacent_window(order));
}

std::shared_ptr<const Model> Model::train(std::span<const std::vector<Token>> documents, std::int64_t vocabulary,
                                          const Window& window) {
  check_window(window);
  check_range("vocabulary", vocabulary, 2, std::int64_t{1} << 30);
  return std::make_shared<const Model>(count_contexts(documents, vocabulary, window), vocabulary, window.order());
}

}  // namespace foredraft::ngram
