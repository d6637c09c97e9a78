// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "gpu_bench/kernels/attend.hpp"

namespace foredraft::gpu_bench {

/// Rows that a warp multiplies at once on the matrix units.
inline constexpr unsigned matrix_rows = 16;

/// Blocks of AttendTilesKernel that a multiprocessor runs at once; limited by registers.
inline constexpr unsigned attend_tiles_blocks_at_once = 3;

/// Splits of the keys that its shared memory can weigh.
inline constexpr unsigned attend_tiles_max_splits = 64;

/// Floats of workspace for each block of AttendTilesKernel, if the keys are split: its rows, each with its maximum and
/// its total, padded so that rows start in different banks of the shared memory.
[[nodiscard]] constexpr unsigned attend_tiles_partial_floats(unsigned row_tiles, unsigned head_dim) {
  return row_tiles * matrix_rows * (head_dim + pack_elements);
}

/// Operation Attend on the matrix units, for 16-bit storage and heads of whole packs: 16 `row_tiles` (1, 2 or 4) rows
/// to a block of four warps. In a verification several queries see the same keys, and CUDA cores would take longer to
/// multiply than the memory to deliver.
///
/// A warp takes 16 of the rows and a part of the keys of each chunk: products of queries and keys, online softmax in
/// registers, each warp with a maximum of its own, then the weighted sum of the values. The next chunk's keys, and
/// after them its values, are copied to shared memory meanwhile. README.md of this folder has the layout of matrices.
template <class Storage, unsigned head_dim, unsigned row_tiles>
struct AttendTilesKernel {
  static constexpr unsigned max_threads = 128;
  static constexpr unsigned min_blocks = attend_tiles_blocks_at_once;
  static constexpr unsigned tile_rows = row_tiles * matrix_rows;
  static constexpr unsigned key_groups = max_threads / warp_lanes / row_tiles;  ///< warps that share rows
  static constexpr unsigned chunk_keys = 64;
  static constexpr unsigned warp_keys = chunk_keys / key_groups;  ///< of a chunk
  static_assert(sizeof(Storage) == 2 && head_dim % matrix_rows == 0 && row_tiles * key_groups == 4);

  using Share = typename AttendCall<Storage>::Share;

  AttendCall<Storage> call;

  // NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): offsets within a block's share fit 32 bits

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = call.blocks(),
            .threads = max_threads,
            .shared_bytes = shared_bytes_reused + (row_tiles * key_groups * matrix_rows + 1) * 4};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    constexpr float none = -std::numeric_limits<float>::infinity();
    const auto share = call.share_of(block.block(), tile_rows);
    const unsigned warp = block.thread() / warp_lanes;
    const unsigned lane = block.thread() % warp_lanes;
    const unsigned row = warp % row_tiles * matrix_rows + lane / 4;  // of the tile; the lane has also row + 8
    const unsigned column = lane % 4 * 2;                            // of every eight; the lane has also column + 1
    const unsigned group = warp / row_tiles;
    auto* keys = reinterpret_cast<Storage*>(block.shared());
    auto* values = keys + chunk_keys * row_elements;
    fetch(block, call.keys + share.first_key, share.begin, share.end, keys);
    fetch(block, call.values + share.first_key, share.begin, share.end, values);

    std::uint32_t query[head_dim / matrix_rows][4];
    unsigned row_end[2];
    FOREDRAFT_UNROLL
    for (unsigned h = 0; h < 2; ++h) {
      // A row that is missing repeats the last one, and is not written.
      const unsigned wanted = share.first_row + row + 8 * h;
      const unsigned present = wanted < share.last_row ? wanted : share.last_row;
      const unsigned token = present / call.group_heads;
      const Storage* from = call.queries + (share.first_token + token) * call.query_stride +
                            (share.first_head + present - token * call.group_heads) * head_dim + column;
      FOREDRAFT_UNROLL
      for (unsigned k = 0; k < head_dim / matrix_rows; ++k) {
        query[k][h] = *reinterpret_cast<const std::uint32_t*>(from + k * matrix_rows);
        query[k][2 + h] = *reinterpret_cast<const std::uint32_t*>(from + k * matrix_rows + 8);
      }
      row_end[h] = call.visible(present) < share.end ? call.visible(present) : share.end;
    }
    float sum[head_dim / 8][4] = {};
    float top[2] = {none, none};
    float total[2] = {0.0F, 0.0F};  // of this lane's keys

