// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "gpu_bench/kernels/reduce.hpp"

namespace foredraft::gpu_bench {

/// Blocks of attention that a multiprocessor runs at once; limited by registers.
[[nodiscard]] constexpr unsigned attend_blocks_at_once(unsigned tile_rows) { return tile_rows == 1 ? 3 : 2; }

/// Operation Attend, with the keys split over blocks and their partial results merged in a fixed order (flash
/// decoding).
///
/// The rows of a key-value head are its queries: (token, head of the group). A block takes `tile_rows` of them and one
/// split of the keys, so that grouped heads and neighboring tokens share loads. `lanes` neighbors of a warp hold a key
/// together, eight elements each. The block goes through its keys in chunks: products of queries and keys into shared
/// memory, there the online softmax of each row, then the weighted sum of the values. The next chunk's keys and values
/// are under way meanwhile.
template <class Storage, unsigned width_of_access, unsigned tile_rows>
struct AttendKernel {
  static constexpr unsigned max_threads = 128;
  static constexpr unsigned min_blocks = attend_blocks_at_once(tile_rows);
  static constexpr unsigned min_lanes = 8;
  static_assert(tile_rows <= min_lanes && (tile_rows & (tile_rows - 1)) == 0);
  /// Keys of a chunk that a thread holds; limited by registers.
  static constexpr unsigned keys_in_flight = tile_rows == 1 ? 6 : tile_rows == 4 ? 9 : 5;

  static constexpr unsigned splits_in_flight = tile_rows == 1 ? 8 : 4;  ///< that a thread loads for the merge

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
    unsigned power = min_lanes;
    while (power * pack_elements < head_dim) power *= 2;
    return power;
  }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows() const { return tokens * (heads / kv_heads); }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned tiles() const { return divide_up(rows(), tile_rows); }
  [[nodiscard]] LaunchShape shape() const {
    const unsigned chunk = threads / lanes() * keys_in_flight;
    return {.blocks = batch * kv_heads * tiles() * splits,
            .threads = threads,
            .shared_bytes = static_cast<unsigned>(shared_floats() * sizeof(float) + (2 * chunk + 3) * sizeof(OfRows) +
                                                  sizeof(std::uint32_t))};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    constexpr unsigned n = pack_elements;
    const unsigned lanes_a_key = lanes();
    const unsigned groups = block.threads() / lanes_a_key;
    const unsigned group = block.thread() / lanes_a_key;
    const unsigned lane = block.thread() % lanes_a_key;
    const unsigned chunk_keys = groups * keys_in_flight;

    const unsigned split = block.block() % splits;
    const unsigned part = block.block() / splits;
    const unsigned tile = part % tiles();
    const Place place{
        .sequence = part / tiles() / kv_heads, .kv_head = part / tiles() % kv_heads, .first_row = tile * tile_rows};

    const unsigned per_split = divide_up(length, splits);
    const unsigned begin = split * per_split;
    unsigned end = begin + per_split < length ? begin + per_split : length;
    const unsigned last_row = place.first_row + tile_rows < rows() ? place.first_row + tile_rows - 1 : rows() - 1;
    if (visible(last_row) < end) end = visible(last_row);

    auto* sums = reinterpret_cast<float*>(block.shared());
    auto* scores = reinterpret_cast<OfRows*>(sums + shared_floats());  // of two chunks
    OfRows* tops = scores + 2 * chunk_keys;
    OfRows* totals = tops + 1;
    OfRows* shrinks = tops + 2;
    auto* flag = reinterpret_cast<std::uint32_t*>(tops + 3);
    if (block.thread() < tile_rows) {
      tops->of[block.thread()] = -std::numeric_limits<float>::infinity();
      totals->of[block.thread()] = 0.0F;
    }

    float query[tile_rows][n];
    float sum[tile_rows][n];
    FOREDRAFT_UNROLL
    for (unsigned r = 0; r < tile_rows; ++r) {
      const bool present = place.first_row + r < rows();
      load_padded<width_of_access>(queries + (present ? offset_of_query(place, r) : 0), present ? lane * n : head_dim,
                                   head_dim, 0.0F, query[r]);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) {
        query[r][j] *= log2_scale;
        sum[r][j] = 0.0F;
      }
    }

