// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_memory.hpp"

#include <catch2/catch.hpp>

namespace foredraft::gpu_bench {

TEST_CASE("a request beyond the device's memory is rejected with the free size, and the device continues") {
  CHECK_THROWS_WITH(DeviceMemory(std::size_t{1} << 50U), Catch::Contains("GiB free, a buffer needs 1048576.00 GiB"));
  CHECK(DeviceMemory(1024).get() != nullptr);
  check(cudaDeviceSynchronize(), "after a refused allocation");
}

TEST_CASE("zero bytes need no memory") { CHECK(DeviceMemory(0).get() == nullptr); }

TEST_CASE("a pool gives a name the same memory each time, and another name or size other memory") {
  BufferPool pool(latency::DataType::fp16, 1);
  const latency::Buffer buffer{"weights", latency::BufferKind::weight, 1000, 1.0, 0};
  const latency::Buffer larger{"weights", latency::BufferKind::weight, 2000, 1.0, 0};
  const latency::Buffer other{"more weights", latency::BufferKind::weight, 1000, 1.0, 0};
  void* first = pool.address_of(buffer);
  CHECK(pool.address_of(buffer) == first);
  CHECK(pool.address_of(larger) != first);
  CHECK(pool.address_of(other) != first);
}

}  // namespace foredraft::gpu_bench
