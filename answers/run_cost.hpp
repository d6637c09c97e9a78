// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace foredraft::answers {

/// Price of a server, in any currency.
struct GpuPrice {
  double per_hour;        ///< of one GPU, >= 0
  std::int64_t gpus = 1;  ///< of the server, >= 1
};

inline constexpr double max_gpu_hour_price = 1e9;
inline constexpr std::int64_t max_priced_gpus = 65'536;

}  // namespace foredraft::answers