    FOREDRAFT_UNROLL_BY(1)
    for (unsigned chunk = share.begin; chunk < share.end; chunk += chunk_keys) {
      const unsigned first = chunk + group * warp_keys;
      block.wait_for_copies();
      block.sync();
      float scores[warp_keys / 8][4] = {};
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < warp_keys / matrix_rows; ++j) {
        if (first + j * matrix_rows >= share.end) continue;
        const Storage* from =
            keys + (group * warp_keys + j * matrix_rows + lane / 16 * 8 + lane % 8) * row_elements + lane / 8 % 2 * 8;
        FOREDRAFT_UNROLL
        for (unsigned k = 0; k < head_dim / matrix_rows; ++k) {
          std::uint32_t key[4];
          block.load_matrices(from + k * matrix_rows, key);
          block.template multiply_add<Storage>(query[k], key[0], key[1], scores[2 * j]);
          block.template multiply_add<Storage>(query[k], key[2], key[3], scores[2 * j + 1]);
        }
      }
      block.sync();
      fetch(block, call.keys + share.first_key, chunk + chunk_keys, share.end, keys);

      FOREDRAFT_UNROLL
      for (unsigned h = 0; h < 2; ++h) {
        float highest = top[h];
        FOREDRAFT_UNROLL
        for (unsigned i = 0; i < 2 * (warp_keys / 8); ++i) {
          float& score = scores[i / 2][2 * h + i % 2];
          score = first + i / 2 * 8 + column + i % 2 < row_end[h] ? score * call.log2_scale : none;
          highest = score > highest ? score : highest;
        }
        highest = quad_top(block, highest);
        const float base = highest == none ? 0.0F : highest;  // no key seen yet: no NaN
        const float shrink = std::exp2(top[h] - base);
        top[h] = highest;
        total[h] *= shrink;
        FOREDRAFT_UNROLL
        for (unsigned i = 0; i < 2 * (warp_keys / 8); ++i) {
          float& score = scores[i / 2][2 * h + i % 2];
          score = std::exp2(score - base);
          total[h] += score;
        }
        FOREDRAFT_UNROLL
        for (auto& of_columns : sum) {
          of_columns[2 * h] *= shrink;
          of_columns[2 * h + 1] *= shrink;
        }
      }

