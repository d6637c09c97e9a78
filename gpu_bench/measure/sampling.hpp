// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foredraft::gpu_bench {

/// Calls that one sample must hold so that it lasts at least 100 us, of which what a clock resolves is little; at most
/// 1000, and whole rounds over `rotated` sets of buffers.
[[nodiscard]] int calls_per_sample(double us_per_call, int rotated = 1);

}  // namespace foredraft::gpu_bench
