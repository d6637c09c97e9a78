// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/measure/rotation.hpp"

#include <cmath>

#include "core/check.hpp"

namespace foredraft::gpu_bench {

std::optional<std::int64_t> copies_for_cold(double bytes, double cache_bytes) {
  constexpr double caches_between = 5.0;
  constexpr double most_copies = 2000.0;
  check_nonnegative("bytes", bytes);
  check_nonnegative("cache_bytes", cache_bytes);
  const double wanted_bytes = caches_between * cache_bytes;
  if (bytes >= wanted_bytes) return 1;
  const double copies = 1.0 + std::ceil(wanted_bytes / bytes);
  if (!(copies <= most_copies)) return std::nullopt;
  return static_cast<std::int64_t>(copies);
}

}  // namespace foredraft::gpu_bench
