// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rows/vector_kernels.hpp"

#include <hwy/highway.h>

#include <boost/math/distributions/normal.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

constexpr StreamId stream{.purpose = Purpose::test, .point = 3, .block = 4};
constexpr std::uint64_t near_carry = (std::uint64_t{1} << 32U) - 5;  // the draw index passes 2^32 inside the row

/// Everything the kernels compute, at a size that is no multiple of a register or a block.
struct KernelResults {
  std::vector<std::uint64_t> words;
  std::vector<float> logits;
  std::vector<float> weights;
  std::vector<double> sums;
  bool operator==(const KernelResults&) const = default;
};

KernelResults compute() {
  constexpr std::size_t size = 2 * sum_block + 3 * row_granule;
  KernelResults results{.words = std::vector<std::uint64_t>(7 * word_granule),
                        .logits = std::vector<float>(size),
                        .weights = std::vector<float>(size),
                        .sums = std::vector<double>(sum_blocks(size))};
  fill_words(99, stream, near_carry, results.words);
  // Wide enough for weights over 80 binary orders: closer ones add up without rounding in any order.
  add_normals(99, stream, near_carry, 12.0F, std::vector<float>(size, 0.5F), results.logits);
  results.logits.back() = -std::numeric_limits<float>::infinity();
  softmax_weights(results.logits, 0.8F, results.weights, results.sums);
  return results;
}

std::vector<float> standard_normals(std::size_t size) {
  std::vector<float> normals(size, 0.0F);
  add_normals(5, stream, 0, 1.0F, normals, normals);
  return normals;
}

}  // namespace

TEST_CASE("every instruction set gives the same bits") {
  hwy::SetSupportedTargetsForTest(HWY_SCALAR | HWY_EMU128);
  const KernelResults scalar = compute();
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    INFO(hwy::TargetName(target));
    CHECK(compute() == scalar);
  }
  hwy::SetSupportedTargetsForTest(0);
  CHECK(compute() == scalar);
}

TEST_CASE("the words are those of the random stream, across the carry of the draw index") {
  RandomStream random(99, stream);
  random.seek(near_carry);
  for (const std::uint64_t word : compute().words) CHECK(word == random.next_u64());
}

TEST_CASE("normals are Box and Muller's, from the words of the stream") {
  RandomStream random(5, stream);
  const std::vector<float> normals = standard_normals(4096);
  double largest_error = 0.0;
  for (std::size_t i = 0; i < normals.size(); i += 2) {
    const std::uint32_t radius_word = random.next_u32();
    const std::uint32_t angle_word = random.next_u32();
    const double radius = std::sqrt(-2.0 * std::log((static_cast<double>(radius_word >> 1U) + 0.5) * 0x1p-31));
    const double angle = std::acos(-1.0) / 4.0 * static_cast<double>(static_cast<std::int32_t>(angle_word)) * 0x1p-31;
    const double sign = (angle_word & 1U) != 0 ? -1.0 : 1.0;
    const bool mirrored = (angle_word & 2U) != 0;
    const double first = sign * radius * (mirrored ? std::sin(angle) : std::cos(angle));
    const double second = sign * radius * (mirrored ? std::cos(angle) : std::sin(angle));
    largest_error = std::max({largest_error, std::abs(static_cast<double>(normals[i]) - first),
                              std::abs(static_cast<double>(normals[i + 1]) - second)});
  }
  CHECK(largest_error < tests::single_precision);
}

// 1,000,000 normals in 40 cells of equal probability detect an error of 5 % in a cell.
TEST_CASE("normals are normal") {
  constexpr std::size_t count = 1'000'000;
  constexpr int cells = 40;
  const std::vector<float> normals = standard_normals(count);
  std::vector<std::int64_t> observed(cells, 0);
  const boost::math::normal distribution;
  for (const float normal : normals) {
    ++observed[static_cast<std::size_t>(boost::math::cdf(distribution, static_cast<double>(normal)) * cells)];
  }
  CHECK(tests::chi_squared_p_value(observed, std::vector<double>(cells, static_cast<double>(count) / cells)) >
        tests::family_level);
}

// The correlation of 1,000,000 pairs has a standard error of 0.001.
TEST_CASE("neighboring normals, and their squares, are uncorrelated") {
  const std::vector<float> normals = standard_normals(1'000'000);
  for (const std::size_t lag : {1U, 2U, 3U, 8U, 32U}) {
    double product = 0.0;
    double square_product = 0.0;
    for (std::size_t i = 0; i + lag < normals.size(); ++i) {
      const auto a = static_cast<double>(normals[i]);
      const auto b = static_cast<double>(normals[i + lag]);
      product += a * b;
      square_product += (a * a - 1.0) * (b * b - 1.0) / 2.0;
    }
    const auto root = std::sqrt(static_cast<double>(normals.size()));
    CAPTURE(lag);
    CHECK(std::abs(product / root) < tests::standard_errors);
    CHECK(std::abs(square_product / root) < tests::standard_errors);
  }
}

TEST_CASE("normals are added to the base") {
  std::vector<float> base(row_granule);
  for (std::size_t i = 0; i < base.size(); ++i) base[i] = static_cast<float>(i);
  std::vector<float> sum(row_granule);
  add_normals(5, stream, 0, 3.0F, base, sum);
  const std::vector<float> normals = standard_normals(row_granule);
  for (std::size_t i = 0; i < base.size(); ++i) CHECK(sum[i] == base[i] + 3.0F * normals[i]);
  add_normals(5, stream, 0, 0.0F, base, sum);
  CHECK(sum == base);
}

TEST_CASE("softmax weights are exponentials of the distance to the largest logit, and their sums are exact") {
  constexpr std::size_t size = 4 * row_granule;
  std::vector<float> logits(size);
  for (std::size_t i = 0; i < size; ++i) logits[i] = 40.0F - 0.75F * static_cast<float>((i * 29) % size);
  std::vector<float> weights(size);
  std::vector<double> sums(sum_blocks(size));
  softmax_weights(logits, 1.0F, weights, sums);
  double sum = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    const double y = static_cast<double>(logits[i]) - 40.0;
    CAPTURE(y);
    if (y >= -87.0) {
      CHECK(std::abs(static_cast<double>(weights[i]) / std::exp(y) - 1.0) < tests::single_precision);
    } else {
      CHECK(weights[i] == 0.0F);
    }
    sum += static_cast<double>(weights[i]);
  }
  CHECK(sums[0] == Approx(sum).epsilon(tests::few_ulp));
}

TEST_CASE("softmax weights at the limits: the largest is 1, -infinity is 0, extreme temperatures do not overflow") {
  std::vector<float> logits(row_granule, -std::numeric_limits<float>::infinity());
  logits[3] = 1e30F;
  logits[7] = -1e30F;
  logits[9] = 1e30F;
  std::vector<float> weights(row_granule);
  std::vector<double> sums(1);
  for (const float inverse_temperature : {1e-6F, 1.0F, 1e6F}) {
    softmax_weights(logits, inverse_temperature, weights, sums);
    CHECK(weights[3] == 1.0F);
    CHECK(weights[9] == 1.0F);
    CHECK(sums[0] == 2.0);
  }
}

}  // namespace foredraft::sim
