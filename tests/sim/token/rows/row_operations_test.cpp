// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rows/row_operations.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "sim/token/rows/vector_kernels.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> softmax_of(const std::vector<double>& logits, double temperature) {
  std::vector<double> distribution(logits.size());
  softmax(logits, temperature, distribution);
  return distribution;
}

std::vector<double> tempered(std::vector<double> distribution, double temperature) {
  apply_temperature(distribution, temperature);
  return distribution;
}

std::size_t drawn(const std::vector<double>& weights, double u) {
  std::vector<double> sums(sum_blocks(weights.size()));
  sum_row_blocks<double>(weights, sums);
  return draw_by_inversion<double>(weights, sums, row_sum(sums), u);
}

}  // namespace

TEST_CASE("row_sum adds every entry once, whatever the length") {
  std::vector<double> row;
  double expected = 0.0;
  for (int n = 1; n <= 40; ++n) {
    row.push_back(n);
    expected += n;
    CHECK(row_sum(row) == expected);
  }
}

TEST_CASE("softmax by hand") {
  const std::vector<double> distribution = softmax_of({std::log(1.0), std::log(2.0), std::log(5.0)}, 1.0);
  CHECK(distribution[0] == Approx(0.125).epsilon(tests::few_ulp));
  CHECK(distribution[1] == Approx(0.25).epsilon(tests::few_ulp));
  CHECK(distribution[2] == Approx(0.625).epsilon(tests::few_ulp));
}

TEST_CASE("softmax at the limits: huge logits, -infinity, equal logits, temperature near 0") {
  CHECK(softmax_of({1e308, -1e308, 1e308}, 1.0) == std::vector<double>{0.5, 0.0, 0.5});
  CHECK(softmax_of({-infinity, 3.0, -infinity}, 1.0) == std::vector<double>{0.0, 1.0, 0.0});
  CHECK(softmax_of(std::vector<double>(4, -700.0), 1.0) == std::vector<double>(4, 0.25));
  CHECK(softmax_of({1.0, 1.0 + 1e-9, 0.0}, 1e-12) == std::vector<double>{0.0, 1.0, 0.0});
}

TEST_CASE("softmax sums to 1 over 256,000 tokens") {
  std::vector<double> logits(256'000);
  for (std::size_t x = 0; x < logits.size(); ++x) logits[x] = 10.0 * std::sin(static_cast<double>(x));
  CHECK(std::abs(row_sum(softmax_of(logits, 1.0)) - 1.0) < tests::few_ulp);
}

TEST_CASE("temperature 0 takes the largest entry, the first one on ties") {
  CHECK(softmax_of({1.0, 4.0, 4.0, -infinity}, 0.0) == std::vector<double>{0.0, 1.0, 0.0, 0.0});
  CHECK(tempered({0.2, 0.4, 0.4}, 0.0) == std::vector<double>{0.0, 1.0, 0.0});
}

TEST_CASE("a temperature applied to probabilities is the same temperature applied to logits") {
  const std::vector<double> logits{0.3, -2.0, 1.7, 0.0, -infinity, -600.0};
  const double temperature = GENERATE(0.25, 0.7, 1.0, 1.9, 8.0);
  const std::vector<double> direct = softmax_of(logits, temperature);
  const std::vector<double> indirect = tempered(softmax_of(logits, 1.0), temperature);
  for (std::size_t x = 0; x < logits.size(); ++x) {
    CHECK(indirect[x] == Approx(direct[x]).epsilon(tests::second_route).margin(0.0));
  }
  CHECK(indirect[4] == 0.0);
}

TEST_CASE("temperature 1 does not change a distribution, bit for bit") {
  const std::vector<double> distribution{0.1, 0.2, 0.7};
  CHECK(tempered(distribution, 1.0) == distribution);
}

TEST_CASE("overlap is sum min(p, q): by hand, at p = q and for disjoint supports") {
  CHECK(overlap(std::vector<double>{0.5, 0.3, 0.2}, std::vector<double>{0.1, 0.6, 0.3}) ==
        Approx(0.6).epsilon(tests::few_ulp));
  CHECK(overlap(std::vector<double>{0.5, 0.3, 0.2}, std::vector<double>{0.5, 0.3, 0.2}) == 1.0);
  CHECK(overlap(std::vector<double>{0.5, 0.5, 0.0}, std::vector<double>{0.0, 0.0, 1.0}) == 0.0);
}

TEST_CASE("inversion selects the entry whose running sum first exceeds u") {
  const std::vector<double> weights{0.0, 1.0, 0.0, 3.0, 4.0, 0.0};
  CHECK(drawn(weights, 0.0) == 1);
  CHECK(drawn(weights, 0.1249) == 1);
  CHECK(drawn(weights, 0.125) == 3);
  CHECK(drawn(weights, 0.4999) == 3);
  CHECK(drawn(weights, 0.5) == 4);
  CHECK(drawn(weights, std::nextafter(1.0, 0.0)) == 4);
}

TEST_CASE("inversion finds entries across blocks and never one of weight 0") {
  std::vector<double> weights(5 * sum_block, 0.0);
  weights[700] = 0.1;
  weights[1800] = 0.2;
  weights[1801] = 0.7;
  CHECK(drawn(weights, 0.0) == 700);
  CHECK(drawn(weights, 0.05) == 700);
  CHECK(drawn(weights, 0.2) == 1800);
  CHECK(drawn(weights, 0.95) == 1801);
  CHECK(drawn(weights, 1.0) == 1801);  // u < 1, but round-off in u * total may reach the total
}

}  // namespace foredraft::sim
