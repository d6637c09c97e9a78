// SPDX-License-Identifier: Apache-2.0
// The distribution of the tokens of one iteration, for every process of independent iterations, against enumeration in
// the test.
#include <boost/math/special_functions/beta.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/estimates.hpp"
#include "tests/sim/process/process_testing.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

using namespace tests;
using foredraft::tests::chi_squared_p_value;
using foredraft::tests::level_of_one;
using foredraft::tests::standard_errors;

struct DistributionCase {
  std::string name;
  AcceptanceProcess process;
  std::vector<double> accepted;  ///< distribution of the accepted drafts of one iteration
};

/// P(at least k accepted) = E[alpha^k] as a quotient of Beta functions; the simulator multiplies ratios instead.
std::vector<double> beta_mixture_distribution(const BetaMixture& mixture, std::int64_t gamma) {
  std::vector<double> distribution;
  const auto at_least = [&](std::int64_t k) {
    return boost::math::beta(mixture.a + static_cast<double>(k), mixture.b) / boost::math::beta(mixture.a, mixture.b);
  };
  for (std::int64_t m = 0; m < gamma; ++m) distribution.push_back(at_least(m) - at_least(m + 1));
  distribution.push_back(at_least(gamma));
  return distribution;
}

std::vector<DistributionCase> distribution_cases() {
  const BetaMixture broad{.a = 0.7, .b = 0.4};
  const BetaMixture narrow{.a = 9.0, .b = 2.5};
  // Conditionals that differ from each other and from their squares, one of them certain.
  const std::vector<double> conditional{0.55, 0.9, 1.0, 0.35, 0.75, 0.6};
  return {{"iid .8", Iid{0.8}, accepted_by_enumeration(std::vector<double>(5, 0.8))},
          {"iid .3", Iid{0.3}, accepted_by_enumeration(std::vector<double>(4, 0.3))},
          {"iid .95", Iid{0.95}, accepted_by_enumeration(std::vector<double>(12, 0.95))},
          {"positional", Positional{conditional}, accepted_by_enumeration(conditional)},
          {"broad beta mixture", broad, beta_mixture_distribution(broad, 4)},
          {"narrow beta mixture", narrow, beta_mixture_distribution(narrow, 7)}};
}

}  // namespace

// 300,003 iterations detect a relative error of 1 % in a probability of one half (0.7 % in the acceptance of the first
// position).
TEST_CASE("tokens per iteration follow the enumerated distribution on both paths and under both conventions") {
  constexpr std::uint64_t iterations = 300'003;
  const std::vector<DistributionCase> cases = distribution_cases();
  const double level = level_of_one(4 * cases.size());
  for (const DistributionCase& c : cases) {
    const auto gamma = static_cast<std::int64_t>(c.accepted.size()) - 1;
    for (const Path path : {Path::reference, Path::fast}) {
      for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
        INFO(c.name << ", path " << static_cast<int>(path) << ", " << to_string(convention));
        const bool slow = path == Path::reference && std::holds_alternative<BetaMixture>(c.process);
        const std::uint64_t length = slow ? iterations / 3 : iterations;
        const Tally tally = run_once(iterations_of(c.process, gamma, length, path, convention));
        CHECK(tally.units.sum(Quantity::iterations) == static_cast<Int128>(length));
        const std::vector<double> distribution = tokens_distribution(c.accepted, convention);
        REQUIRE(distribution.size() == tally.tokens_count.size());
        CHECK(chi_squared_p_value(as_signed(tally.tokens_count),
                                  expected_counts(distribution, static_cast<double>(length))) > level);
        tests::check_estimate(tokens_per_iteration(tally), mean_of(distribution));
      }
    }
  }
}

// Neighboring positions would be correlated if they shared random bits: 4 x 10^5 iterations detect a correlation of 1.1
// % between the first two, whose conditional has 2 x 10^5 trials.
TEST_CASE("acceptance at one position is independent of the next, in any lane, draw or block") {
  constexpr std::uint64_t iterations = 400'000;
  for (const Path path : {Path::reference, Path::fast}) {
    const Tally tally = run_once(iterations_of(Iid{0.5}, 7, iterations, path));
    const Acceptance seen = acceptance(tally);
    for (std::size_t i = 0; i < seen.conditional.size(); ++i) {
      INFO("position " << i);
      tests::check_estimate(seen.conditional[i], 0.5);
    }
  }
}

