// SPDX-License-Identifier: Apache-2.0
#include "sim/process/kernels.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "core/random_stream.hpp"
#include "sim/process/threshold.hpp"
#include "tests/sim/process/process_testing.hpp"

namespace foredraft::sim {
namespace {

using namespace tests;

constexpr std::uint64_t many = 100'000;

/// A counting task that owns its arrays.
struct OwnedTask {
  Thresholds thresholds;
  std::vector<std::uint64_t> survivors;
  CountingTask task{};

  OwnedTask(Thresholds row, std::uint64_t iterations, std::uint64_t block)
      : thresholds(std::move(row)), survivors(thresholds.size(), 0) {
    const auto key = philox_key(test_key.seed);
    const auto counter = philox_counter({.purpose = Purpose::test, .point = 1, .block = block}, 0);
    const auto tie_counter = philox_counter({.purpose = Purpose::survival_tie, .point = 1, .block = block}, 0);
    std::copy(key.begin(), key.end(), task.key);
    std::copy(counter.begin(), counter.end(), task.counter);
    std::copy(tie_counter.begin(), tie_counter.end(), task.tie_counter);
    task.iterations = iterations;
    task.positions = thresholds.size();
    task.high = thresholds.high.data();
    task.low = thresholds.low.data();
    task.survivors = survivors.data();
  }
};

using CountingLoop = void (*)(const CountingTask&);

std::vector<std::uint64_t> count(CountingLoop loop, const Thresholds& row, std::uint64_t iterations) {
  OwnedTask owned(row, iterations, 5);
  loop(owned.task);
  return owned.survivors;
}

/// Every vector version of this build that this machine can run.
template <class Check>
void for_each_version(Check check) {
  const std::vector<std::string> names = instruction_sets();
  REQUIRE(names.back() == "scalar");
  const std::string before(instruction_set());
  for (const std::string& name : names) {
    if (name == "scalar") continue;
    INFO("instruction set " << name);
    select_instruction_set(name);
    check(kernels());
  }
  select_instruction_set(before);
}

}  // namespace

TEST_CASE("every instruction set gives the integers of the plain loops") {
  struct Case {
    AcceptanceProcess process;
    std::int64_t positions;
  };
  const std::vector<Case> cases{{Iid{0.8}, 5},
                                {Iid{0.0}, 3},
                                {Iid{1.0}, 4},
                                {Iid{1.0 - 1e-15}, 9},
                                {Iid{1.0 - 0x1p-17}, 2},  // a tie decides every rejection
                                {Iid{0.3}, 1},
                                {Iid{0.999}, 300},  // many thresholds share their leading bits
                                {Positional{{1.0, 0.9, 1.0, 0.5, 0.0, 0.7}}, 6},
                                {BetaMixture{0.6, 0.4}, 17}};
  // One iteration, around the lengths of a draw and of the groups of all vector widths, and a whole block.
  for (const std::uint64_t iterations :
       {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{8}, std::uint64_t{9}, std::uint64_t{31}, std::uint64_t{64},
        std::uint64_t{65}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{255}, std::uint64_t{257},
        std::uint64_t{12'345}}) {
    for (const Case& c : cases) {
      const Thresholds survival = survival_thresholds(c.process, c.positions, false);
      const Thresholds acceptance = acceptance_thresholds(c.process, c.positions, false);
      const auto survivors = count(scalar_kernels().count_survivors, survival, iterations);
      const auto accepted = count(scalar_kernels().count_bernoulli, acceptance, iterations);
      for_each_version([&](const Kernels& loops) {
        INFO("case " << &c - cases.data() << ", iterations " << iterations);
        CHECK(count(loops.count_survivors, survival, iterations) == survivors);
        CHECK(count(loops.count_bernoulli, acceptance, iterations) == accepted);
      });
    }
  }
}

TEST_CASE("every instruction set settles hundreds of ties as the plain loops do") {
  // 256 thresholds with different leading bits: one draw in 256 ties, 390 in all. Then about 100 ties in 64 rows.
  Thresholds survival;
  for (std::uint32_t k = 0; k < 256; ++k)
    survival.push_back({.high = 65535 - 256 * k, .low = ~std::uint64_t{0} / (k + 2)});
  const auto survivors = count(scalar_kernels().count_survivors, survival, many);
  Thresholds acceptance;
  for (std::uint32_t k = 0; k < 64; ++k) acceptance.push_back({.high = 65535, .low = ~std::uint64_t{0} / (k + 2)});
  const auto accepted = count(scalar_kernels().count_bernoulli, acceptance, many);
  for_each_version([&](const Kernels& loops) {
    CHECK(count(loops.count_survivors, survival, many) == survivors);
    CHECK(count(loops.count_bernoulli, acceptance, many) == accepted);
  });
}

TEST_CASE("every instruction set draws the words of the generator, beyond 2^32 draws too") {
  const auto key = philox_key(test_key.seed);
  const StreamId id{.purpose = Purpose::test, .point = 0xfffffffe, .block = 0xabcdef01};
  const auto counter = philox_counter(id, 0);
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{3}, (std::uint64_t{1} << 32U) - 70}) {
    std::vector<std::uint32_t> expected;
    for (std::uint64_t j = 0; j < 128; ++j) {
      const PhiloxWords words = philox4x32_10(philox_counter(id, first + j), key);
      expected.insert(expected.end(), words.begin(), words.end());
    }
    std::vector<std::uint32_t> words(expected.size());
    scalar_kernels().fill_draws(key.data(), counter.data(), first, 128, words.data());
    CHECK(words == expected);
    for_each_version([&](const Kernels& loops) {
      std::fill(words.begin(), words.end(), 0);
      loops.fill_draws(key.data(), counter.data(), first, 128, words.data());
      CHECK(words == expected);
    });
  }
}

TEST_CASE("whole runs are the same under every instruction set") {
  // Lengths that are no multiple of a vector; two blocks; every kind of run.
  const std::vector<Simulation> runs{
      iterations_of(Iid{0.8}, 5, many + 3, Path::fast),
      iterations_of(Iid{0.8}, 5, many + 3, Path::reference),
      iterations_of(Iid{0.9999}, 2000, 10'001, Path::fast),
      iterations_of(Markov{0.9, 0.3}, 4, 10'001, Path::fast),
      iterations_of(Markov{0.9, 0.3}, 4, 10'001, Path::reference),
      iterations_of(Runs{0.9, 0.3, 1.0, 1.4}, 70, 2'001, Path::fast),
      iterations_of(BetaMixture{2.0, 0.5}, 70, 2'001, Path::reference),
      sequences_of(Iid{0.7}, 3, {.tokens = 50.0, .geometric = true}, 301, Path::reference)};
  for (const Simulation& simulation : runs) {
    const std::string before(instruction_set());
    select_instruction_set("scalar");
    const Tally plain = run_once(simulation);
    select_instruction_set(before);
    for_each_version([&](const Kernels&) { CHECK(run_once(simulation) == plain); });
  }
}

TEST_CASE("counting adds to the existing counts and touches no position after the last") {
  const Thresholds row = survival_thresholds(Iid{0.8}, 3, false);  // falling, so fit for both loops
  for (const auto loop : {&Kernels::count_survivors, &Kernels::count_bernoulli}) {
    const std::vector<std::uint64_t> counted = count(scalar_kernels().*loop, row, 100);
    const auto check = [&](const Kernels& loops) {
      OwnedTask owned(row, 100, 5);
      owned.survivors.assign(4, 1000);
      owned.task.survivors = owned.survivors.data();
      (loops.*loop)(owned.task);
      for (std::size_t k = 0; k < 3; ++k) CHECK(owned.survivors[k] == 1000 + counted[k]);
      CHECK(owned.survivors[3] == 1000);
    };
    check(scalar_kernels());
    for_each_version(check);
  }
}

}  // namespace foredraft::sim
