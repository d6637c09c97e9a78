// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "gpu_bench/kernels/reduce.hpp"

namespace foredraft::gpu_bench {

/// The work of operation Attend, and how it is divided: the rows of a key-value head are its queries (token, head of
/// the group); a block takes a tile of them and one split of the keys, and the last block of a tile to finish merges
/// the splits in a fixed order (flash decoding).
template <class Storage>
struct AttendCall {
  const Storage* queries;
  const Storage* keys;
  const Storage* values;
  Storage* out;
  float* partials;          ///< of the blocks; splits = 1: not used
  std::uint32_t* counters;  ///< blocks / splits, zero; splits = 1: not used
  unsigned batch;
  unsigned tokens;
  unsigned length;
  std::int64_t capacity;
  Divisor kv_heads;
  Divisor group_heads;  ///< query heads of a key-value head
  Divisor tiles;        ///< of the tokens * group_heads rows of a key-value head
  unsigned head_dim;    ///< at most 256
  std::int64_t query_stride;
  bool causal;
  Divisor splits;
  unsigned keys_a_split;
  float log2_scale;  ///< log2(e) / sqrt(head_dim): the softmax is taken to base 2

  /// What a block does.
  struct Share {
    unsigned tile;         ///< of all; the blocks of its splits follow one another
    unsigned first_token;  ///< of the sequence
    unsigned first_head;   ///< of the key-value head
    unsigned first_row;
    unsigned last_row;
    std::int64_t first_key;  ///< place of the first element of the head's keys, and of its values
    unsigned begin;          ///< of its keys
    unsigned end;
  };

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows() const { return tokens * group_heads; }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned blocks() const { return batch * kv_heads * tiles * splits; }

  /// The number of keys that a row sees.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned visible(unsigned row) const {
    return causal ? length - tokens + row / group_heads + 1 : length;
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE Share share_of(unsigned block, unsigned tile_rows) const {
    const unsigned tile = block / splits;
    const unsigned split = block - tile * splits;
    const unsigned head = tile / tiles;  // of all sequences
    const unsigned sequence = head / kv_heads;
    const unsigned kv_head = head - sequence * kv_heads;
    const unsigned first_row = (tile - head * tiles) * tile_rows;
    const unsigned last_row = first_row + tile_rows < rows() ? first_row + tile_rows - 1 : rows() - 1;
    const unsigned begin = split * keys_a_split;
    unsigned end = begin + keys_a_split < length ? begin + keys_a_split : length;
    if (visible(last_row) < end) end = visible(last_row);
    return {.tile = tile,
            .first_token = sequence * tokens,
            .first_head = kv_head * group_heads,
            .first_row = first_row,
            .last_row = last_row,
            .first_key = (sequence * capacity * kv_heads + kv_head) * head_dim,
            .begin = begin,
            .end = end};
  }

  /// Writes `count` elements of the result of a row, from `element` on, times `factor`; nothing for a row beyond the
  /// last. `count` is 1, or 4 where heads are whole packs.
  template <unsigned count>
  FOREDRAFT_HOST_DEVICE void write(const Share& share, unsigned row, unsigned element, const float (&sums)[count],
                                   float factor) const {
    struct alignas(count * sizeof(Storage)) Written {
      Storage of[count];
    };
    if (row >= rows() || element >= head_dim) return;
    const unsigned token = row / group_heads;
    const unsigned head = share.first_head + row - token * group_heads;
    const std::int64_t out_head = static_cast<std::int64_t>(share.first_token + token) * kv_heads * group_heads + head;
    Written written;
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < count; ++j) written.of[j] = from_float<Storage>(sums[j] * factor);
    *reinterpret_cast<Written*>(out + out_head * head_dim + element) = written;
  }
};

/// Blocks of attention that a multiprocessor runs at once; limited by registers.
[[nodiscard]] constexpr unsigned attend_blocks_at_once(unsigned tile_rows) { return tile_rows == 8 ? 2 : 3; }

/// Binary logarithm of the number of threads that hold a key of attention together, a pack each; at least 3.
[[nodiscard]] constexpr unsigned attend_lanes_log2(unsigned head_dim) {
  unsigned log2 = 3;
  while ((pack_elements << log2) < head_dim) ++log2;
  return log2;
}

