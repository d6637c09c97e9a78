// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/context_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/check.hpp"
#include "core/contract.hpp"

namespace foredraft::ngram {
namespace {

/// All documents in a row, with one end_of_document in front of each and behind the last.
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
  // Five levels of nodes and of entries then fit 32 bits.
  check_range("tokens", static_cast<std::int64_t>(stream.size()), 2, std::int64_t{1} << 29);
  return stream;
}

/// A predicted position of the text, at the context it has at the current level.
struct Place {
  std::uint64_t key;  ///< node in the high half, a token in the low half
  std::uint32_t position;

  [[nodiscard]] std::uint32_t node() const { return static_cast<std::uint32_t>(key >> 32U); }
};

/// The token `distance` places in front of a position.
Token token_before(const std::vector<Token>& stream, std::uint32_t position, int distance) {
  return std::cmp_less(position, distance) ? end_of_document : stream[position - static_cast<std::uint32_t>(distance)];
}

std::uint64_t make_key(std::uint32_t node, Token token) {
  return std::uint64_t{node} << 32U | static_cast<std::uint32_t>(token);
}

/// Gives each different (parent, older token) of the places a node, and puts the places there.
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
  // Parents increase with the node number, so a scan from the back leaves the first child of each.
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

/// Replaces counts in the text by numbers of different predecessors, except in the longest contexts and in those that
/// nothing can precede.
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

}  // namespace

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
    // A context that begins with end_of_document has no longer one.
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

}  // namespace foredraft::ngram
