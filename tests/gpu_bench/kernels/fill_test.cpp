// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/fill.hpp"

#include "tests/gpu_bench/kernels/kernel_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

constexpr std::uint64_t content_seed = 0x123456789abcdefULL;

}  // namespace

TEMPLATE_TEST_CASE("filled buffers hold the reference's contents bit for bit, for any number of threads", "", Half,
                   Bfloat16, float) {
  for (const std::int64_t elements : {1, 5, 1031}) {
    for (const unsigned threads : {32U, 256U}) {
      latency::Program program;
      program.buffers = {{"weights of a layer", latency::BufferKind::weight, elements, 0.02, 0},
                         {"ids", latency::BufferKind::tokens, elements, 0.0, 50257}};
      const latency::BufferContents want = latency::initial_contents(program, stored_as<TestType>, content_seed);

      std::vector<TestType> weights = poisoned<TestType>(static_cast<std::size_t>(elements));
      run_on_host(FillKernel<TestType>{.stream = content_stream(program.buffers[0], content_seed),
                                       .out = weights.data(),
                                       .elements = elements,
                                       .factor = latency::content_factor(0.02),
                                       .threads = threads});
      CHECK(as_doubles(weights) == want[0]);

      std::vector<std::int32_t> tokens(static_cast<std::size_t>(elements), -1);
      run_on_host(FillTokensKernel{.stream = content_stream(program.buffers[1], content_seed),
                                   .out = tokens.data(),
                                   .elements = elements,
                                   .vocabulary = 50257,
                                   .threads = threads});
      CHECK(std::vector<double>(tokens.begin(), tokens.end()) == want[1]);
    }
  }
}

TEMPLATE_TEST_CASE("poison reaches every element and no further", "", Half, Bfloat16, float) {
  std::vector<TestType> values(1000, from_float<TestType>(1.0F));
  run_on_host(PoisonKernel<TestType>{.out = values.data(), .elements = 999});
  for (std::size_t i = 0; i < 999; ++i) REQUIRE(std::isnan(to_float(values[i])));
  CHECK(to_float(values[999]) == 1.0F);
}

}  // namespace foredraft::gpu_bench::tests