/// Floats of workspace for each block of attention, if the keys are split.
[[nodiscard]] FOREDRAFT_HOST_DEVICE constexpr unsigned attend_partial_floats(unsigned tile_rows, unsigned lanes_log2) {
  return tile_rows * ((pack_elements << lanes_log2) + 4);  // sums, tops, totals; a multiple of 16 bytes
}

/// Operation Attend on the CUDA cores, `tile_rows` rows to a block, so that grouped heads and neighboring
/// tokens share loads. Neighbors of a warp hold a key together, eight elements each. The block goes through its keys in
/// chunks: products of queries and keys into shared memory, there the online softmax of each row, then the weighted sum
/// of the values. The next chunk's keys and values are copied to shared memory meanwhile; a thread reads only what it
/// copied itself. Loops stay loops where they can: between two layers of a model the weights evict the code from the
/// caches, and loading it again takes time.
template <class Storage, unsigned width_of_access, unsigned tile_rows>
struct AttendKernel {
  static constexpr unsigned max_threads = 128;
  static constexpr unsigned min_blocks = attend_blocks_at_once(tile_rows);
  static constexpr unsigned keys_in_flight = 8;  ///< keys of a chunk that a thread holds
  static constexpr unsigned scores_at_once = 8;
  static constexpr unsigned keys_at_once = scores_at_once / tile_rows;
  static_assert(keys_at_once * tile_rows == scores_at_once && keys_in_flight % keys_at_once == 0);

  using Share = typename AttendCall<Storage>::Share;

  AttendCall<Storage> call;
  unsigned lanes_log2;  ///< attend_lanes_log2(head_dim)
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    const unsigned chunk = (threads >> lanes_log2) * keys_in_flight;
    return {.blocks = call.blocks(),
            .threads = threads,
            .shared_bytes = static_cast<unsigned>(shared_bytes_reused() + (2 * chunk + 3) * sizeof(OfRows) +
                                                  sizeof(std::uint32_t))};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    constexpr unsigned n = pack_elements;
    const unsigned lanes = 1U << lanes_log2;
    const unsigned lane = block.thread() % lanes;
    const unsigned group = block.thread() >> lanes_log2;
    const unsigned groups = block.threads() >> lanes_log2;
    const unsigned chunk_keys = groups * keys_in_flight;

    const auto share = call.share_of(block.block(), tile_rows);
    const unsigned begin = share.begin;
    const unsigned end = share.end;

    auto* key = reinterpret_cast<Pack<Storage>*>(block.shared()) + block.thread();
    auto* value = key + keys_in_flight * block.threads();
    auto* scores = reinterpret_cast<OfRows*>(block.shared() + shared_bytes_reused());  // of two chunks
    OfRows* tops = scores + 2 * chunk_keys;
    OfRows* totals = tops + 1;
    OfRows* shrinks = tops + 2;
    auto* flag = reinterpret_cast<std::uint32_t*>(tops + 3);

