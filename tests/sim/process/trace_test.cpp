// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>

#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "sim/estimates.hpp"
#include "sim/process/recorded_outcomes.hpp"
#include "tests/sim/process/process_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

using namespace tests;
using foredraft::tests::standard_errors;

Tally replay(Recording recording, std::int64_t gamma, Convention convention = Convention::bonus,
             const RunKey& key = test_key) {
  return run_once(iterations_of(trace_of(std::move(recording)), gamma, 0, Path::reference, convention), key);
}

}  // namespace

TEST_CASE("a small trace is counted by hand in every definition of acceptance") {
  // gamma 3 with bonus: [1 1 0] rejected at the third; [1 1 1] accepted, 0 hidden by the bonus token; [0]; [1] cut off
  // by the end.
  const Tally tally = replay({{{1, 1, 0, 1, 1, 1, 0, 0, 1}}}, 3);
  CHECK(tally.tokens_count == std::vector<std::uint64_t>{2, 0, 1, 1});
  CHECK(tally.drafted_at == std::vector<std::uint64_t>{4, 4, 4});
  CHECK(tally.tested_at == std::vector<std::uint64_t>{4, 2, 2});
  CHECK(tally.accepted_at == std::vector<std::uint64_t>{3, 2, 1});
  CHECK(tally.units.sum(tokens) == 9);

  const Acceptance seen = acceptance(tally);
  CHECK(seen.per_token.mean == Approx(6.0 / 8.0));
  CHECK(seen.accepted_over_drafted.mean == Approx(6.0 / 12.0));
  CHECK(seen.conditional[0].mean == Approx(3.0 / 4.0));
  CHECK(seen.conditional[2].mean == Approx(1.0 / 2.0));
  CHECK(seen.marginal[2].mean == Approx(1.0 / 4.0));
  CHECK(tokens_per_iteration(tally).mean == Approx(9.0 / 4.0));
}

TEST_CASE("without a bonus token the position after a full draft is drafted next") {
  // gamma 3: [1 1 0]; [1 1 1]; [0]; [0]; [1] cut off by the end.
  const Tally tally = replay({{{1, 1, 0, 1, 1, 1, 0, 0, 1}}}, 3, Convention::no_bonus);
  CHECK(tally.tokens_count == std::vector<std::uint64_t>{3, 0, 2});
  CHECK(tally.accepted_at == std::vector<std::uint64_t>{3, 2, 1});
}

TEST_CASE("accepted counts of a recorded run are reproduced by replaying their trace at the same gamma") {
  const std::vector<std::int64_t> accepted{0, 3, 2, 3, 3, 1, 0, 2};
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    const Recording trace{{trace_from_accepted_counts(accepted, 3, convention)}};
    const Tally tally = replay(trace, 3, convention);
    CHECK(tally.units.sum(iterations) == 8);
    CHECK(tally.units.sum(Quantity::accepted) == 14);
    CHECK(tally.accepted_at == std::vector<std::uint64_t>{6, 5, 3});
  }
}

TEST_CASE("accepted counts become outcomes, unobserved only under a bonus token") {
  CHECK(trace_from_accepted_counts({2, 0, 1}, 2, Convention::bonus) == std::vector<std::int8_t>{1, 1, -1, 0, 1, 0});
  CHECK(trace_from_accepted_counts({2, 0, 1}, 2, Convention::no_bonus) == std::vector<std::int8_t>{1, 1, 0, 1, 0});
  CHECK(trace_from_accepted_counts({0, 0}, 0, Convention::bonus) == std::vector<std::int8_t>{-1, -1});
}

