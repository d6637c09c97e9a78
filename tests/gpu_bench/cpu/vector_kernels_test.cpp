// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/vector_kernels.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/tolerances.hpp"

namespace foredraft::gpu_bench {
namespace {

using foredraft::tests::single_precision;

std::vector<float> random_floats(std::int64_t count, unsigned salt) {
  std::mt19937 engine(7919 + salt);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = uniform(engine);
  return values;
}

}  // namespace

TEST_CASE("a product is the sum of its terms at every size around tiles and vectors, and writes nothing else") {
  constexpr std::int64_t gap = 3;  // between rows
  for (const std::int64_t inputs : {1, 15, 16, 33, 70}) {
    for (const std::int64_t outputs : {1, 4, 7, 13}) {
      for (const std::int64_t rows : {1, 2, 3, 4, 9}) {
        INFO(rows << " x " << outputs << " x " << inputs);
        const std::vector<float> in = random_floats(rows * (inputs + gap), 1);
        const std::vector<float> weight = random_floats(outputs * (inputs + gap), 2);
        const std::vector<float> bias = random_floats(outputs, 3);
        const std::vector<float> before = random_floats(rows * (outputs + gap), 4);
        std::vector<float> out = before;
        multiply({.in = in.data(),
                  .in_stride = inputs + gap,
                  .weight = weight.data(),
                  .weight_stride = inputs + gap,
                  .bias = bias.data(),
                  .out = out.data(),
                  .out_stride = outputs + gap,
                  .rows = rows,
                  .outputs = outputs,
                  .inputs = inputs,
                  .accumulate = true});
        for (std::int64_t row = 0; row < rows; ++row) {
          for (std::int64_t n = 0; n < outputs + gap; ++n) {
            const auto at = static_cast<std::size_t>(row * (outputs + gap) + n);
            if (n >= outputs) {
              REQUIRE(out[at] == before[at]);
              continue;
            }
            double want = static_cast<double>(before[at]) + static_cast<double>(bias[static_cast<std::size_t>(n)]);
            for (std::int64_t k = 0; k < inputs; ++k) {
              want += static_cast<double>(in[static_cast<std::size_t>(row * (inputs + gap) + k)]) *
                      static_cast<double>(weight[static_cast<std::size_t>(n * (inputs + gap) + k)]);
            }
            REQUIRE(std::abs(static_cast<double>(out[at]) - want) <=
                    single_precision * static_cast<double>(inputs + 2));
          }
        }
      }
    }
  }
}

TEST_CASE("softmax has the shares of its formula and sums to one, also for distant scores") {
  for (const std::size_t count : {1U, 5U, 16U, 37U}) {
    std::vector<float> scores = random_floats(static_cast<std::int64_t>(count), 5);
    for (float& score : scores) score *= 200.0F;
    const std::vector<float> before = scores;
    softmax(0.5F, scores);
    double largest = -1e9;
    for (const float score : before) largest = std::max(largest, 0.5 * static_cast<double>(score));
    double total = 0.0;
    for (const float score : before) total += std::exp(0.5 * static_cast<double>(score) - largest);
    for (std::size_t i = 0; i < count; ++i) {
      const double want = std::exp(0.5 * static_cast<double>(before[i]) - largest) / total;
      // e^x in fp32 is known to the rounding of x, here up to 200.
      CHECK(std::abs(static_cast<double>(scores[i]) - want) <= 200.0 * single_precision * want + 1e-30);
    }
  }
}

TEST_CASE("activations follow their formulas over the whole range") {
  std::vector<float> in;
  for (int i = -400; i <= 400; ++i) in.push_back(0.25F * static_cast<float>(i));
  const std::vector<float> gate(in.size(), -2.0F);
  std::vector<float> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    INFO(in[i]);
    const auto x = static_cast<double>(in[i]);
    activate(latency::Activation::silu, in, nullptr, out);
    CHECK(static_cast<double>(out[i]) == Approx(x / (1.0 + std::exp(-x))).epsilon(single_precision).margin(1e-30));
    activate(latency::Activation::gelu, in, gate.data(), out);
    // The error of the series for erf, times x.
    CHECK(static_cast<double>(out[i]) ==
          Approx(-x * (1.0 + std::erf(x / std::sqrt(2.0)))).epsilon(single_precision).margin(5e-7 * std::abs(x)));
    activate(latency::Activation::relu, in, nullptr, out);
    CHECK(out[i] == std::max(in[i], 0.0F));
  }
}

TEST_CASE("a sum over memory equals that of its elements") {
  for (const std::size_t count : {1U, 100U, 1000U}) {
    const std::vector<float> ones(count, 1.0F);
    CHECK(sum_of(ones) == static_cast<float>(count));
  }
}

}  // namespace foredraft::gpu_bench
