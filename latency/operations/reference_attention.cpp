// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/reference_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "latency/operations/reference.hpp"

namespace foredraft::latency {
namespace {

std::vector<double>& at(BufferContents& contents, BufferId id) { return contents[static_cast<std::size_t>(id)]; }

std::span<double> slice(std::vector<double>& values, std::int64_t first, std::int64_t count) {
  return std::span(values).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

/// Turns the pairs (i, i + half) of one head by the angles of its position.
void rotate(std::span<double> head, std::int64_t position) {
  const std::size_t half = head.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const double angle = static_cast<double>(position) *
                         std::pow(rotary_base, -2.0 * static_cast<double>(i) / static_cast<double>(head.size()));
    const double first = head[i];
    const double second = head[i + half];
    head[i] = first * std::cos(angle) - second * std::sin(angle);
    head[i + half] = first * std::sin(angle) + second * std::cos(angle);
  }
}

/// First element of an entry of a cache [batch, capacity, kv_heads, head_dim].
template <typename Operation>
std::int64_t entry_of(const Operation& cache, std::int64_t sequence, std::int64_t position) {
  return (sequence * cache.capacity + position) * cache.kv_heads * cache.head_dim;
}

}  // namespace

void run_reference_of(const StoreKeysValues& store, BufferContents& contents) {
  std::vector<double>& packed = at(contents, store.packed);
  const std::int64_t entry = store.kv_heads * store.head_dim;
  const std::int64_t queries = store.heads * store.head_dim;
  for (std::int64_t row = 0; row < store.batch * store.tokens; ++row) {
    const std::int64_t position = store.context + row % store.tokens;
    const std::int64_t first = row * (queries + 2 * entry);
    const std::int64_t target = entry_of(store, row / store.tokens, position);
    const std::span<double> keys = slice(at(contents, store.keys), target, entry);
    const std::span<double> values = slice(at(contents, store.values), target, entry);
    std::ranges::copy(slice(packed, first + queries, entry), keys.begin());
    std::ranges::copy(slice(packed, first + queries + entry, entry), values.begin());
    if (!store.rotary) continue;
    for (std::int64_t head = 0; head < store.heads; ++head) {
      rotate(slice(packed, first + head * store.head_dim, store.head_dim), position);
    }
    for (std::int64_t head = 0; head < store.kv_heads; ++head) {
      rotate(keys.subspan(static_cast<std::size_t>(head * store.head_dim), static_cast<std::size_t>(store.head_dim)),
             position);
    }
  }
}

void run_reference_of(const Attend& attend, BufferContents& contents) {
  const std::int64_t size = attend.head_dim;
  const double scale = 1.0 / std::sqrt(static_cast<double>(size));
  std::vector<double> weights;
  for (std::int64_t row = 0; row < attend.batch * attend.tokens; ++row) {
    const std::int64_t sequence = row / attend.tokens;
    const std::int64_t seen = attend.causal ? attend.length - attend.tokens + row % attend.tokens + 1 : attend.length;
    for (std::int64_t head = 0; head < attend.heads; ++head) {
      const std::int64_t kv_head = head / (attend.heads / attend.kv_heads);
      const std::span<double> query =
          slice(at(contents, attend.queries), row * attend.query_stride + head * size, size);
      const std::span<double> out = slice(at(contents, attend.out), (row * attend.heads + head) * size, size);
      const auto vector = [&](BufferId cache, std::int64_t position) {
        return slice(at(contents, cache), entry_of(attend, sequence, position) + kv_head * size, size);
      };
      weights.clear();
      double largest = -std::numeric_limits<double>::infinity();
      for (std::int64_t position = 0; position < seen; ++position) {
        const std::span<double> key = vector(attend.keys, position);
        double score = 0.0;
        for (std::size_t i = 0; i < query.size(); ++i) score += query[i] * key[i];
        weights.push_back(score * scale);
        largest = std::max(largest, weights.back());
      }
      double total = 0.0;
      for (double& weight : weights) total += weight = std::exp(weight - largest);
      std::ranges::fill(out, 0.0);
      for (std::int64_t position = 0; position < seen; ++position) {
        const std::span<double> value = vector(attend.values, position);
        const double share = weights[static_cast<std::size_t>(position)] / total;
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += share * value[i];
      }
    }
  }
}

}  // namespace foredraft::latency
