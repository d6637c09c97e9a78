// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/online_softmax.hpp"

#include <algorithm>

#include "tests/gpu_bench/verify/verify_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

/// The softmax of a row, eight logits at a time by the threads of one block.
SoftmaxPart block_softmax(const std::vector<float>& row, unsigned threads, HostOrder order = HostOrder::forward) {
  std::vector<SoftmaxPart> seen(threads);
  run_blocks(
      {.blocks = 1, .threads = threads, .shared_bytes = static_cast<unsigned>(threads / 32 * sizeof(SoftmaxPart))},
      [&](HostBlock& block) {
        SoftmaxPart part;
        for (std::size_t i = std::size_t{block.thread()} * 8; i < row.size(); i += std::size_t{threads} * 8) {
          float logits[8];
          for (std::size_t j = 0; j < 8; ++j) logits[j] = i + j < row.size() ? row[i + j] : -float_infinity;
          add_logits(logits, part);
        }
        seen[block.thread()] = block_merged(block, part, reinterpret_cast<SoftmaxPart*>(block.shared()));
      },
      order);
  for (const SoftmaxPart& part : seen) {
    REQUIRE(std::memcmp(&part, seen.data(), sizeof part) == 0);
  }
  return seen[0];
}

double log_sum_exp(const std::vector<float>& row) {
  double sum = 0.0;
  const double top = static_cast<double>(*std::max_element(row.begin(), row.end()));
  for (const float logit : row) sum += std::exp(static_cast<double>(logit) - top);
  return top + std::log(sum);
}

double log_sum_exp(const SoftmaxPart& part) {
  return static_cast<double>(part.top) + std::log(static_cast<double>(part.sum));
}

}  // namespace

TEST_CASE("a softmax computed in parts by many threads equals that of the row, with the same bits in any order") {
  for (const std::size_t size : {1U, 9U, 500U, 2000U}) {
    std::vector<float> row = random_values<float>(size, static_cast<std::uint32_t>(size));
    for (float& logit : row) logit = 1000.0F + 20.0F * logit;  // exp() of it would overflow
    for (const unsigned threads : {32U, 96U}) {
      const SoftmaxPart part = block_softmax(row, threads);
      CHECK(part.top == *std::max_element(row.begin(), row.end()));
      CHECK(part.fault == 0);
      // A sum of exponentials 40 apart: exp_below's error for a distance of 40 weighs exp(-40).
      CHECK(log_sum_exp(part) - log_sum_exp(row) == Approx(0.0).margin(single_precision));
      for (const HostOrder order : {HostOrder::reversed, HostOrder::shuffled}) {
        const SoftmaxPart other = block_softmax(row, threads, order);
        CHECK(std::memcmp(&other, &part, sizeof part) == 0);
      }
      for (std::size_t x = 0; x < size; ++x) {
        const double log = static_cast<double>(row[x]) - log_sum_exp(row);
        REQUIRE(log_probability(row[x], part) == Approx(log).margin(single_precision));
        // 1.5e-7 for each of at most 40 units, and a few roundings.
        REQUIRE(static_cast<double>(RowSoftmax(part).probability(row[x])) == Approx(std::exp(log)).epsilon(8e-6));
      }
    }
  }
}

TEST_CASE("NaN counts as -inf and +inf as the largest number, and both are recorded") {
  std::vector<float> row(300, 1.0F);
  row[7] = no_number;
  SoftmaxPart part = block_softmax(row, 32);
  CHECK(part.top == 1.0F);
  CHECK(part.sum == 299.0F);
  CHECK(part.fault == 1);

  row[7] = float_infinity;
  row[250] = std::numeric_limits<float>::max();
  part = block_softmax(row, 32);
  CHECK(part.top == std::numeric_limits<float>::max());
  CHECK(part.sum == 2.0F);
  CHECK(part.fault == 1);
  CHECK(RowSoftmax(part).probability(clean_logit(float_infinity)) == 0.5F);
  CHECK(RowSoftmax(part).probability(1.0F) == 0.0F);

  row.assign(300, -std::numeric_limits<float>::max());
  row[0] = std::numeric_limits<float>::max();
  part = block_softmax(row, 32);
  CHECK(part.sum == 1.0F);
  CHECK(part.fault == 0);
}

TEST_CASE("if nothing is finite every probability is 0, and -inf among finite logits changes nothing") {
  const SoftmaxPart nothing = block_softmax(std::vector<float>(100, -float_infinity), 32);
  CHECK(nothing.top == -float_infinity);
  CHECK(nothing.sum == 0.0F);
  CHECK(RowSoftmax(nothing).probability(-float_infinity) == 0.0F);
  CHECK(log_probability(0.0F, nothing) == -std::numeric_limits<double>::infinity());

  const SoftmaxPart some = merged(nothing, {.top = 3.0F, .sum = 2.0F, .fault = 0});
  CHECK(some.top == 3.0F);
  CHECK(some.sum == 2.0F);
  CHECK(RowSoftmax(some).probability(-float_infinity) == 0.0F);
  CHECK(log_probability(-float_infinity, some) == -std::numeric_limits<double>::infinity());
}

}  // namespace foredraft::gpu_bench::tests
