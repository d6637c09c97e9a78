// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/random_stream.hpp"

/// Vectorized kernels of the token loops. Every instruction set gives the same bits: all elements have the same
/// multiplications and additions (never fused) in the same order, and sums use eight lanes for any register width.
namespace foredraft::sim {

/// Rows are padded to a multiple of this many floats.
inline constexpr std::size_t row_granule = 32;

[[nodiscard]] constexpr std::size_t padded_row(std::size_t size) {
  return (size + row_granule - 1) / row_granule * row_granule;
}

/// Elements summed together by softmax_weights().
inline constexpr std::size_t sum_block = 512;

[[nodiscard]] constexpr std::size_t sum_blocks(std::size_t padded_size) {
  return (padded_size + sum_block - 1) / sum_block;
}

inline constexpr std::size_t word_granule = 16;

/// The words of RandomStream::next_u64() from draw `first_draw` on, two per draw; the size is a multiple of
/// word_granule.
void fill_words(std::uint64_t seed, const StreamId& id, std::uint64_t first_draw, std::span<std::uint64_t> words);

/// Number of draws that add_normals() takes for a row.
[[nodiscard]] constexpr std::uint64_t normal_draws(std::size_t padded_size) { return padded_size / 4; }

/// out[i] = base[i] + scale * N_i with independent standard normal N_i, by the Box-Muller transform [Box1958] in single
/// precision: a draw of four words makes four normals of |N| <= 6.7, with relative error about 1e-6. The spans have
/// equal sizes, a multiple of row_granule; `out` may be `base`.
void add_normals(std::uint64_t seed, const StreamId& id, std::uint64_t first_draw, float scale,
                 std::span<const float> base, std::span<float> out);

/// weights[i] = exp((logits[i] - max logits) * inverse_temperature), 0 if that is below e^-87; block_sums[b] = the sum
/// of weights [512 b, 512 (b + 1)) in double precision. Relative error of a weight about 1e-5 at e^-87, 1e-7 near 1.
/// Equal sizes, a multiple of row_granule; logits may be -infinity, but not all of them.
void softmax_weights(std::span<const float> logits, float inverse_temperature, std::span<float> weights,
                     std::span<double> block_sums);

}  // namespace foredraft::sim
