// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "latency/operations/program.hpp"

namespace foredraft::latency {

/// How an operation uses one buffer.
struct Access {
  BufferId buffer;
  std::int64_t extent;   ///< the operation accesses only elements below this index
  std::int64_t read;     ///< elements that must be read once
  std::int64_t written;  ///< elements that are written once
  bool token_ids;        ///< the buffer holds token ids, not values
};

/// All buffers of an operation except no_buffer; a buffer that is changed in place is listed once.
[[nodiscard]] std::vector<Access> accesses(const Operation& operation);

/// Elements of one cache, keys or values: batch * capacity * kv_heads * head_dim.
[[nodiscard]] std::int64_t cache_elements(const Attend& attend);

/// Number of (query, visible key) pairs over the batch and all heads.
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

/// Counts an operation. Bytes: all weights, the filled part of caches, the used rows of an embedding, and activations
/// between operations. Flop: exact for matrix products and attention scores; per element 4 for an RMS norm, 7 for a
/// layer norm, 1 for a bias, sum, activation or gate, 3 for a rotation; 0 for exponentials of attention and for argmax.
[[nodiscard]] Work work_of(const Operation& operation, DataType type);

[[nodiscard]] Work work_of(const Program& program, DataType type);

/// Memory of the buffers in bytes.
[[nodiscard]] double memory_bytes(const Program& program, DataType type);

/// Bytes of weights and caches that a pass reads or writes, each buffer once: the minimum memory traffic with a cold
/// cache. Activations are assumed to stay in a cache.
[[nodiscard]] double streamed_bytes(const Program& program, DataType type);

}  // namespace foredraft::latency
