// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace foredraft {

/// Calls `work(i)` once for each i in [0, count), on at most `threads` threads (0: one per hardware thread). Which
/// thread does what is not defined, so `work` must depend on `i` alone. The first exception ends the loop and is
/// rethrown.
void parallel_for(std::uint64_t count, unsigned threads, const std::function<void(std::uint64_t)>& work);

/// `threads`, or the number of hardware threads for 0; at least 1.
[[nodiscard]] unsigned resolve_threads(unsigned threads);

}  // namespace foredraft
