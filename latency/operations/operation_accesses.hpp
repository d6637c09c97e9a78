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

}  // namespace foredraft::latency
