#include <catch2/catch.hpp>
#include <cmath>
#include <span>

#include "gpu_bench/cuda/program_runner.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::int64_t multiprocessors = 64;

/// in [5, 24] times weight [17, 24], into an output of 5 x 17.
Program one_product(bool bias) {
  Program program;
  program.buffers = {{"in", BufferKind::cache, 5 * 24, 1.0, 0},
                     {"weight", BufferKind::weight, 17 * 24, 0.2, 0},
                     {"bias", BufferKind::weight, 17, 0.2, 0},
                     {"out", BufferKind::activation, 5 * 17, 0.0, 0}};
  program.operations = {Project{.in = 0,
                                .weight = 1,
                                .bias = bias ? 2 : no_buffer,
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
    const Program program = one_product(bias);
    BufferPool pool(DataType::fp32, 3);
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
  BufferPool pool(DataType::bf16, 3);
  const ProgramRunner runner(one_product(false), std::span(&pool, 1), blas, multiprocessors);
  for (const double value : runner.read(3)) CHECK(std::isnan(value));
  runner.launch(stream);
  stream.wait();
  for (const double value : runner.read(3)) CHECK_FALSE(std::isnan(value));
  pool.refill();
  for (const double value : runner.read(3)) CHECK(std::isnan(value));
}

TEST_CASE("sets of buffers are enough to have five caches between two uses, one where a pass is larger") {
  CHECK(sets_for_cold(1e9, 50'000'000) == 1);
  CHECK(sets_for_cold(250e6, 50'000'000) == 1);
  CHECK(sets_for_cold(100e6, 50'000'000) == 4);
  CHECK(sets_for_cold(1e6, 50'000'000) == 251);
}

}  // namespace foredraft::gpu_bench
