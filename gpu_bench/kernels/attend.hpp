// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "gpu_bench/kernels/reduce.hpp"

namespace foredraft::gpu_bench {

/// Operation Attend, with the keys split over blocks and their partial results merged in a fixed order (flash
/// decoding).
///
/// The rows of a key-value head are its queries: (token, head of the group). A block takes `tile_rows` of them and one
/// split of the keys, so that grouped heads and neighboring tokens share loads. `lanes` neighbors of a warp hold a key
/// together, eight elements each; each such group of lanes runs its own online softmax over every groups-th key,
/// without a barrier until the end.
template <class Storage, unsigned width_of_access, unsigned tile_rows>
struct AttendKernel {
  static constexpr unsigned max_threads = 128;
  static constexpr unsigned keys_in_flight = tile_rows == 1 ? 4 : 2;  ///< limited by registers

  const Storage* queries;
  const Storage* keys;
  const Storage* values;
  Storage* out;
  float* partials;          ///< blocks * tile_rows * (head_dim + 2); splits = 1: not used
  std::uint32_t* counters;  ///< blocks / splits, zero; splits = 1: not used
  unsigned batch;
  unsigned tokens;
  unsigned length;
  std::int64_t capacity;
  unsigned heads;
  unsigned kv_heads;
  unsigned head_dim;  ///< at most 256
  std::int64_t query_stride;
  bool causal;
  unsigned splits;
  float log2_scale;  ///< log2(e) / sqrt(head_dim): the softmax is taken to base 2
  unsigned threads = max_threads;

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned lanes() const {
    unsigned power = 1;
    while (power * pack_elements < head_dim) power *= 2;
    return power;
  }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows() const { return tokens * (heads / kv_heads); }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned tiles() const { return divide_up(rows(), tile_rows); }
  [[nodiscard]] LaunchShape shape() const {
    const unsigned floats = tile_rows * (threads * pack_elements + 2 * (threads / lanes())) + 1;
    return {.blocks = batch * kv_heads * tiles() * splits,
            .threads = threads,
            .shared_bytes = static_cast<unsigned>(floats * sizeof(float))};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    constexpr unsigned n = pack_elements;
    const unsigned lanes_a_key = lanes();
    const unsigned groups = block.threads() / lanes_a_key;
    const unsigned group = block.thread() / lanes_a_key;
    const unsigned element = block.thread() % lanes_a_key * n;

    const unsigned split = block.block() % splits;
    const unsigned part = block.block() / splits;
    const unsigned tile = part % tiles();
    const unsigned kv_head = part / tiles() % kv_heads;
    const unsigned sequence = part / tiles() / kv_heads;
    const unsigned first_row = tile * tile_rows;

    const unsigned per_split = divide_up(length, splits);
    const unsigned begin = split * per_split;
    unsigned end = begin + per_split < length ? begin + per_split : length;
    const unsigned last_row = first_row + tile_rows < rows() ? first_row + tile_rows - 1 : rows() - 1;
    if (visible(last_row) < end) end = visible(last_row);

    float query[tile_rows][n];
    float sum[tile_rows][n];
    float largest[tile_rows];
    float total[tile_rows];
    FOREDRAFT_UNROLL
    for (unsigned r = 0; r < tile_rows; ++r) {
      const bool present = first_row + r < rows();
      load_padded<width_of_access>(queries + (present ? offset_of_query(sequence, kv_head, first_row + r) : 0),
                                   present ? element : head_dim, head_dim, 0.0F, query[r]);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) {
        query[r][j] *= log2_scale;
        sum[r][j] = 0.0F;
      }
      largest[r] = -std::numeric_limits<float>::infinity();
      total[r] = 0.0F;
    }

    for (unsigned chunk = begin; chunk < end; chunk += groups * keys_in_flight) {
      float key[keys_in_flight][n];
      float value[keys_in_flight][n];
      FOREDRAFT_UNROLL
      for (unsigned u = 0; u < keys_in_flight; ++u) {
        const unsigned at = chunk + u * groups + group;
        const std::int64_t offset =
            ((static_cast<std::int64_t>(sequence) * capacity + (at < end ? at : begin)) * kv_heads + kv_head) *
            head_dim;
        const unsigned from = at < end ? element : head_dim;
        load_padded<width_of_access>(keys + offset, from, head_dim, 0.0F, key[u]);
        load_padded<width_of_access>(values + offset, from, head_dim, 0.0F, value[u]);
      }
      FOREDRAFT_UNROLL
      for (unsigned r = 0; r < tile_rows; ++r) {
        float score[keys_in_flight];
        float top = largest[r];
        FOREDRAFT_UNROLL
        for (unsigned u = 0; u < keys_in_flight; ++u) {
          float product = 0.0F;
          FOREDRAFT_UNROLL
          for (unsigned j = 0; j < n; ++j) product += query[r][j] * key[u][j];
          const unsigned at = chunk + u * groups + group;
          product = lane_sum(block, product, lanes_a_key);
          score[u] = at < end && at < visible(first_row + r) ? product : -std::numeric_limits<float>::infinity();
          top = score[u] > top ? score[u] : top;
        }
        const float base = top == -std::numeric_limits<float>::infinity() ? 0.0F : top;  // no key seen yet: no NaN
        const float shrink = std::exp2(largest[r] - base);
        largest[r] = top;
        total[r] *= shrink;
        FOREDRAFT_UNROLL
        for (unsigned j = 0; j < n; ++j) sum[r][j] *= shrink;
        FOREDRAFT_UNROLL
        for (unsigned u = 0; u < keys_in_flight; ++u) {
          const float weight = std::exp2(score[u] - base);
          total[r] += weight;
          FOREDRAFT_UNROLL
          for (unsigned j = 0; j < n; ++j) sum[r][j] += weight * value[u][j];
        }
      }
    }

    // NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): offsets within a block's share fit 32 bits
    const unsigned wide = lanes_a_key * n;  // head_dim with its padding
    auto* sums = reinterpret_cast<float*>(block.shared());
    float* tops = sums + tile_rows * groups * wide;
    float* totals = tops + tile_rows * groups;
    FOREDRAFT_UNROLL
    for (unsigned r = 0; r < tile_rows; ++r) {
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) sums[(r * groups + group) * wide + element + j] = sum[r][j];
      if (element == 0) {
        tops[r * groups + group] = largest[r];
        totals[r * groups + group] = total[r];
      }
    }
    block.sync();

    for (unsigned item = block.thread(); item < tile_rows * head_dim; item += block.threads()) {
      const unsigned r = item / head_dim;
      if (first_row + r >= rows()) break;
      const Merged merged =
          merge(groups, sums + r * groups * wide + item % head_dim, wide, tops + r * groups, totals + r * groups, 1);
      if (splits == 1) {
        write(sequence, kv_head, first_row + r, item % head_dim, merged);
      } else {
        float* mine = partials + (static_cast<std::int64_t>(block.block()) * tile_rows + r) * (head_dim + 2);
        mine[2 + item % head_dim] = merged.sum;
        if (item % head_dim == 0) {
          mine[0] = merged.top;
          mine[1] = merged.total;
        }
      }
    }
    if (splits == 1) return;

    auto* flag = reinterpret_cast<std::uint32_t*>(totals + tile_rows * groups);
    if (!comes_last(block, splits, counters + part, flag)) return;
    const unsigned stride = tile_rows * (head_dim + 2);
    for (unsigned item = block.thread(); item < tile_rows * head_dim; item += block.threads()) {
      const unsigned r = item / head_dim;
      if (first_row + r >= rows()) break;
      const float* of_row = partials + static_cast<std::int64_t>(part) * splits * stride + r * (head_dim + 2);
      write(sequence, kv_head, first_row + r, item % head_dim,
            merge(splits, of_row + 2 + item % head_dim, stride, of_row, of_row + 1, stride));
    }
    // NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
  }

 private:
  struct Merged {
    float top;
    float total;
    float sum;
  };

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned visible(unsigned row) const {
    return causal ? length - tokens + row / (heads / kv_heads) + 1 : length;
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE std::int64_t head_of(unsigned kv_head, unsigned row) const {
    const unsigned group = heads / kv_heads;
    return kv_head * group + row % group;
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE std::int64_t token_of(unsigned sequence, unsigned row) const {
    return static_cast<std::int64_t>(sequence) * tokens + row / (heads / kv_heads);
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE std::int64_t offset_of_query(unsigned sequence, unsigned kv_head,
                                                                   unsigned row) const {
    return token_of(sequence, row) * query_stride + head_of(kv_head, row) * head_dim;
  }

  /// Merges online softmaxes over `count` sets of keys, in their order.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static Merged merge(unsigned count, const float* sums, unsigned sum_stride,
                                                          const float* tops, const float* totals, unsigned top_stride) {
    // NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): as above
    float top = -std::numeric_limits<float>::infinity();
    for (unsigned i = 0; i < count; ++i) top = tops[i * top_stride] > top ? tops[i * top_stride] : top;
    Merged merged{top, 0.0F, 0.0F};
    for (unsigned i = 0; i < count; ++i) {
      if (tops[i * top_stride] == -std::numeric_limits<float>::infinity()) continue;  // saw no key
      const float weight = std::exp2(tops[i * top_stride] - top);
      merged.total += totals[i * top_stride] * weight;
      merged.sum += sums[i * sum_stride] * weight;
    }
    // NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
    return merged;
  }

  FOREDRAFT_HOST_DEVICE void write(unsigned sequence, unsigned kv_head, unsigned row, unsigned element,
                                   const Merged& merged) const {
    out[(token_of(sequence, row) * heads + head_of(kv_head, row)) * head_dim + element] =
        from_float<Storage>(merged.sum / merged.total);
  }
};

}  // namespace foredraft::gpu_bench