    Pack<Storage> key[keys_in_flight];
    Pack<Storage> value[keys_in_flight];
    const std::int64_t first =
        ((static_cast<std::int64_t>(place.sequence) * capacity + begin + group) * kv_heads + place.kv_head) * head_dim;
    load_chunk(keys + first, begin + group, begin + group, groups, end, lane * n, key);
    load_chunk(values + first, begin + group, begin + group, groups, end, lane * n, value);
    const unsigned lanes_a_row = lanes_a_key / tile_rows;
    const unsigned row = lane / lanes_a_row;
    const unsigned row_end = visible(place.first_row + row) < end ? visible(place.first_row + row) : end;
    for (unsigned chunk = begin; chunk < end; chunk += chunk_keys) {
      FOREDRAFT_UNROLL
      for (unsigned u = 0; u < keys_in_flight; ++u) {
        float elements[n];
        unpack(key[u], elements);
        float products[tile_rows];
        FOREDRAFT_UNROLL
        for (unsigned r = 0; r < tile_rows; ++r) {
          products[r] = 0.0F;
          FOREDRAFT_UNROLL
          for (unsigned j = 0; j < n; ++j) products[r] += query[r][j] * elements[j];
        }
        const float score = scattered_lane_sum(block, products, lanes_a_key);
        const unsigned slot = u * groups + group;
        if (lane % lanes_a_row == 0) {
          scores[slot].of[row] = chunk + slot < row_end ? score : -std::numeric_limits<float>::infinity();
        }
      }
      load_chunk(keys + first, begin + group, chunk + chunk_keys + group, groups, end, lane * n, key);
      block.sync();
      weigh(block, scores, chunk_keys, *tops, *totals, *shrinks);
      block.sync();
      const OfRows shrink = *shrinks;
      FOREDRAFT_UNROLL
      for (unsigned r = 0; r < tile_rows; ++r) {
        FOREDRAFT_UNROLL
        for (unsigned j = 0; j < n; ++j) sum[r][j] *= shrink.of[r];
      }
      FOREDRAFT_UNROLL
      for (unsigned u = 0; u < keys_in_flight; ++u) {
        float elements[n];
        unpack(value[u], elements);
        const OfRows weight = scores[u * groups + group];
        FOREDRAFT_UNROLL
        for (unsigned r = 0; r < tile_rows; ++r) {
          FOREDRAFT_UNROLL
          for (unsigned j = 0; j < n; ++j) sum[r][j] += weight.of[r] * elements[j];
        }
      }
      load_chunk(values + first, begin + group, chunk + chunk_keys + group, groups, end, lane * n, value);
      // Others may still read this chunk's weights when the next chunk's scores are written.
      const auto other = tops - chunk_keys;
      scores = scores == other ? other - chunk_keys : other;
    }

    // NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): offsets within a block's share fit 32 bits
    const unsigned wide = lanes_a_key * n;  // head_dim with its padding
    FOREDRAFT_UNROLL
    for (unsigned r = 0; r < tile_rows; ++r) store<n>(sum[r], sums + (group * tile_rows + r) * wide + lane * n);
    block.sync();

    const unsigned stride = tile_rows * (head_dim + 2);  // sums, tops, totals
    float* mine = partials + static_cast<std::int64_t>(block.block()) * stride;
    for (unsigned element = block.thread(); element < head_dim; element += block.threads()) {
      OfRows merged{};
      FOREDRAFT_UNROLL_BY(4)
      for (unsigned g = 0; g < groups; ++g) {
        FOREDRAFT_UNROLL
        for (unsigned r = 0; r < tile_rows; ++r) merged.of[r] += sums[(g * tile_rows + r) * wide + element];
      }
      FOREDRAFT_UNROLL
      for (unsigned r = 0; r < tile_rows; ++r) {
        if (splits > 1) {
          mine[r * head_dim + element] = merged.of[r];
        } else {
          write(place, r, element, merged.of[r] / totals->of[r]);
        }
      }
    }
    if (splits == 1) return;
    if (block.thread() < tile_rows) {
      mine[tile_rows * head_dim + block.thread()] = tops->of[block.thread()];
      mine[tile_rows * (head_dim + 1) + block.thread()] = totals->of[block.thread()];
    }

