// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/reduce.hpp"

#include <algorithm>

#include "tests/gpu_bench/kernels/kernel_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

template <class Storage, unsigned width>
std::vector<std::int32_t> picked(const std::vector<Storage>& logits, unsigned rows, unsigned splits, unsigned threads,
                                 HostOrder order = HostOrder::forward) {
  std::vector<std::int32_t> out(rows, -1);
  std::vector<float> floats(rows * splits);
  std::vector<std::uint32_t> words(rows * splits);
  std::vector<std::uint32_t> counters(rows, 0);
  run_on_host(PickTokenKernel<Storage, width>{.logits = logits.data(),
                                              .out = out.data(),
                                              .best_logits = floats.data(),
                                              .best_tokens = words.data(),
                                              .counters = counters.data(),
                                              .rows = rows,
                                              .vocabulary = static_cast<unsigned>(logits.size() / rows),
                                              .splits = splits,
                                              .threads = threads},
              order);
  CHECK(counters == std::vector<std::uint32_t>(rows, 0));
  return out;
}

template <class Storage>
std::vector<std::int32_t> largest(const std::vector<Storage>& logits, unsigned rows) {
  const std::vector<double> values = as_doubles(logits);
  std::vector<std::int32_t> tokens;
  const auto vocabulary = static_cast<std::ptrdiff_t>(values.size() / rows);
  for (unsigned row = 0; row < rows; ++row) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row) * vocabulary;
    tokens.push_back(static_cast<std::int32_t>(std::max_element(first, first + vocabulary) - first));
  }
  return tokens;
}

}  // namespace

TEMPLATE_TEST_CASE("the first of the largest logits is picked for any split of a row", "", Half, Bfloat16, float) {
  constexpr unsigned rows = 3;
  for (const std::size_t vocabulary : {1U, 7U, 33U, 997U, 1000U}) {
    // A bfloat16 has few values between -1 and 1: there are ties in most rows.
    const auto logits = random_values<TestType>(rows * vocabulary, static_cast<std::uint32_t>(vocabulary));
    const auto want = largest(logits, rows);
    for (const unsigned splits : {1U, 2U, 5U}) {
      for (const unsigned threads : {32U, 96U, 256U}) {
        INFO(vocabulary << " logits, " << splits << " splits, " << threads << " threads");
        CHECK(picked<TestType, 1>(logits, rows, splits, threads) == want);
        if (vocabulary % pack_elements == 0) {
          CHECK(picked<TestType, pack_elements>(logits, rows, splits, threads) == want);
          CHECK(picked<TestType, pack_elements>(logits, rows, splits, threads, HostOrder::reversed) == want);
          CHECK(picked<TestType, pack_elements>(logits, rows, splits, threads, HostOrder::shuffled) == want);
        }
      }
    }
  }
}

TEST_CASE("of equal logits the lowest token is picked, across lanes, warps and splits") {
  const std::vector<float> equal(500, 0.25F);
  for (const HostOrder order : {HostOrder::forward, HostOrder::reversed, HostOrder::shuffled}) {
    CHECK(picked<float, 1>(equal, 1, 3, 64, order) == std::vector<std::int32_t>{0});
  }
  std::vector<float> two(500, -1.0F);
  for (const std::size_t first : {31U, 63U, 170U, 333U}) {
    two.assign(500, -1.0F);
    two[first] = two[499] = 2.0F;
    CHECK(picked<float, 1>(two, 1, 3, 64) == std::vector<std::int32_t>{static_cast<std::int32_t>(first)});
  }
}

TEST_CASE("a row of NaN gives token 0, one with some NaN the largest of the others") {
  std::vector<float> logits(200, std::nanf(""));
  CHECK(picked<float, 1>(logits, 1, 1, 64) == std::vector<std::int32_t>{0});
  CHECK(picked<float, 1>(logits, 1, 3, 64) == std::vector<std::int32_t>{0});
  logits[150] = -3.0F;
  logits[151] = -2.0F;
  CHECK(picked<float, 1>(logits, 1, 3, 64) == std::vector<std::int32_t>{151});
}

}  // namespace foredraft::gpu_bench::tests
