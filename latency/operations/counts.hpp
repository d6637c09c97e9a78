// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "latency/operations/program.hpp"

namespace foredraft::latency {

/// What an operation does with one buffer.
struct Access {
  BufferId buffer;
  std::int64_t extent;   ///< elements from the start within which it stays
  std::int64_t read;     ///< elements that have to be read once
  std::int64_t written;  ///< elements that are written once
  bool token_ids;        ///< the buffer holds token ids, not values
};

/// All buffers of an operation, those it leaves out (no_buffer) left out; a buffer that is changed in place comes once.
[[nodiscard]] std::vector<Access> accesses(const Operation& operation);

/// Elements of one cache, keys or values: batch * capacity * kv_heads * head_dim.
[[nodiscard]] std::int64_t cache_elements(const Attend& attend);

/// Pairs of a query and a key that it sees, over the batch, each head's pairs counted.
[[nodiscard]] std::int64_t attended_pairs(const Attend& attend);

// ---- What a pass must move and compute, counted from its shape.

/// Bytes of device memory that have to be read and written once, and floating-point operations (a multiply-add is two).
struct Work {
  double read_bytes = 0.0;
  double written_bytes = 0.0;
  double flop = 0.0;

  Work& operator+=(const Work& other);
  bool operator==(const Work& other) const = default;
};

/// Weights and caches count in full, activations as they pass between operations; what an embedding reads is its rows,
/// what attention reads is the filled part of its caches. Operations: of matrix products and attention scores exact; a
/// norm counts 4 an element (root mean square) or 7 (mean and variance), a bias or sum 1, an activation 1, a gate 1, a
/// rotation 3; exponentials of attention and comparisons of a choice none.
[[nodiscard]] Work work_of(const Operation& operation, DataType type);

[[nodiscard]] Work work_of(const Program& program, DataType type);

/// Memory that the buffers take.
[[nodiscard]] double memory_bytes(const Program& program, DataType type);

/// Bytes of weights and caches that a pass reads or writes, each buffer once however many operations use it: what has
/// to come from memory where passes over other copies lie between two over these. Activations stay in a cache.
[[nodiscard]] double streamed_bytes(const Program& program, DataType type);

/// Parameters of the whole model, embedding included once; further_parameters included. Of a head: its own alone.
[[nodiscard]] double parameters(const ModelShape& shape);

/// The same with the experts of one token alone in each mixture, as papers count "activated".
[[nodiscard]] double active_parameters(const ModelShape& shape);

/// Bytes of weights that one decoder pass of one token reads: layers (of a mixture the experts of one token) and
/// vocabulary projection, without the embedding's table, the positions, the encoder and the cross-attention's key and
/// value projections.
[[nodiscard]] double step_weight_bytes(const ModelShape& shape, DataType type);

}  // namespace foredraft::latency
