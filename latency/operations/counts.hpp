// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "latency/operations/program.hpp"

namespace foredraft::latency {

/// How an operation uses one buffer.
struct Access {
  BufferId buffer;
  std::int64_t extent;   ///< the operation accesses only elements below it
  std::int64_t read;     ///< elements that must be read once
  std::int64_t written;  ///< elements that are written once
  bool token_ids;        ///< the buffer holds token ids, not values
};

/// All buffers of an operation, without those it omits (no_buffer); a buffer that is changed in place is listed once.
[[nodiscard]] std::vector<Access> accesses(const Operation& operation);

/// Elements of one cache, keys or values: batch * capacity * kv_heads * head_dim.
[[nodiscard]] std::int64_t cache_elements(const Attend& attend);

/// Number of pairs of a query and a key that it sees, over the batch and all heads.
[[nodiscard]] std::int64_t attended_pairs(const Attend& attend);

// ---- Minimum bytes and flop of a forward pass, counted from its shape.

/// Bytes of device memory that must be read and written once, and floating-point operations (a multiply-add is two).
struct Work {
  double read_bytes = 0.0;
  double written_bytes = 0.0;
  double flop = 0.0;

  Work& operator+=(const Work& other);
  bool operator==(const Work& other) const = default;
};

/// Counts an operation. Weights and caches count in full, activations as they pass between operations; for an embedding
/// its rows, for attention the filled part of its caches. Flop: exact for matrix products and attention scores; per
/// element 4 for a norm by root mean square, 7 by mean and variance, 1 for a bias or sum, 1 for an activation, 1 for a
/// gate, 3 for a rotation; none for exponentials of attention and comparisons of a choice.
[[nodiscard]] Work work_of(const Operation& operation, DataType type);

[[nodiscard]] Work work_of(const Program& program, DataType type);

/// Memory of the buffers in bytes.
[[nodiscard]] double memory_bytes(const Program& program, DataType type);

/// Bytes of weights and caches that a pass reads or writes, each buffer once for any number of operations: the minimum
/// traffic from memory if passes over other copies run between two over these. Activations stay in a cache.
[[nodiscard]] double streamed_bytes(const Program& program, DataType type);

}  // namespace foredraft::latency
