// SPDX-License-Identifier: Apache-2.0
// Sequences of finite length: fixed and geometric.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "sim/estimates.hpp"
#include "tests/sim/process/process_testing.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

using namespace tests;
using foredraft::tests::standard_errors;

/// Expected iterations of a sequence of `length` tokens, from E[N(l)] = 1 + sum_k P(X = k) E[N(l - k)].
double expected_iterations(const std::vector<double>& distribution, std::int64_t length) {
  std::vector<double> expected(static_cast<std::size_t>(length) + 1, 0.0);
  for (std::size_t l = 1; l < expected.size(); ++l) {
    expected[l] = 1.0;
    for (std::size_t k = 1; k <= distribution.size() && k < l; ++k)
      expected[l] += distribution[k - 1] * expected[l - k];
  }
  return expected.back();
}

std::vector<double> iid_distribution(double alpha, std::int64_t gamma, Convention convention) {
  return tokens_distribution(accepted_by_enumeration(std::vector<double>(static_cast<std::size_t>(gamma), alpha)),
                             convention);
}

Estimate iterations_per_sequence(const Tally& tally) {
  return {tally.units.mean(iterations), tally.units.standard_error(iterations)};
}

}  // namespace

// 20,000 sequences detect errors in the mean number of iterations of 0.6 % at length 40 and 2 % at length 3 (a last
// iteration omitted or counted twice: 5 % or more).
TEST_CASE("iterations per sequence follow the recursion over the rest of the text") {
  for (const Path path : {Path::reference, Path::fast}) {
    for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
      for (const std::int64_t length : {1, 3, 7, 40}) {
        INFO("length " << length << ", path " << static_cast<int>(path) << ", " << to_string(convention));
        const Tally tally =
            run_once(sequences_of(Iid{0.75}, 5, {static_cast<double>(length), false}, 20'000, path, convention));
        CHECK(tally.units.count() == 20'000);
        CHECK(tally.units.sum(tokens) == 20'000 * length);
        CHECK(tally.units.sum(drafted) == 5 * tally.units.sum(iterations));
        const Estimate seen = iterations_per_sequence(tally);
        const double expected = expected_iterations(iid_distribution(0.75, 5, convention), length);
        tests::check_estimate(seen, expected);
      }
    }
  }
}

TEST_CASE("acceptance stays unbiased although the last iteration is cut short") {
  // Short sequences: a third of all iterations are cut off by the end. Tokens per iteration fall, acceptance does not.
  const Positional process{.conditional = {0.9, 0.6, 0.8, 0.3, 0.7}};
  const Tally tally = run_once(sequences_of(process, 5, {6.0, false}, 60'000, Path::reference));
  const Acceptance seen = acceptance(tally);
  for (std::size_t i = 0; i < 5; ++i) {
    INFO("position " << i);
    tests::check_estimate(seen.conditional[i], process.conditional[i]);
  }
  const double endless = mean_of(tokens_distribution(accepted_by_enumeration(process.conditional), Convention::bonus));
  CHECK(tokens_per_iteration(tally).mean < 0.95 * endless);
}

TEST_CASE("drafts after the end of the text are drafted and never tested") {
  const Tally tally = run_once(sequences_of(Iid{1.0}, 5, {8.0, false}, 10, Path::fast));
  // Six tokens, then two: no draft after the second is tested and no bonus token is emitted.
  CHECK(tally.tokens_count == std::vector<std::uint64_t>{0, 10, 0, 0, 0, 10});
  CHECK(tally.drafted_at == std::vector<std::uint64_t>(5, 20));
  CHECK(tally.tested_at == std::vector<std::uint64_t>{20, 20, 10, 10, 10});
  CHECK(tally.accepted_at == std::vector<std::uint64_t>{20, 20, 10, 10, 10});
}

// Mean length within 2.5 %, its standard deviation within 3.5 %: a hazard off by one token (L + 1 for L, 5 %) is
// detected.
TEST_CASE("geometric lengths have the right hazard at every token") {
  constexpr double mean = 20.0;
  constexpr std::int64_t sequences = 40'000;
  const Tally tally = run_once(sequences_of(Iid{0.6}, 0, {mean, true}, sequences, Path::fast));
  const double deviation = std::sqrt(mean * (mean - 1.0));
  CHECK(std::abs(tally.units.mean(tokens) - mean) < standard_errors * deviation / std::sqrt(sequences));
  // The variance of a sample variance is (kurtosis - 1) sigma^4 / n, and the kurtosis is about 9.
  const double variance = tally.units.covariance(tokens, tokens);
  CHECK(std::abs(variance / (deviation * deviation) - 1.0) < standard_errors * std::sqrt(8.0 / sequences));

  // gamma 0: one token per iteration, so a sequence has as many iterations as tokens.
  CHECK(tally.units.sum(iterations) == tally.units.sum(tokens));
}

TEST_CASE("geometric lengths give the mean iterations of their mixture of fixed lengths") {
  constexpr double mean = 12.0;
  const std::vector<double> distribution = iid_distribution(0.8, 4, Convention::bonus);
  double expected = 0.0;
  double tail = 1.0;
  for (std::int64_t length = 1; tail > 1e-12; ++length) {
    expected += tail / mean * expected_iterations(distribution, length);
    tail *= 1.0 - 1.0 / mean;
  }
  tests::check_estimate(iterations_per_sequence(run_once(sequences_of(Iid{0.8}, 4, {mean, true}, 30'000, Path::fast))),
                        expected);
}

TEST_CASE("a mean length of one token is always one token") {
  const Tally tally = run_once(sequences_of(Iid{0.9}, 3, {1.0, true}, 500, Path::reference));
  CHECK(tally.tokens_count == std::vector<std::uint64_t>{500, 0, 0, 0});
}

TEST_CASE("a Beta mixture keeps its acceptance in sequences, on both paths") {
  for (const Path path : {Path::reference, Path::fast}) {
    const Tally tally = run_once(sequences_of(BetaMixture{3.0, 1.0}, 3, {25.0, true}, 20'000, path));
    tests::check_estimate(acceptance(tally).conditional[0], 0.75);
  }
}

// The first token of a sequence is accepted with the long-run probability b / (1 - a + b) = 2/3, the next ones with a.
TEST_CASE("a chain starts every sequence with its long-run acceptance") {
  const Markov chain{.a = 0.9, .b = 0.2};
  for (const Path path : {Path::reference, Path::fast}) {
    const Tally tally = run_once(sequences_of(chain, 1, {1.0, false}, 40'000, path));
    tests::check_estimate(acceptance(tally).conditional[0], 2.0 / 3.0);
    // Long sequences approach the endless chain: gamma 1, state before an iteration accepted with b a / (1 - a^2 + b
    // a).
    const double before = 0.2 * 0.9 / (1.0 - 0.81 + 0.18);
    tests::check_estimate(tokens_per_iteration(run_once(sequences_of(chain, 1, {20'000.0, false}, 40, path))),
                          (1.0 + before * 0.9 + (1.0 - before) * 0.2));
  }
}

}  // namespace foredraft::sim
