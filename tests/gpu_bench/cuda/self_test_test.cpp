// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/self_test.hpp"

#include <catch2/catch.hpp>

namespace foredraft::gpu_bench {

TEST_CASE("passes on the device agree with the reference, leave no poison, and graphs replay their bits") {
  CublasLt blas;
  for (const SelfTestResult& result : self_test(device_facts(), blas)) {
    INFO(result.name << ": " << result.detail);
    CHECK(result.passed);
  }
}

}  // namespace foredraft::gpu_bench
