// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace foredraft::gpu_bench {

/// Copies of `bytes` to go through in turn so that five times the cache lies between two uses of one: 1 where they are
/// as large themselves and a use drives its own beginning out. Nothing where more than 2,000 copies would be needed:
/// what is so small cannot be timed cold. Both at least 0.
[[nodiscard]] std::optional<std::int64_t> copies_for_cold(double bytes, double cache_bytes);

}  // namespace foredraft::gpu_bench
