// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include <fmt/core.h>

#include <catch2/catch.hpp>

#include "gpu_bench/cuda/device_facts.hpp"

int main(int argc, char** argv) {
  if (foredraft::gpu_bench::device_count() == 0) {
    fmt::print("skipped: {}\n", foredraft::gpu_bench::why_no_device());
    constexpr int skipped = 77;
    return skipped;
  }
  return Catch::Session().run(argc, argv);
}
