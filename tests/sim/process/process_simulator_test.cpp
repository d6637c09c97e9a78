// SPDX-License-Identifier: Apache-2.0
#include "sim/process/process_simulator.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "foredraft/errors.hpp"
#include "tests/sim/process/process_testing.hpp"

namespace foredraft::sim {
namespace {

using namespace tests;

/// One run of each kind, with three blocks or more if it has blocks.
std::vector<Simulation> one_of_each() {
  Recording trace;
  for (std::size_t i = 0; i < 40; ++i) {
    std::vector<std::int8_t> outcomes;
    for (std::size_t j = 0; j < 50 + i; ++j)
      outcomes.push_back(static_cast<std::int8_t>((j * j + i) % 5 == 0 ? 0 : (j % 7 == 0 ? -1 : 1)));
    trace.sequences.push_back(std::move(outcomes));
  }
  std::vector<Simulation> runs;
  const std::vector<AcceptanceProcess> processes{Iid{0.8}, Positional{{0.9, 0.5, 0.7, 0.8, 0.2}}, Markov{0.9, 0.4},
                                                 BetaMixture{2.0, 1.0}};
  for (const Path path : {Path::reference, Path::fast}) {
    for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
      for (const AcceptanceProcess& process : processes) {
        runs.push_back(iterations_of(process, 5, 140'000, path, convention));
        runs.push_back(sequences_of(process, 5, {.tokens = 4000.0, .geometric = false}, 40, path, convention));
        runs.push_back(sequences_of(process, 5, {.tokens = 30.0, .geometric = true}, 5000, path, convention));
      }
    }
  }
  runs.push_back(iterations_of(trace_of(std::move(trace)), 4, 0, Path::reference));
  return runs;
}

}  // namespace

TEST_CASE("the tally is the same for any number of threads and any order of blocks, and is conserved") {
  for (const Simulation& simulation : one_of_each()) {
    const auto simulator = simulator_of(simulation);
    const Tally expected = run(*simulator, test_key, 1);
    CHECK(run(*simulator, test_key, 2) == expected);
    CHECK(run(*simulator, test_key, 7) == expected);

    Tally backwards;
    for (std::uint64_t block = simulator->blocks(); block-- > 0;) {
      const Tally part = simulator->run_block(test_key, block);
      CHECK_NOTHROW(check_conservation(part));
      backwards.merge(part);
    }
    CHECK(backwards == expected);
    CHECK(simulator_of(simulation)->run_block(test_key, 0) == simulator->run_block(test_key, 0));
  }
}

// Probabilities of sixteen bits, so that no tie is resolved by a separate stream, which would hide repeats of the main
// one.
TEST_CASE("seeds, points, blocks and paths draw different numbers") {
  const std::vector<AcceptanceProcess> processes{Iid{0.5}, Markov{0.75, 0.5}, BetaMixture{2.0, 1.0}};
  for (const AcceptanceProcess& process : processes) {
    for (const Path path : {Path::reference, Path::fast}) {
      const auto simulator = simulator_of(iterations_of(process, 5, 200'000, path));
      const Tally tally = simulator->run_block(test_key, 0);
      CHECK_FALSE(simulator->run_block({test_key.seed + 1, test_key.point}, 0) == tally);
      CHECK_FALSE(simulator->run_block({test_key.seed, test_key.point + 1}, 0) == tally);
      CHECK_FALSE(simulator->run_block(test_key, 1) == tally);
    }
    // With one position the two paths use draws in the same order: their streams differ only in the purpose.
    const std::int64_t gamma = std::holds_alternative<Markov>(process) ? 0 : 1;
    const auto fast = simulator_of(iterations_of(process, gamma, 60'000, Path::fast));
    const auto reference = simulator_of(iterations_of(process, gamma, 60'000, Path::reference));
    const Tally one = fast->run_block(test_key, 0);
    const Tally other = reference->run_block(test_key, 0);
    if (gamma == 1) CHECK_FALSE(one.tokens_count == other.tokens_count);
    if (gamma == 0) CHECK_FALSE(one.units == other.units);
  }
}

TEST_CASE("a shorter run is the beginning of a longer one") {
  // Draws depend only on the iteration, so the first block of 65,536 is equal for 70,000 and 200,000 iterations.
  for (const Path path : {Path::reference, Path::fast}) {
    const auto shorter = simulator_of(iterations_of(Iid{0.8}, 5, 70'000, path));
    const auto longer = simulator_of(iterations_of(Iid{0.8}, 5, 200'000, path));
    CHECK(shorter->blocks() == 2);
    CHECK(longer->blocks() == 4);
    CHECK(shorter->run_block(test_key, 0) == longer->run_block(test_key, 0));
  }
}

TEST_CASE("the drafting sets the draft passes and nothing else") {
  const std::vector<Simulation> runs{iterations_of(Iid{0.8}, 5, 1000, Path::reference),
                                     iterations_of(Markov{0.8, 0.5}, 5, 1000, Path::reference),
                                     sequences_of(Iid{0.8}, 5, {10.0, true}, 100, Path::fast)};
  for (Simulation simulation : runs) {
    const Tally autoregressive = run_once(simulation);
    simulation.scenario.drafter = BlockDrafter{};
    const Tally block = run_once(simulation);
    const Int128 rounds = block.units.sum(iterations);
    CHECK(autoregressive.units.sum(draft_passes) == 5 * rounds);
    CHECK(block.units.sum(draft_passes) == rounds);
    CHECK(block.units.sum(drafted) == 5 * rounds);
    CHECK(block.tokens_count == autoregressive.tokens_count);
  }
}

TEST_CASE("plans that count nothing or too much are rejected, and so is a draft too long for the tally") {
  CHECK_THROWS_WITH(simulator_of(iterations_of(Iid{0.5}, 2, 0, Path::fast)),
                    Catch::Equals("invalid iterations=0 (must lie in 1 to 281474976710656)"));
  CHECK_THROWS_AS(simulator_of(iterations_of(Iid{0.5}, 2, ~std::uint64_t{0}, Path::fast)), DomainError);
  CHECK_THROWS_AS(simulator_of(sequences_of(Iid{0.5}, 2, {10.0, false}, 0, Path::fast)), DomainError);
  CHECK_THROWS_WITH(simulator_of(iterations_of(Iid{0.5}, 16'777'217, 100, Path::fast)),
                    Catch::StartsWith("invalid gamma=16777217"));
  CHECK_NOTHROW(simulator_of(iterations_of(Iid{0.5}, 16'777'216, 100, Path::fast)));
}

TEST_CASE("a scenario that is not legal or was not read is rejected before it is prepared") {
  CHECK_THROWS_AS(simulator_of(iterations_of(Iid{1.5}, 5, 100, Path::fast)), DomainError);
  CHECK_THROWS_AS(simulator_of(iterations_of(Trace{.file = "trace.csv"}, 5, 100, Path::fast)), DomainError);
}

}  // namespace foredraft::sim
