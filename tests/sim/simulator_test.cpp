// SPDX-License-Identifier: Apache-2.0
#include "sim/simulator.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

namespace foredraft::sim {
namespace {

/// Block i has i + 1 iterations of gamma 1 with bonus, of which `point` were accepted.
class CountingBlocks final : public Simulator {
 public:
  explicit CountingBlocks(std::uint64_t blocks, std::uint64_t broken = ~std::uint64_t{0})
      : blocks_(blocks), broken_(broken) {}

  [[nodiscard]] std::uint64_t blocks() const override { return blocks_; }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    const auto iterations = static_cast<std::int64_t>(block) + 1;
    const auto accepted = std::min(iterations, static_cast<std::int64_t>(key.point));
    Tally tally = empty_tally(1, Convention::bonus);
    tally.units.add({2, 1, 1, 1, 1, 1}, accepted);
    tally.units.add({1, 1, 1, 1, 0, 1}, iterations - accepted);
    tally.tokens_count = {static_cast<std::uint64_t>(iterations - accepted), static_cast<std::uint64_t>(accepted)};
    tally.drafted_at = {static_cast<std::uint64_t>(iterations)};
    tally.tested_at = tally.drafted_at;
    tally.accepted_at = {static_cast<std::uint64_t>(accepted)};
    if (block == broken_) ++tally.drafted_at[0];
    return tally;
  }

 private:
  std::uint64_t blocks_;
  std::uint64_t broken_;
};

}  // namespace

TEST_CASE("a run merges every block once, whatever the number of threads") {
  const CountingBlocks simulator(100);
  for (const unsigned threads : {0U, 1U, 2U, 7U, 200U}) {
    const Tally tally = run(simulator, {.seed = 1, .point = 3}, threads);
    CHECK(tally.units.count() == 100 * 101 / 2);
    CHECK(tally.accepted_at == std::vector<std::uint64_t>{1 + 2 + 98 * 3});
  }
}

TEST_CASE("a run passes its key to every block") {
  const CountingBlocks simulator(4);
  CHECK(run(simulator, {.seed = 1, .point = 0}, 1).units.sum(accepted) == 0);
  CHECK(run(simulator, {.seed = 1, .point = 9}, 1).units.sum(accepted) == 10);
}

TEST_CASE("a run without blocks is an empty tally") {
  CHECK(run(CountingBlocks(0), {.seed = 1, .point = 0}, 2) == Tally{});
}

TEST_CASE("a run reports a block whose counts do not add up") {
  CHECK_THROWS_AS(run(CountingBlocks(5, 3), {.seed = 1, .point = 0}, 2), std::logic_error);
}

}  // namespace foredraft::sim