TEST_CASE("alpha 0 and alpha 1 are exact on both paths") {
  constexpr std::uint64_t iterations = 1'000'000;
  for (const Path path : {Path::reference, Path::fast}) {
    const Tally never = run_once(iterations_of(Iid{0.0}, 3, iterations, path));
    CHECK(never.tokens_count == std::vector<std::uint64_t>{iterations, 0, 0, 0});
    CHECK(never.accepted_at == std::vector<std::uint64_t>{0, 0, 0});
    CHECK(never.tested_at == std::vector<std::uint64_t>{iterations, 0, 0});

    const Tally always = run_once(iterations_of(Iid{1.0}, 3, iterations, path));
    CHECK(always.tokens_count == std::vector<std::uint64_t>{0, 0, 0, iterations});
    CHECK(always.accepted_at == std::vector<std::uint64_t>(3, iterations));
    const Tally capped = run_once(iterations_of(Iid{1.0}, 3, iterations, path, Convention::no_bonus));
    CHECK(capped.tokens_count == std::vector<std::uint64_t>{0, 0, iterations});
    CHECK(capped.accepted_at == std::vector<std::uint64_t>(3, iterations));
  }
}

// Sixteen bits alone would reject 2^-16 of the drafts, or none: 128 or 0 of 2^23; 16 are expected.
TEST_CASE("rejections rarer than 2^-16 have the right frequency") {
  constexpr std::uint64_t drafts = std::uint64_t{1} << 23U;
  constexpr double reject = 0x1p-19;
  for (const Path path : {Path::reference, Path::fast}) {
    const Tally tally = run_once(iterations_of(Iid{1.0 - reject}, 1, drafts, path));
    const double expected = reject * static_cast<double>(drafts);
    const double seen = static_cast<double>(tally.tokens_count[0]);
    INFO("expected " << expected << " rejections, seen " << seen);
    CHECK(std::abs(seen - expected) < standard_errors * std::sqrt(expected));
    CHECK(seen > 0.0);
  }
}

// Rejections of 1e-9 per draft: 65 in 65,536 iterations of a million drafts. The position of each is uniform.
TEST_CASE("a million drafts with alpha within 1e-9 of one lose the expected iterations, anywhere in the draft") {
  constexpr std::uint64_t iterations = 65'536;
  constexpr std::int64_t gamma = 1'000'000;
  const Tally tally = run_once(iterations_of(Iid{1.0 - 1e-9}, gamma, iterations, Path::fast));
  const double rejected = static_cast<double>(iterations) - static_cast<double>(tally.accepted_at.back());
  const double expected = static_cast<double>(iterations) * -std::expm1(gamma * std::log1p(-1e-9));
  CHECK(std::abs(rejected - expected) < standard_errors * std::sqrt(expected));
  // Sum of the positions of the rejections: mean 1/2, standard deviation 1/sqrt(12) of gamma each.
  double positions = 0.0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(gamma); ++k) {
    positions += static_cast<double>(tally.tokens_count[k]) * static_cast<double>(k);
  }
  const double spread = static_cast<double>(gamma) * std::sqrt(rejected / 12.0);
  CHECK(std::abs(positions - rejected * static_cast<double>(gamma) / 2.0) < standard_errors * spread);
}

TEST_CASE("a million drafts run on the reference path, and alpha within 1e-15 of one rejects almost nothing") {
  const Tally common = run_once(iterations_of(Iid{0.9}, 1'000'000, 200, Path::reference));
  tests::check_estimate(tokens_per_iteration(common), 10.0);
  CHECK(common.units.sum(drafted) == 200'000'000);
  // 10^7 drafts at 1e-15: a rejection has a chance of 1e-8. Sixteen bits alone would have rejected in every iteration.
  const Tally rare = run_once(iterations_of(Iid{1.0 - 1e-15}, 1'000'000, 10, Path::reference));
  CHECK(rare.tokens_count.back() == 10);
}

TEST_CASE("the Beta mixture works for shapes whose gamma variates underflow") {
  // Beta(1e-3, 1e-3): alpha is next to 0 or 1, half the time each; E[alpha^2] = (a + 1) / (2 (2 a + 1)).
  const BetaMixture mixture{.a = 1e-3, .b = 1e-3};
  constexpr std::uint64_t iterations = 40'000;
  const Tally tally = run_once(iterations_of(mixture, 2, iterations, Path::reference));
  const Acceptance seen = acceptance(tally);
  tests::check_estimate(seen.marginal[0], 0.5);
  tests::check_estimate(seen.marginal[1], 1.001 / (2.0 * 1.002));
}

TEST_CASE("autoregressive decoding, gamma 0, emits one token per iteration and drafts nothing") {
  for (const Path path : {Path::reference, Path::fast}) {
    const Tally tally = run_once(iterations_of(Iid{0.5}, 0, 100'000, path));
    CHECK(tally.tokens_count == std::vector<std::uint64_t>{100'000});
    CHECK(tally.units.sum(drafted) == 0);
    CHECK(tally.units.sum(draft_passes) == 0);
    CHECK(tokens_per_iteration(tally).mean == 1.0);
  }
}

}  // namespace foredraft::sim
