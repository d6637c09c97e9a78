// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/fill.hpp"

#include "gpu_bench/kernels/operation_kernels.hpp"
#include "tests/gpu_bench/kernels/kernel_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

constexpr std::uint64_t content_seed = 0x123456789abcdefULL;

}  // namespace

TEMPLATE_TEST_CASE("filled buffers equal the reference bit for bit, for any number of threads", "", Half, Bfloat16,
                   float) {
  for (const std::int64_t elements : {1, 5, 1031}) {
    for (const unsigned threads : {32U, 256U}) {
      latency::Program program;
      program.buffers = {{"weights of a layer", latency::BufferKind::weight, elements, 0.02, 0},
                         {"ids", latency::BufferKind::tokens, elements, 0.0, 50257}};
      const latency::BufferContents want = latency::initial_contents(program, type_of<TestType>, content_seed);

      std::vector<TestType> weights = poisoned<TestType>(static_cast<std::size_t>(elements));
      const auto fill = [&](std::size_t buffer, void* memory) {
        with_content_kernel<TestType>(program.buffers[buffer], memory, content_seed, [threads](auto kernel) {
          kernel.threads = threads;
          run_on_host(kernel);
        });
      };
      fill(0, weights.data());
      CHECK(as_doubles(weights) == want[0]);

      std::vector<std::int32_t> tokens(static_cast<std::size_t>(elements), -1);
      fill(1, tokens.data());
      CHECK(std::vector<double>(tokens.begin(), tokens.end()) == want[1]);
    }
  }
}

TEMPLATE_TEST_CASE("poison reaches every element and no further", "", Half, Bfloat16, float) {
  std::vector<TestType> values(1000, from_float<TestType>(1.0F));
  const latency::Buffer buffer{"activation", latency::BufferKind::activation, 999, 0.0, 0};
  with_content_kernel<TestType>(buffer, values.data(), content_seed, [](const auto& kernel) { run_on_host(kernel); });
  for (std::size_t i = 0; i < 999; ++i) REQUIRE(std::isnan(to_float(values[i])));
  CHECK(to_float(values[999]) == 1.0F);
}

}  // namespace foredraft::gpu_bench::tests