    fetch(block, call.keys + share.first_key, begin, end, key);
    fetch(block, call.values + share.first_key, begin, end, value);
    if (block.thread() < tile_rows) {
      tops->of[block.thread()] = -std::numeric_limits<float>::infinity();
      totals->of[block.thread()] = 0.0F;
    }
    const bool pads = lane * n >= call.head_dim;
    const unsigned element = pads ? 0 : lane * n;
    float query[tile_rows][n];
    float sum[tile_rows][n];
    unsigned query_head = share.first_row - share.first_row / call.group_heads * call.group_heads;
    const Storage* from = call.queries + (share.first_token + share.first_row / call.group_heads) * call.query_stride +
                          static_cast<std::int64_t>(share.first_head + query_head) * call.head_dim;
    Pack<Storage> packs[tile_rows];  // under way together
    FOREDRAFT_UNROLL
    for (unsigned r = 0; r < tile_rows; ++r) {
      if constexpr (width_of_access == n) {
        packs[r] = *reinterpret_cast<const Pack<Storage>*>(from + element);
      } else {
        packs[r] = load_pack<1>(from, element, call.head_dim);
      }
      // A row that is missing repeats the last one, and is not written.
      const bool last = share.first_row + r >= share.last_row;
      const bool next_token = query_head + 1 == call.group_heads;
      const std::int64_t step =
          next_token ? call.query_stride - static_cast<std::int64_t>(query_head) * call.head_dim : call.head_dim;
      from += last ? 0 : step;
      query_head = next_token ? 0 : query_head + 1;
    }
    FOREDRAFT_UNROLL
    for (unsigned r = 0; r < tile_rows; ++r) {
      unpack(packs[r], query[r]);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) sum[r][j] = 0.0F;
    }

    const unsigned lanes_a_score = lanes / scores_at_once;
    const unsigned score_of_lane = lane >> (lanes_log2 - 3);
    const unsigned row = score_of_lane % tile_rows;
    const unsigned row_end = call.visible(share.first_row + row) < end ? call.visible(share.first_row + row) : end;
    FOREDRAFT_UNROLL_BY(1)
    for (unsigned chunk = begin; chunk < end; chunk += chunk_keys) {
      block.wait_for_copies();
      unsigned u = 0;
      FOREDRAFT_UNROLL_BY(1)
      for (; u < keys_in_flight && chunk + u * groups < end; u += keys_at_once) {
        float products[scores_at_once];
        FOREDRAFT_UNROLL
        for (unsigned k = 0; k < keys_at_once; ++k) {
          float elements[n];
          unpack(key[(u + k) * block.threads()], elements);
          FOREDRAFT_UNROLL
          for (unsigned r = 0; r < tile_rows; ++r) {
            float product = 0.0F;
            FOREDRAFT_UNROLL
            for (unsigned j = 0; j < n; ++j) product += query[r][j] * elements[j];
            products[k * tile_rows + r] = pads ? 0.0F : product;
          }
        }
        const float score = scattered_lane_sum(block, products, lanes) * call.log2_scale;
        const unsigned slot = (u + score_of_lane / tile_rows) * groups + group;
        if (lane % lanes_a_score == 0) {
          scores[slot].of[row] = chunk + slot < row_end ? score : -std::numeric_limits<float>::infinity();
        }
      }
      block.sync();
      fetch(block, call.keys + share.first_key, chunk + chunk_keys, end, key);
      weigh(block, scores, u * groups, *tops, *totals, *shrinks);
      block.sync();
      const OfRows shrink = *shrinks;
      FOREDRAFT_UNROLL
      for (unsigned r = 0; r < tile_rows; ++r) {
        FOREDRAFT_UNROLL
        for (unsigned j = 0; j < n; ++j) sum[r][j] *= shrink.of[r];
      }
      block.wait_for_copies();
      FOREDRAFT_UNROLL_BY(values_unrolled)
      for (u = 0; u < keys_in_flight && chunk + u * groups < end; ++u) {
        float elements[n];
        unpack(value[u * block.threads()], elements);
        const OfRows weight = scores[u * groups + group];
        FOREDRAFT_UNROLL
        for (unsigned r = 0; r < tile_rows; ++r) {
          FOREDRAFT_UNROLL
          for (unsigned j = 0; j < n; ++j) sum[r][j] += weight.of[r] * elements[j];
        }
      }
      fetch(block, call.values + share.first_key, chunk + chunk_keys, end, value);
      // Others may still read this chunk's weights when the next chunk's scores are written.
      const auto other = tops - chunk_keys;
      scores = scores == other ? other - chunk_keys : other;
    }

    // NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): offsets within a block's share fit 32 bits
    const unsigned tile_floats = tile_rows * n << lanes_log2;  // with the padding of head_dim
    auto* sums = reinterpret_cast<float*>(block.shared());
    block.sync();
    FOREDRAFT_UNROLL
    for (unsigned r = 0; r < tile_rows; ++r) {
      store<n>(sum[r], sums + group * tile_floats + ((r << lanes_log2) + lane) * n);
    }
    block.sync();

    const unsigned partial_floats = attend_partial_floats(tile_rows, lanes_log2);
    float* mine = call.partials + static_cast<std::int64_t>(block.block()) * partial_floats;
    FOREDRAFT_UNROLL_BY(1)
    for (unsigned at = block.thread() * neighbors; at < tile_floats; at += block.threads() * neighbors) {
      Neighbors merged{};
      FOREDRAFT_UNROLL_BY(2)
      for (unsigned g = 0; g < groups; ++g) {
        merged.add(*reinterpret_cast<const Neighbors*>(sums + g * tile_floats + at), 1.0F);
      }
      if (call.splits > 1) {
        *reinterpret_cast<Neighbors*>(mine + at) = merged;
      } else {
        write(share, at, merged, reciprocal(totals->of[at / n >> lanes_log2]));
      }
    }
    if (call.splits == 1) return;
    if (block.thread() < tile_rows) {
      mine[tile_floats + block.thread()] = tops->of[block.thread()];
      mine[tile_floats + tile_rows + block.thread()] = totals->of[block.thread()];
    }

    if (!comes_last(block, call.splits, call.counters + share.tile, flag)) return;
    const float* of_splits = call.partials + static_cast<std::int64_t>(share.tile) * call.splits * partial_floats;
    auto* weights = reinterpret_cast<OfRows*>(sums);
    weigh_splits(block, of_splits + tile_floats, partial_floats, weights);
    block.sync();
    FOREDRAFT_UNROLL_BY(1)
    for (unsigned at = block.thread() * neighbors; at < tile_floats; at += block.threads() * neighbors) {
      const unsigned r = at / n >> lanes_log2;
      Neighbors merged{};
      FOREDRAFT_UNROLL_BY(1)
      for (unsigned s = 0; s < call.splits; s += splits_at_once) {
        Neighbors sum_of[splits_at_once];
        FOREDRAFT_UNROLL
        for (unsigned i = 0; i < splits_at_once; ++i) {
          const unsigned present = s + i < call.splits ? s + i : call.splits - 1;
          sum_of[i] = *reinterpret_cast<const Neighbors*>(of_splits + present * partial_floats + at);
        }
        FOREDRAFT_UNROLL
        for (unsigned i = 0; i < splits_at_once; ++i) merged.add(sum_of[i], weights[s + i].of[r]);
      }
      write(share, at, merged, 1.0F);
    }
    // NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
  }

 private:
  static constexpr unsigned splits_at_once = 8;  ///< that a thread loads for the merge
  static constexpr unsigned values_unrolled = tile_rows == 1 ? 4 : 1;
  static constexpr unsigned neighbors = width_of_access == 1 ? 1 : 4;  ///< elements that a thread merges at a time

  /// A number for each row of a tile.
  struct alignas(tile_rows % 4 == 0 ? 16 : 4) OfRows {
    float of[tile_rows];
  };

  struct alignas(neighbors * sizeof(float)) Neighbors {
    float of[neighbors];

    FOREDRAFT_HOST_DEVICE void add(const Neighbors& added, float weight) {
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < neighbors; ++j) of[j] += weight * added.of[j];
    }
  };

  /// Shared memory for packs of keys and values, later for the sums of all groups, later for the weights of all
  /// splits; a multiple of 16.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned shared_bytes_reused() const {
    const unsigned packs = 2 * keys_in_flight * threads * static_cast<unsigned>(sizeof(Pack<Storage>));
    const unsigned of_groups = tile_rows * threads * pack_elements * static_cast<unsigned>(sizeof(float));
    const unsigned of_splits = tile_rows * splits_padded() * static_cast<unsigned>(sizeof(float));
    const unsigned larger = packs > of_groups ? packs : of_groups;
    return larger > of_splits ? larger : of_splits;
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned splits_padded() const {
    return divide_up(call.splits, splits_at_once) * splits_at_once;
  }

  /// Starts copying the packs of this thread: of every groups-th key (or value) of a chunk, up to `end`. `from`: of the
  /// sequence and head.
  template <class Block>
  FOREDRAFT_HOST_DEVICE void fetch(Block& block, const Storage* from, unsigned chunk, unsigned end,
                                   Pack<Storage>* to) const {
    const unsigned groups = block.threads() >> lanes_log2;
    const unsigned group = block.thread() >> lanes_log2;
    const unsigned element = block.thread() % (1U << lanes_log2) * pack_elements;
    const std::int64_t stride = static_cast<std::int64_t>(call.kv_heads) * call.head_dim;
    FOREDRAFT_UNROLL_BY(1)
    for (unsigned u = 0; u < keys_in_flight && chunk + u * groups < end; ++u) {
      const unsigned wanted = chunk + u * groups + group;
      const Storage* head = from + (wanted < end ? wanted : end - 1) * stride;  // what is not wanted gets weight 0
      if constexpr (width_of_access == pack_elements) {
        block.copy_to_shared(head + (element < call.head_dim ? element : 0), to + u * block.threads());
      } else {
        to[u * block.threads()] = load_pack<1>(head, element, call.head_dim);
      }
    }
    block.end_copies();
  }

  // In the next two functions all lanes go through all loops together: else the compiler doubles the code of shuffles.

  /// Online softmax of a chunk, a warp to a row: replaces scores by weights; `shrink`: the factor of earlier weights.
  template <class Block>
  FOREDRAFT_HOST_DEVICE void weigh(Block& block, OfRows* scores, unsigned count, OfRows& tops, OfRows& totals,
                                   OfRows& shrinks) const {
    const unsigned lane = block.thread() % warp_lanes;
    FOREDRAFT_UNROLL_BY(1)
    for (unsigned first = 0; first < tile_rows; first += block.threads() / warp_lanes) {
      const unsigned row = first + block.thread() / warp_lanes;
      const unsigned r = row % tile_rows;
      const unsigned end = row < tile_rows ? count : 0;
      const float before = tops.of[r];
      float top = -std::numeric_limits<float>::infinity();
      FOREDRAFT_UNROLL_BY(1)
      for (unsigned i = lane; i < count + lane; i += warp_lanes) {
        if (i < end) top = scores[i].of[r] > top ? scores[i].of[r] : top;
      }
      top = lane_top(block, top);
      top = before > top ? before : top;
      const float base = top == -std::numeric_limits<float>::infinity() ? 0.0F : top;  // no key seen yet: no NaN
      float total = 0.0F;
      FOREDRAFT_UNROLL_BY(1)
      for (unsigned i = lane; i < count + lane; i += warp_lanes) {
        if (i >= end) continue;
        const float weight = std::exp2(scores[i].of[r] - base);
        scores[i].of[r] = weight;
        total += weight;
      }
      total = lane_sum(block, total);
      if (lane == 0 && row < tile_rows) {
        const float shrink = std::exp2(before - base);
        shrinks.of[r] = shrink;
        totals.of[r] = totals.of[r] * shrink + total;
        tops.of[r] = top;
      }
    }
  }

  /// The factors of the splits' sums, 0 for those that only pad; a warp to a row. `tops`: of the first split, followed
  /// by its totals.
  template <class Block>
  FOREDRAFT_HOST_DEVICE void weigh_splits(Block& block, const float* tops, unsigned stride, OfRows* weights) const {
    const unsigned lane = block.thread() % warp_lanes;
    FOREDRAFT_UNROLL_BY(1)
    for (unsigned first = 0; first < tile_rows; first += block.threads() / warp_lanes) {
      const unsigned row = first + block.thread() / warp_lanes;
      const unsigned r = row % tile_rows;
      float top = -std::numeric_limits<float>::infinity();
      FOREDRAFT_UNROLL_BY(1)
      for (unsigned s = lane; s < call.splits + lane; s += warp_lanes) {
        const float other = s < call.splits ? tops[s * stride + r] : top;
        top = other > top ? other : top;
      }
      top = lane_top(block, top);
      float total = 0.0F;
      FOREDRAFT_UNROLL_BY(1)
      for (unsigned s = lane; s < call.splits + lane; s += warp_lanes) {
        if (s < call.splits) total += std::exp2(tops[s * stride + r] - top) * tops[s * stride + tile_rows + r];
      }
      const float factor = reciprocal(lane_sum(block, total));
      FOREDRAFT_UNROLL_BY(1)
      for (unsigned s = lane; s < splits_padded() + lane; s += warp_lanes) {
        if (row >= tile_rows || s >= splits_padded()) continue;
        weights[s].of[r] = s < call.splits ? std::exp2(tops[s * stride + r] - top) * factor : 0.0F;
      }
    }
  }

  /// Neighbors from element `at` of the tile on, if they exist, times `factor`.
  FOREDRAFT_HOST_DEVICE void write(const Share& share, unsigned at, const Neighbors& sums, float factor) const {
    const unsigned row = at / pack_elements >> lanes_log2;
    call.write(share, share.first_row + row, at - (row * pack_elements << lanes_log2), sums.of, factor);
  }
};

}  // namespace foredraft::gpu_bench
