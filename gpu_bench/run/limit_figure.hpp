// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// `amount` (bytes, flop) over the time of a row, a second, with the interval and the row as its origin. The row has
/// samples.
[[nodiscard]] latency::Figure rate_figure(const latency::KernelRow& row, double amount);

}  // namespace foredraft::gpu_bench