    if (!comes_last(block, splits, counters + part, flag)) return;
    const float* of_splits = partials + static_cast<std::int64_t>(part) * splits * stride;
    auto* weights = reinterpret_cast<OfRows*>(sums);
    weigh_splits(block, of_splits + tile_rows * head_dim, stride, weights);
    block.sync();
    for (unsigned element = block.thread(); element < head_dim; element += block.threads()) {
      OfRows merged{};
      FOREDRAFT_UNROLL_BY(splits_in_flight)
      for (unsigned s = 0; s < splits; ++s) {
        FOREDRAFT_UNROLL
        for (unsigned r = 0; r < tile_rows; ++r) {
          merged.of[r] += weights[s].of[r] * of_splits[s * stride + r * head_dim + element];
        }
      }
      FOREDRAFT_UNROLL
      for (unsigned r = 0; r < tile_rows; ++r) write(place, r, element, merged.of[r]);
    }
    // NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
  }

 private:
  /// A number for each row of a tile.
  struct alignas(tile_rows % 4 == 0 ? 16 : 4) OfRows {
    float of[tile_rows];
  };

  struct Place {
    unsigned sequence;
    unsigned kv_head;
    unsigned first_row;
  };

  /// Shared memory for the sums of all groups, later for the weights of all splits; a multiple of 16 bytes.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned shared_floats() const {
    const unsigned of_groups = tile_rows * threads * pack_elements;
    const unsigned of_splits = tile_rows * divide_up(splits, 4) * 4;
    return of_groups > of_splits ? of_groups : of_splits;
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned visible(unsigned row) const {
    return causal ? length - tokens + row / (heads / kv_heads) + 1 : length;
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE std::int64_t head_of(const Place& place, unsigned row) const {
    const unsigned group = heads / kv_heads;
    return place.kv_head * group + (place.first_row + row) % group;
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE std::int64_t token_of(const Place& place, unsigned row) const {
    return static_cast<std::int64_t>(place.sequence) * tokens + (place.first_row + row) / (heads / kv_heads);
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE std::int64_t offset_of_query(const Place& place, unsigned row) const {
    return token_of(place, row) * query_stride + head_of(place, row) * head_dim;
  }

  /// The elements of every `step`-th key (or value) from `first` on; zero from `end` on. `from`: number `from_key`.
  FOREDRAFT_HOST_DEVICE void load_chunk(const Storage* from, unsigned from_key, unsigned first, unsigned step,
                                        unsigned end, unsigned element, Pack<Storage> (&to)[keys_in_flight]) const {
    FOREDRAFT_UNROLL
    for (unsigned u = 0; u < keys_in_flight; ++u) {
      const unsigned at = first + u * step;
      to[u] = load_pack<width_of_access>(from + (at - from_key) * kv_heads * head_dim, at < end ? element : head_dim,
                                         head_dim);
    }
  }

  /// Online softmax of a chunk, a warp to a row: replaces scores by weights; `shrink`: the factor of earlier weights.
  template <class Block>
  FOREDRAFT_HOST_DEVICE void weigh(Block& block, OfRows* scores, unsigned count, OfRows& tops, OfRows& totals,
                                   OfRows& shrinks) const {
    const unsigned lane = block.thread() % warp_lanes;
    for (unsigned r = block.thread() / warp_lanes; r < tile_rows; r += block.threads() / warp_lanes) {
      const float before = tops.of[r];
      float top = before;
      for (unsigned i = lane; i < count; i += warp_lanes) top = scores[i].of[r] > top ? scores[i].of[r] : top;
      top = lane_top(block, top);
      const float base = top == -std::numeric_limits<float>::infinity() ? 0.0F : top;  // no key seen yet: no NaN
      float total = 0.0F;
      for (unsigned i = lane; i < count; i += warp_lanes) {
        scores[i].of[r] = std::exp2(scores[i].of[r] - base);
        total += scores[i].of[r];
      }
      total = lane_sum(block, total);
      if (lane == 0) {
        shrinks.of[r] = std::exp2(before - base);
        totals.of[r] = totals.of[r] * shrinks.of[r] + total;
        tops.of[r] = top;
      }
    }
  }

  /// The factors of the splits' sums, a warp to a row. `tops`: of the first split, followed by its totals.
  template <class Block>
  FOREDRAFT_HOST_DEVICE void weigh_splits(Block& block, const float* tops, unsigned stride, OfRows* weights) const {
    // NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): as above
    const unsigned lane = block.thread() % warp_lanes;
    for (unsigned r = block.thread() / warp_lanes; r < tile_rows; r += block.threads() / warp_lanes) {
      float top = -std::numeric_limits<float>::infinity();
      for (unsigned s = lane; s < splits; s += warp_lanes)
        top = tops[s * stride + r] > top ? tops[s * stride + r] : top;
      top = lane_top(block, top);
      float total = 0.0F;
      for (unsigned s = lane; s < splits; s += warp_lanes) {
        weights[s].of[r] = std::exp2(tops[s * stride + r] - top);
        total += weights[s].of[r] * tops[s * stride + tile_rows + r];
      }
      total = lane_sum(block, total);
      for (unsigned s = lane; s < splits; s += warp_lanes) weights[s].of[r] /= total;
    }
    // NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
  }

  /// `row` of the tile, if there is one.
  FOREDRAFT_HOST_DEVICE void write(const Place& place, unsigned row, unsigned element, float value) const {
    if (place.first_row + row >= rows()) return;
    out[(token_of(place, row) * heads + head_of(place, row)) * head_dim + element] = from_float<Storage>(value);
  }
};

}  // namespace foredraft::gpu_bench
