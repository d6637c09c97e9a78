// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/step/contents.hpp"

namespace foredraft::gpu_bench {

/// The two operations of the reference that know heads and positions.
void run_reference_of(const StoreKeysValues& store, BufferContents& contents);
void run_reference_of(const Attend& attend, BufferContents& contents);

}  // namespace foredraft::gpu_bench
