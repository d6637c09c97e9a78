// SPDX-License-Identifier: Apache-2.0
// The Markov chain over token positions: long-run tokens per iteration and their standard errors.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/intervals.hpp"
#include "sim/estimates.hpp"
#include "tests/sim/process/process_testing.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

using namespace tests;
using foredraft::tests::standard_errors;

/// The outcome of one iteration for each state of the token before it, by enumeration of its positions.
struct IterationByState {
  std::vector<double> tokens[2];  ///< [state][k-1]: P(X = k)
  double accepted_after[2];       ///< [state]: P(the last position passed is accepted)
};

IterationByState enumerate(const Markov& chain, std::int64_t gamma, Convention convention) {
  const auto positions = static_cast<std::size_t>(max_tokens(gamma, convention));
  IterationByState result{};
  for (const std::size_t start : {0U, 1U}) {
    result.tokens[start].assign(positions, 0.0);
    for (std::uint64_t pattern = 0; pattern < std::uint64_t{1} << positions; ++pattern) {
      double probability = 1.0;
      std::size_t state = start;
      std::size_t emitted = 0;
      bool going = true;
      std::size_t last = start;
      for (std::size_t k = 0; k < positions; ++k) {
        const double accept = state == 1 ? chain.a : chain.b;
        state = pattern >> k & 1U;
        probability *= state == 1 ? accept : 1.0 - accept;
        if (!going) continue;
        ++emitted;
        last = state;
        going = state == 1;
      }
      result.tokens[start][emitted - 1] += probability;
      result.accepted_after[start] += probability * static_cast<double>(last);
    }
  }
  return result;
}

/// The long-run distribution of X; the start states are weighted by power iteration.
std::vector<double> long_run_distribution(const Markov& chain, std::int64_t gamma, Convention convention) {
  const IterationByState iteration = enumerate(chain, gamma, convention);
  double accepted = 0.5;
  for (int i = 0; i < 20'000; ++i) {
    accepted = accepted * iteration.accepted_after[1] + (1.0 - accepted) * iteration.accepted_after[0];
  }
  std::vector<double> distribution = iteration.tokens[0];
  for (std::size_t k = 0; k < distribution.size(); ++k)
    distribution[k] = accepted * iteration.tokens[1][k] + (1.0 - accepted) * distribution[k];
  return distribution;
}

const std::vector<Markov> chains{{0.9, 0.4}, {0.3, 0.8}, {0.97, 0.05}, {0.5, 0.5}, {0.0, 0.7}, {0.8, 0.0}, {1.0, 0.3}};

}  // namespace

