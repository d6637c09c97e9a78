// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <span>

#include "gpu_bench/cuda/measure_device.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::int64_t multiprocessors = 64;

/// in [5, 24] times weight [17, 24], into an output of 5 x 17.
latency::Program one_product(bool bias) {
  latency::Program program;
  program.buffers = {{"in", latency::BufferKind::cache, 5 * 24, 1.0, 0},
                     {"weight", latency::BufferKind::weight, 17 * 24, 0.2, 0},
                     {"bias", latency::BufferKind::weight, 17, 0.2, 0},
                     {"out", latency::BufferKind::activation, 5 * 17, 0.0, 0}};
  program.operations = {latency::Project{.in = 0,
                                         .weight = 1,
                                         .bias = bias ? 2 : latency::no_buffer,
                                         .out = 3,
                                         .rows = 5,
                                         .outputs = 17,
                                         .inputs = 24,
                                         .accumulate = false}};
  program.output = 3;
  return program;
}

}  // namespace

TEST_CASE("a product on the device is the sum of its terms, bias included, in the orientation of the contract") {
  CublasLt blas;
  const Stream stream;
  for (const bool bias : {false, true}) {
    const latency::Program program = one_product(bias);
    BufferPool pool(latency::DataType::fp32, 3);
    const ProgramRunner runner(program, std::span(&pool, 1), blas, multiprocessors);
    runner.launch(stream);
    stream.wait();
    const auto in = runner.read(0);
    const auto weight = runner.read(1);
    const auto shift = runner.read(2);
    const auto out = runner.read(3);
    for (std::size_t row = 0; row < 5; ++row) {
      for (std::size_t column = 0; column < 17; ++column) {
        double want = bias ? shift[column] : 0.0;
        for (std::size_t k = 0; k < 24; ++k) want += in[row * 24 + k] * weight[column * 24 + k];
        CHECK(out[row * 17 + column] == Approx(want).margin(1e-5));  // 24 products of size 1 in fp32
      }
    }
  }
}

TEST_CASE("activations are poisoned until a pass has written them") {
  CublasLt blas;
  const Stream stream;
  BufferPool pool(latency::DataType::bf16, 3);
  const ProgramRunner runner(one_product(false), std::span(&pool, 1), blas, multiprocessors);
  for (const double value : runner.read(3)) CHECK(std::isnan(value));
  runner.launch(stream);
  stream.wait();
  for (const double value : runner.read(3)) CHECK_FALSE(std::isnan(value));
  pool.refill();
  for (const double value : runner.read(3)) CHECK(std::isnan(value));
}

TEST_CASE("sets have weights of their own and share buffers that a pass writes") {
  CublasLt blas;
  const Stream stream;
  std::vector<BufferPool> pools;
  for (int set = 0; set < 2; ++set) pools.emplace_back(latency::DataType::fp32, 3 + set);
  const ProgramRunner runner(one_product(false), pools, blas, multiprocessors);
  CHECK(runner.sets() == 2);
  CHECK(runner.read(1, 0) != runner.read(1, 1));
  runner.launch(stream, 1);
  stream.wait();
  CHECK(runner.read(3, 0) == runner.read(3, 1));
}

TEST_CASE("a prepared product names its algorithm") {
  CublasLt blas;
  const latency::Program program = one_product(true);
  const auto& product = std::get<latency::Project>(program.operations.front());
  blas.prepare(product, latency::DataType::fp16);
  CHECK_THAT(blas.algorithm(product, latency::DataType::fp16),
             Catch::StartsWith("id ") && Catch::Contains(" split_k "));
}

}  // namespace foredraft::gpu_bench