      block.wait_for_copies();
      block.sync();
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < warp_keys / matrix_rows; ++j) {
        if (first + j * matrix_rows >= share.end) continue;
        const float(&low)[4] = scores[2 * j];
        const float(&high)[4] = scores[2 * j + 1];
        const std::uint32_t weights[4] = {pair_of<Storage>(low[0], low[1]), pair_of<Storage>(low[2], low[3]),
                                          pair_of<Storage>(high[0], high[1]), pair_of<Storage>(high[2], high[3])};
        const Storage* from = values + (group * warp_keys + j * matrix_rows + lane % 16) * row_elements + lane / 16 * 8;
        FOREDRAFT_UNROLL
        for (unsigned n = 0; n < head_dim / matrix_rows; ++n) {
          std::uint32_t value[4];
          block.load_transposed(from + n * matrix_rows, value);
          block.template multiply_add<Storage>(weights, value[0], value[1], sum[2 * n]);
          block.template multiply_add<Storage>(weights, value[2], value[3], sum[2 * n + 1]);
        }
      }
      block.sync();
      fetch(block, call.values + share.first_key, chunk + chunk_keys, share.end, values);
    }

    auto* of_groups = reinterpret_cast<float*>(block.shared());
    FOREDRAFT_UNROLL
    for (unsigned h = 0; h < 2; ++h) {
      float* mine = of_groups + group * partial_floats + (row + 8 * h) * row_floats;
      total[h] = lane_sum(block, total[h], 4);
      if (column == 0) {
        mine[head_dim] = top[h];
        mine[head_dim + 1] = total[h];
      }
      FOREDRAFT_UNROLL
      for (unsigned n = 0; n < head_dim / 8; ++n) {
        mine[n * 8 + column] = sum[n][2 * h];
        mine[n * 8 + column + 1] = sum[n][2 * h + 1];
      }
    }
    block.sync();
    auto* weights = reinterpret_cast<float*>(block.shared() + shared_bytes_reused);
    const unsigned rows = share.last_row - share.first_row + 1;
    const auto write = [&](unsigned of, unsigned element, const float(&sums)[4]) {
      call.write(share, share.first_row + of, element, sums, 1.0F);
    };
    if (call.splits == 1) {
      weigh(block, of_groups, key_groups, rows, weights, nullptr);
      return merge<key_groups>(block, of_groups, key_groups, rows, weights, write);
    }
    float* mine = call.partials + static_cast<std::int64_t>(block.block()) * partial_floats;
    weigh(block, of_groups, key_groups, rows, weights, mine);
    merge<key_groups>(
        block, of_groups, key_groups, rows, weights, [&](unsigned of, unsigned element, const float(&sums)[4]) {
          *reinterpret_cast<Four*>(mine + of * row_floats + element) = {{sums[0], sums[1], sums[2], sums[3]}};
        });
    auto* flag = reinterpret_cast<std::uint32_t*>(weights + row_tiles * key_groups * matrix_rows);
    if (!comes_last(block, call.splits, call.counters + share.tile, flag)) return;
    const float* of_splits = call.partials + static_cast<std::int64_t>(share.tile) * call.splits * partial_floats;
    weigh(block, of_splits, call.splits, rows, of_groups, nullptr);
    merge<splits_at_once>(block, of_splits, call.splits, rows, of_groups, write);
  }

 private:
  static constexpr unsigned splits_at_once = 8;                       ///< that a thread loads for the merge
  static constexpr unsigned row_elements = head_dim + pack_elements;  ///< in shared memory: spread over its banks
  static constexpr unsigned row_floats = head_dim + pack_elements;    ///< sums, maximum, total, padding
  static constexpr unsigned partial_floats = attend_tiles_partial_floats(row_tiles, head_dim);
  /// Keys and values of a chunk, later the sums of the groups of keys, which take as much.
  static constexpr unsigned shared_bytes_reused = 2 * chunk_keys * row_elements * sizeof(Storage);
  static_assert(shared_bytes_reused == key_groups * partial_floats * sizeof(float));
  static_assert(attend_tiles_max_splits * tile_rows * sizeof(float) <= shared_bytes_reused);

  struct alignas(16) Four {
    float of[4];
  };

  template <class Block>
  FOREDRAFT_HOST_DEVICE static float quad_top(Block& block, float value) {
    FOREDRAFT_UNROLL
    for (unsigned mask = 1; mask < 4; mask *= 2) {
      const float other = block.shuffle_xor(value, mask);
      value = other > value ? other : value;
    }
    return value;
  }

  /// Starts copying a chunk of the keys (or values), up to `end`; what fills its last 16 repeats the last one.
  template <class Block>
  FOREDRAFT_HOST_DEVICE void fetch(Block& block, const Storage* from, unsigned chunk, unsigned end, Storage* to) const {
    constexpr unsigned packs = head_dim / pack_elements;
    const std::int64_t stride = static_cast<std::int64_t>(call.kv_heads) * head_dim;
    FOREDRAFT_UNROLL
    for (unsigned i = 0; i < chunk_keys * packs / max_threads; ++i) {
      const unsigned at = i * max_threads + block.thread();
      const unsigned key = at / packs;
      const unsigned element = at % packs * pack_elements;
      if (chunk + key / matrix_rows * matrix_rows >= end) continue;
      const unsigned present = chunk + key < end ? chunk + key : end - 1;
      block.copy_to_shared(from + present * stride + element,
                           reinterpret_cast<Pack<Storage>*>(to + key * row_elements + element));
    }
    block.end_copies();
  }

  /// The factors of `count` parts of a tile's keys, [count, tile_rows], a warp to a row: so that sums are divided by
  /// the total, or, where `unfinished` is given, have the maximum and the total that are written there. Ends at a
  /// barrier.
  template <class Block>
  FOREDRAFT_HOST_DEVICE void weigh(Block& block, const float* parts, unsigned count, unsigned rows, float* weights,
                                   float* unfinished) const {
    const unsigned lane = block.thread() % warp_lanes;
    FOREDRAFT_UNROLL_BY(1)
    for (unsigned row = block.thread() / warp_lanes; row < rows; row += max_threads / warp_lanes) {
      const float* from = parts + row * row_floats + head_dim;
      float top = -std::numeric_limits<float>::infinity();
      FOREDRAFT_UNROLL_BY(1)
      for (unsigned i = lane; i < count; i += warp_lanes) {
        const float other = from[i * partial_floats];
        top = other > top ? other : top;
      }
      top = lane_top(block, top);
      const float base = top == -std::numeric_limits<float>::infinity() ? 0.0F : top;
      float total = 0.0F;
      FOREDRAFT_UNROLL_BY(1)
      for (unsigned i = lane; i < count; i += warp_lanes) {
        const float weight = std::exp2(from[i * partial_floats] - base);
        weights[i * tile_rows + row] = weight;
        total += weight * from[i * partial_floats + 1];
      }
      total = lane_sum(block, total);
      if (unfinished == nullptr) {
        const float factor = reciprocal(total);
        for (unsigned i = lane; i < count; i += warp_lanes) weights[i * tile_rows + row] *= factor;
      } else if (lane == 0) {
        unfinished[row * row_floats + head_dim] = top;
        unfinished[row * row_floats + head_dim + 1] = total;
      }
    }
    block.sync();
  }

  /// Calls use(row, element, sums) with the weighted sums of every four elements of the rows. A thread loads `at_once`
  /// parts together.
  template <unsigned at_once, class Block, class Use>
  FOREDRAFT_HOST_DEVICE void merge(Block& block, const float* parts, unsigned count, unsigned rows,
                                   const float* weights, const Use& use) const {
    FOREDRAFT_UNROLL_BY(1)
    for (unsigned at = block.thread() * 4; at < rows * head_dim; at += max_threads * 4) {
      const unsigned row = at / head_dim;
      const float* from = parts + row * row_floats + at % head_dim;
      float sums[4] = {};
      FOREDRAFT_UNROLL_BY(1)
      for (unsigned first = 0; first < count; first += at_once) {
        Four added[at_once];
        FOREDRAFT_UNROLL
        for (unsigned i = 0; i < at_once; ++i) {
          const unsigned present = first + i < count ? first + i : count - 1;
          added[i] = *reinterpret_cast<const Four*>(from + present * partial_floats);
        }
        FOREDRAFT_UNROLL
        for (unsigned i = 0; i < at_once; ++i) {
          if (first + i >= count) continue;
          const float weight = weights[(first + i) * tile_rows + row];
          FOREDRAFT_UNROLL
          for (unsigned j = 0; j < 4; ++j) sums[j] += weight * added[i].of[j];
        }
      }
      use(row, at % head_dim, sums);
    }
  }
  // NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
};

}  // namespace foredraft::gpu_bench