// 200,001 iterations detect a relative error of about 0.5 % in an acceptance, except for the strongly correlated chain.
TEST_CASE("tokens per iteration of a chain agree with the enumerated long run on both paths") {
  for (const Markov& chain : chains) {
    for (const Path path : {Path::reference, Path::fast}) {
      for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
        const std::int64_t gamma = 4;
        INFO("a " << chain.a << ", b " << chain.b << ", path " << static_cast<int>(path) << ", "
                  << to_string(convention));
        const Tally tally = run_once(iterations_of(chain, gamma, 200'001, path, convention));
        const Estimate seen = tokens_per_iteration(tally);
        const double expected = mean_of(long_run_distribution(chain, gamma, convention));
        if (chain.b == 0.0 || chain.a == 1.0) {
          CHECK(seen.mean == Approx(expected).epsilon(1e-15));  // it never leaves its first state
        } else {
          tests::check_estimate(seen, expected);
          CHECK(seen.standard_error < 0.02);
        }
      }
    }
  }
}

TEST_CASE("the hidden outcome of a bonus token changes the chain's state") {
  // After gamma = 1 accepted drafts the bonus position decides whether the next iteration starts with b or a. If the
  // bonus token were skipped, P(accept first) after an acceptance would be a; if it counted as accepted, the mean would
  // be higher.
  const Markov chain{.a = 0.2, .b = 0.9};
  const Tally tally = run_once(iterations_of(chain, 1, 400'000, Path::reference));
  // Start state s: accept w.p. p_s, then the bonus position is accepted w.p. a: stationary s solves s = p a.
  const double accepted_before = chain.b * chain.a / (1.0 - chain.a * chain.a + chain.b * chain.a);
  const double accept = accepted_before * chain.a + (1.0 - accepted_before) * chain.b;
  tests::check_estimate(tokens_per_iteration(tally), 1.0 + accept);
}

TEST_CASE("with equal probabilities the chain is the i.i.d. process in distribution") {
  const Tally chain = run_once(iterations_of(Markov{0.7, 0.7}, 4, 300'000, Path::fast));
  const std::vector<double> distribution =
      tokens_distribution(accepted_by_enumeration(std::vector<double>(4, 0.7)), Convention::bonus);
  CHECK(foredraft::tests::chi_squared_p_value(as_signed(chain.tokens_count), expected_counts(distribution, 300'000.0)) >
        foredraft::tests::level_of_one(1));
}

TEST_CASE("a block without a rejection is one unit with all of its iterations") {
  const Tally tally = run_once(iterations_of(Markov{1.0, 0.5}, 3, 100, Path::reference));
  CHECK(tally.units.count() == 1);
  CHECK(tally.units.sum(iterations) == 100);
  CHECK(tally.units.sum(tokens) == 400);
  CHECK(std::isnan(tokens_per_iteration(tally).standard_error));
}

TEST_CASE("a chain that is always rejected again makes every iteration a unit") {
  const Tally tally = run_once(iterations_of(Markov{0.5, 0.0}, 3, 100, Path::reference));
  CHECK(tally.units.count() == 100);
  CHECK(tally.tokens_count == std::vector<std::uint64_t>{100, 0, 0, 0});
}

// Many short runs instead of a long one, with chains that depend on the start state: 100,000 runs of one iteration
// detect an error of 0.02 in the probability of a start after an acceptance. A start state taken one position too early
// or too late, over positions instead of iterations, or for another number of positions, is off by 0.08 or more in one
// of them.
TEST_CASE("the first iteration of a run already has the long-run mean") {
  struct Case {
    Markov chain;
    std::int64_t gamma;
  };
  for (const Case& c : {Case{{0.95, 0.2}, 4}, Case{{0.9, 0.3}, 1}, Case{{0.5, 0.9}, 1}}) {
    const std::vector<double> distribution = long_run_distribution(c.chain, c.gamma, Convention::bonus);
    IntegerMoments<1> first;
    const auto simulator = simulator_of(iterations_of(c.chain, c.gamma, 1, Path::reference));
    for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
      const Tally tally = run(*simulator, {.seed = seed, .point = 0}, 1);
      first.add({static_cast<std::int64_t>(tally.units.sum(tokens))});
    }
    CAPTURE(c.chain.a, c.chain.b, c.gamma);
    CHECK(std::abs(first.mean(0) - mean_of(distribution)) < standard_errors * first.standard_error(0));
  }
}

// A standard error too small by a fifth would put 11.7 % of the runs outside; 300 runs detect that (bounds of 5
// standard errors for a share of 5 %: 0 to 33 runs; a factor of 1.4, as from units that ignore dependence, gives 50).
TEST_CASE("95 % intervals cover the long-run mean in 95 % of the runs, for weak and strong dependence", "[long]") {
  struct Case {
    AcceptanceProcess process;
    double mean;
  };
  const auto markov = [](double a, double b) {
    const Markov chain{a, b};
    return Case{chain, mean_of(long_run_distribution(chain, 3, Convention::bonus))};
  };
  const double iid =
      mean_of(tokens_distribution(accepted_by_enumeration(std::vector<double>(3, 0.8)), Convention::bonus));
  for (const Case& c : {Case{Iid{0.8}, iid}, markov(0.8, 0.5), markov(0.98, 0.05), markov(0.1, 0.95)}) {
    constexpr int runs = 300;
    int outside = 0;
    double squares = 0.0;
    const auto simulator = simulator_of(iterations_of(c.process, 3, 20'000, Path::fast));
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      const Estimate seen = tokens_per_iteration(run(*simulator, {.seed = seed, .point = 1}, 1));
      const double deviation = (seen.mean - c.mean) / seen.standard_error;
      outside += std::abs(deviation) > normal_quantile(0.95) ? 1 : 0;
      squares += deviation * deviation;
    }
    const double expected = 0.05 * runs;
    CHECK(std::abs(outside - expected) < standard_errors * std::sqrt(expected * 0.95));
    CHECK(std::abs(squares - runs) < standard_errors * std::sqrt(2.0 * runs));
  }
}

}  // namespace foredraft::sim
