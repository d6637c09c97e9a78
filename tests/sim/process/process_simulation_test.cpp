// SPDX-License-Identifier: Apache-2.0
#include "sim/process/process_simulation.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "foredraft/errors.hpp"
#include "tests/sim/process/process_testing.hpp"

namespace foredraft::sim {
namespace {

using namespace tests;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// One of each kind of run, three blocks or more where runs have blocks.
std::vector<ProcessSimulation> one_of_each() {
  Recording trace;
  for (std::size_t i = 0; i < 40; ++i) {
    std::vector<std::int8_t> outcomes;
    for (std::size_t j = 0; j < 50 + i; ++j)
      outcomes.push_back(static_cast<std::int8_t>((j * j + i) % 5 == 0 ? 0 : (j % 7 == 0 ? -1 : 1)));
    trace.sequences.push_back(std::move(outcomes));
  }
  std::vector<ProcessSimulation> runs;
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

ProcessSimulation with_gamma(AcceptanceProcess process, std::int64_t gamma, Convention convention = Convention::bonus) {
  return iterations_of(std::move(process), gamma, 100, Path::reference, convention);
}

}  // namespace

TEST_CASE("the tally is the same for any number of threads and any order of blocks, and is conserved") {
  for (const ProcessSimulation& simulation : one_of_each()) {
    const auto simulator = make_process_simulator(simulation);
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
    CHECK(make_process_simulator(simulation)->run_block(test_key, 0) == simulator->run_block(test_key, 0));
  }
}

// Probabilities of sixteen bits: no tie is ever settled by a stream of its own, which would hide that the main one
// repeats.
TEST_CASE("seeds, points, blocks and paths draw different numbers") {
  const std::vector<AcceptanceProcess> processes{Iid{0.5}, Markov{0.75, 0.5}, BetaMixture{2.0, 1.0}};
  for (const AcceptanceProcess& process : processes) {
    for (const Path path : {Path::reference, Path::fast}) {
      const auto simulator = make_process_simulator(iterations_of(process, 5, 200'000, path));
      const Tally tally = simulator->run_block(test_key, 0);
      CHECK_FALSE(simulator->run_block({test_key.seed + 1, test_key.point}, 0) == tally);
      CHECK_FALSE(simulator->run_block({test_key.seed, test_key.point + 1}, 0) == tally);
      CHECK_FALSE(simulator->run_block(test_key, 1) == tally);
    }
    // With one position the two paths lay out their draws alike: only the purpose keeps them apart.
    const std::int64_t gamma = std::holds_alternative<Markov>(process) ? 0 : 1;
    const auto fast = make_process_simulator(iterations_of(process, gamma, 60'000, Path::fast));
    const auto reference = make_process_simulator(iterations_of(process, gamma, 60'000, Path::reference));
    const Tally one = fast->run_block(test_key, 0);
    const Tally other = reference->run_block(test_key, 0);
    if (gamma == 1) CHECK_FALSE(one.tokens_count == other.tokens_count);
    if (gamma == 0) CHECK_FALSE(one.units == other.units);
  }
}

TEST_CASE("a shorter run is the beginning of a longer one") {
  // Draws depend on the iteration alone, so 70,000 iterations share their first block of 65,536 with 200,000.
  for (const Path path : {Path::reference, Path::fast}) {
    const auto shorter = make_process_simulator(iterations_of(Iid{0.8}, 5, 70'000, path));
    const auto longer = make_process_simulator(iterations_of(Iid{0.8}, 5, 200'000, path));
    CHECK(shorter->blocks() == 2);
    CHECK(longer->blocks() == 4);
    CHECK(shorter->run_block(test_key, 0) == longer->run_block(test_key, 0));
  }
}

TEST_CASE("drafting decides the draft passes and nothing else") {
  const std::vector<ProcessSimulation> runs{iterations_of(Iid{0.8}, 5, 1000, Path::reference),
                                            iterations_of(Markov{0.8, 0.5}, 5, 1000, Path::reference),
                                            sequences_of(Iid{0.8}, 5, {10.0, true}, 100, Path::fast)};
  for (ProcessSimulation simulation : runs) {
    const Tally autoregressive = run_once(simulation);
    simulation.drafting = Drafting::block;
    const Tally block = run_once(simulation);
    const Int128 rounds = block.units.sum(iterations);
    CHECK(autoregressive.units.sum(draft_passes) == 5 * rounds);
    CHECK(block.units.sum(draft_passes) == rounds);
    CHECK(block.units.sum(drafted) == 5 * rounds);
    CHECK(block.tokens_count == autoregressive.tokens_count);
  }
}

TEST_CASE("bad arguments are refused with their name and value") {
  const auto message = [](const std::string& text) { return Catch::Equals(text); };
  CHECK_THROWS_WITH(make_process_simulator(with_gamma(Iid{1.5}, 5)), message("invalid alpha=1.5 (must be in [0, 1])"));
  CHECK_THROWS_AS(make_process_simulator(with_gamma(Iid{not_a_number}, 5)), DomainError);
  CHECK_THROWS_WITH(make_process_simulator(with_gamma(Iid{0.5}, -1)),
                    message("invalid gamma=-1 (must lie in 0 to 16777216)"));
  CHECK_THROWS_WITH(make_process_simulator(with_gamma(Iid{0.5}, 0, Convention::no_bonus)),
                    message("invalid gamma=0 (must lie in 1 to 16777216)"));
  CHECK_THROWS_AS(make_process_simulator(with_gamma(Iid{0.5}, 16'777'217)), DomainError);
  CHECK_THROWS_WITH(make_process_simulator(with_gamma(Positional{{0.9, 0.8, 0.7, 0.6, 0.5}}, 7)),
                    message("invalid gamma=7 (must be at most the 5 entries of conditional)"));
  CHECK_THROWS_WITH(make_process_simulator(with_gamma(Positional{{0.9, -0.1}}, 2)),
                    message("invalid process.conditional[1]=-0.1 (must be in [0, 1])"));
  CHECK_THROWS_AS(make_process_simulator(with_gamma(Positional{{}}, 0)), DomainError);
  CHECK_THROWS_WITH(make_process_simulator(with_gamma(BetaMixture{0.0, 1.0}, 2)),
                    message("invalid process.a=0 (must be in [1e-100, 1e+100])"));
  CHECK_THROWS_AS(make_process_simulator(with_gamma(BetaMixture{1.0, not_a_number}, 2)), DomainError);
  CHECK_THROWS_WITH(make_process_simulator(with_gamma(BetaMixture{1.0, 1e-305}, 2)),
                    message("invalid process.b=1e-305 (must be in [1e-100, 1e+100])"));
  CHECK_THROWS_WITH(make_process_simulator(with_gamma(Markov{1.0, 0.0}, 2)),
                    message("invalid b=0 (must be above 0 when a is 1: the chain never leaves either state)"));
  CHECK_THROWS_AS(make_process_simulator(with_gamma(Markov{not_a_number, 0.5}, 2)), DomainError);
  CHECK_THROWS_WITH(make_process_simulator(iterations_of(Iid{0.5}, 2, 0, Path::fast)),
                    message("invalid iterations=0 (must lie in 1 to 281474976710656)"));
  CHECK_THROWS_AS(make_process_simulator(iterations_of(Iid{0.5}, 2, ~std::uint64_t{0}, Path::fast)), DomainError);
  CHECK_THROWS_AS(make_process_simulator(sequences_of(Iid{0.5}, 2, {10.0, false}, 0, Path::fast)), DomainError);
  CHECK_THROWS_WITH(make_process_simulator(sequences_of(Iid{0.5}, 2, {0.5, true}, 3, Path::fast)),
                    message("invalid tokens=0.5 (must lie in 1 to 1000000000)"));
  CHECK_THROWS_WITH(make_process_simulator(sequences_of(Iid{0.5}, 2, {10.5, false}, 3, Path::fast)),
                    message("invalid tokens=10.5 (must be whole for sequences of fixed length)"));
  CHECK_NOTHROW(make_process_simulator(sequences_of(Iid{0.5}, 2, {10.5, true}, 3, Path::fast)));
  CHECK_THROWS_AS(make_process_simulator(sequences_of(Iid{0.5}, 2, {not_a_number, true}, 3, Path::fast)), DomainError);
}

}  // namespace foredraft::sim