TEST_CASE("unobserved outcomes are drawn with the trace's own frequency, each once") {
  // Three of four observed outcomes accepted; gamma 1 without bonus tests every position once.
  Recording trace;
  trace.sequences.push_back({1, 0, 1, 1});
  trace.sequences.emplace_back(40'000, std::int8_t{-1});
  const Tally tally = replay(trace, 1, Convention::no_bonus);
  const double drawn = static_cast<double>(tally.accepted_at[0] - 3) / 40'000.0;
  CHECK(std::abs(drawn - 0.75) < standard_errors * std::sqrt(0.75 * 0.25 / 40'000.0));

  CHECK(replay(trace, 1, Convention::no_bonus) == tally);
  CHECK_FALSE(replay(trace, 1, Convention::no_bonus, {test_key.seed + 1, test_key.point}) == tally);
  CHECK_FALSE(replay(trace, 1, Convention::no_bonus, {test_key.seed, test_key.point + 1}) == tally);
}

TEST_CASE("accepted drafts by text position are replayed at any draft length, up to the end of the text") {
  // Starts are positions of the trace: from position 0 three would be accepted, from position 1 none.
  const Recording trace{.sequences = {}, .accepted_from = {{3, 0, 1, 0, 2, 1, 0, 0}}};
  const Tally three = replay(trace, 3);  // from 0, 4 and 7
  CHECK(three.tokens_count == std::vector<std::uint64_t>{1, 0, 1, 1});
  CHECK(three.tested_at == std::vector<std::uint64_t>{3, 2, 2});
  const Tally one = replay(trace, 1);  // from 0, 2, 4, 6 and 7
  CHECK(one.tokens_count == std::vector<std::uint64_t>{2, 3});
  CHECK(replay(trace, 2, Convention::no_bonus).units.sum(tokens) == 8);
  const Recording many{.sequences = {}, .accepted_from = std::vector(30, std::vector<std::int32_t>{1, 0})};
  CHECK(replay(many, 2).units.count() == 30);
}

TEST_CASE("many sequences are a unit each, a few are split into about thirty batches") {
  Recording many;
  for (std::size_t i = 0; i < 30; ++i) many.sequences.emplace_back(10 + i, std::int8_t{1});
  CHECK(replay(many, 2).units.count() == 30);

  const Recording one{{std::vector<std::int8_t>(3000, std::int8_t{0})}};
  CHECK(replay(one, 2).units.count() == 30);
  CHECK(replay(one, 2).units.sum(iterations) == 3000);
  const Recording two{{std::vector<std::int8_t>(2000, std::int8_t{0}), std::vector<std::int8_t>(1000, std::int8_t{0})}};
  CHECK(replay(two, 2).units.count() == 30);
  const Recording tiny{{{1, 0, 1}}};
  CHECK(replay(tiny, 1).units.sum(tokens) == 3);
}

// The trace of a strongly correlated chain: batches of 2,000 tokens, far longer than its runs of 20, include the
// dependence that single iterations would miss (a factor of 3.5 in the standard error: correlation 0.85 per token). 200
// traces; the bounds are 5 standard errors of the mean square.
TEST_CASE("batch means of one long trace give correct standard errors under dependence") {
  constexpr int runs = 200;
  constexpr std::size_t length = 60'000;
  const Markov chain{.a = 0.95, .b = 0.1};
  // gamma 1 without bonus token: one iteration per position, so the mean of accepted drafts is the share of ones.
  const double share = chain.b / (1.0 - chain.a + chain.b);
  double squares = 0.0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    RandomStream random(seed, {.purpose = Purpose::test, .point = 2, .block = 0});
    std::vector<std::int8_t> outcomes;
    bool accepted = random.uniform() < share;
    for (std::size_t i = 0; i < length; ++i) {
      accepted = random.uniform() < (accepted ? chain.a : chain.b);
      outcomes.push_back(accepted ? 1 : 0);
    }
    const Estimate seen = acceptance(replay({{std::move(outcomes)}}, 1, Convention::no_bonus)).per_token;
    const double deviation = (seen.mean - share) / seen.standard_error;
    squares += deviation * deviation;
  }
  // Student's t with 29 degrees of freedom: mean of squares 29/27, variance of squares about 2.6.
  CHECK(std::abs(squares / runs - 29.0 / 27.0) < standard_errors * std::sqrt(2.6 / runs));
}

TEST_CASE("bad counts are rejected") {
  CHECK_THROWS_WITH(trace_from_accepted_counts({0, 4}, 3, Convention::bonus),
                    "invalid accepted[1]=4 (must lie in 0 to 3)");
  CHECK_THROWS_AS(trace_from_accepted_counts({-1}, 3, Convention::bonus), DomainError);
  CHECK_THROWS_AS(trace_from_accepted_counts({}, 3, Convention::bonus), DomainError);
  CHECK_THROWS_AS(trace_from_accepted_counts({0}, 0, Convention::no_bonus), DomainError);
}

}  // namespace foredraft::sim
