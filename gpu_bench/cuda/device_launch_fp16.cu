// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_launch.cuh"

template struct foredraft::gpu_bench::DeviceLaunches<foredraft::gpu_bench::Half>;
