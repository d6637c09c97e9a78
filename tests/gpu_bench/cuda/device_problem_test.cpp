// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "gpu_bench/run/profile_folder.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/program.hpp"

namespace foredraft::gpu_bench {

TEST_CASE("a failed call is reported with its place, name, meaning and what to do") {
  CHECK_THROWS_WITH(
      check(cudaErrorInvalidValue, "an argument"),
      Catch::Contains("device_problem_test.cpp:") && Catch::Contains("an argument: cudaErrorInvalidValue"));
  CHECK_THROWS_WITH(check(cudaErrorInsufficientDriver, "a call"),
                    Catch::Contains("the driver is older than this program"));
  CHECK_THROWS_WITH(check(cudaErrorNoKernelImageForDevice, "a call"), Catch::Contains("compute capability 8.0"));
  CHECK_THROWS_WITH(check(cudaErrorECCUncorrectable, "a call"),
                    Catch::Contains("the device may have been lost or reset"));
  CHECK_NOTHROW(check(cudaSuccess, "a call"));
}

TEST_CASE("a run continues after too little memory and ends if the device is lost") {
  CHECK_THROWS_AS(check(cudaErrorMemoryAllocation, "a call"), MemoryError);
  CHECK_THROWS_AS(check(cudaErrorECCUncorrectable, "a call"), DeviceError);
  CHECK_THROWS_WITH(check_fits("llama-2-7b", 13.5 * 1073741824.0, 8.0 * 1073741824.0),
                    "llama-2-7b needs 13.5 GiB of memory, the device has 8.0 GiB - choose a smaller model, batch or "
                    "context");
  CHECK_THROWS_AS(check_fits("llama-2-7b", 2.0, 1.0), MemoryError);
  CHECK_NOTHROW(check_fits("llama-2-7b", 1.0, 1.0));
}

TEST_CASE("without a device the error says whether driver, driver version or device is missing") {
  CHECK_THAT(no_device_text(cudaErrorNoDevice, 0, 13000), Catch::Contains("no NVIDIA driver is installed"));
  CHECK(no_device_text(cudaErrorInsufficientDriver, 11040, 13000) ==
        "the driver offers CUDA 11.4, this program needs 13.0 - update the driver, or build with an older toolkit");
  CHECK_THAT(no_device_text(cudaErrorNoDevice, 13000, 13000), Catch::Contains("no CUDA device is visible: "));
}

TEST_CASE("unsupported dtypes, models and passes are named") {
  const std::vector<latency::ModelShape>& models = latency::model_registry();
  CHECK_THROWS_WITH(latency::data_type_of("fp8"), "unknown dtype fp8 (not supported here) - known: fp16, bf16, fp32");
  CHECK_THROWS_WITH(pairs_of(models, {"llama-2-7b", "sheared-llama-1.3"}), Catch::Contains("sheared-llama-1.3b"));
  CHECK_THROWS_WITH(pairs_of(models, {}), Catch::Contains("no models named"));
  const latency::Cell encoder{.model = "llama-2-7b", .role = latency::Role::encoder_pass, .dtype = "fp16"};
  CHECK_THROWS_WITH(program_of(models, encoder), "encoder_pass: llama-2-7b has no encoder");
}

TEST_CASE("every pass of the default plan can be made") {
  const std::vector<latency::ModelShape>& models = latency::model_registry();
  std::size_t passes = 0;
  for (const CellGroup& group : plan_cells(default_pairs(models), {"fp16"})) {
    for (const latency::Cell& cell : group.cells) {
      if (cell.batch > 1) continue;  // the same passes, larger
      CAPTURE(to_text(cell));
      CHECK_FALSE(program_of(models, cell).operations.empty());
      ++passes;
    }
  }
  CHECK(passes > 500);
}

}  // namespace foredraft::gpu_bench
