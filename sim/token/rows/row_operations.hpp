// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

/// Sums, softmax and draws over one row of a vocabulary, in double precision and in a fixed order.
namespace foredraft::sim {

/// Sum of a row over eight interleaved partial sums: as fast as memory allows, and the same bits everywhere.
[[nodiscard]] double row_sum(std::span<const double> row);

/// Index of the largest entry, the lowest on ties.
[[nodiscard]] std::size_t row_argmax(std::span<const double> row);

/// Sets the row to the point mass at `index`.
void write_point_mass(std::size_t index, std::span<double> row);

/// Divides the row by its sum and returns true; false, and nothing done, where the sum is 0. Divided, not multiplied by
/// a reciprocal: a row with one entry left becomes exactly 1.
bool normalise(std::span<double> row);

/// law = exp(logits / temperature), normalised, with the largest logit subtracted first; temperature 0: the point mass
/// at the largest logit, lowest index on ties. Logits may be -infinity, not all of them.
void softmax(std::span<const double> logits, double temperature, std::span<double> law);

/// law^(1 / temperature), normalised: what softmax(logits, temperature) makes of law = softmax(logits, 1). Entries of 0
/// stay 0; temperature 1 changes nothing.
void apply_temperature(std::span<double> law, double temperature);

/// sum min(p, q) as 1 - sum |p - q| / 2, which is exact to round-off where the sum is close to 1.
[[nodiscard]] double overlap(std::span<const double> p, std::span<const double> q);

/// block_sums[b] = sum of entries [512 b, 512 (b + 1)) of the row, in double precision. For rows of float and of
/// double.
template <class Real>
void sum_row_blocks(std::span<const Real> row, std::span<double> block_sums);

/// The entry that `u`, uniform on [0, 1), selects with probability weight / total: the first whose running sum exceeds
/// u * total. `total` is the sum of `block_sums`, which are the sums of blocks of sum_block weights. Never an entry of
/// weight 0. For rows of float and of double.
template <class Real>
[[nodiscard]] std::size_t draw_by_inversion(std::span<const Real> weights, std::span<const double> block_sums,
                                            double total, double u);

}  // namespace foredraft::sim
