// SPDX-License-Identifier: Apache-2.0
// multi_candidate with a width for each depth of a tree of drafts.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "foredraft/lossiness.hpp"
#include "sim/estimates.hpp"
#include "sim/simulate.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/token_simulator.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

tests::Simulation with_rule(Rule rule, std::int64_t gamma, std::uint64_t iterations) {
  tests::Simulation simulation = tests::simulation_of(tests::given(tests::three_contexts()), gamma, iterations);
  simulation.token().rule = std::move(rule);
  return simulation;
}

/// Mean of candidate_acceptance() over three_contexts().
double acceptance_at(std::int64_t count, CandidateDraws draws) {
  const GivenDistributions table = tests::three_contexts();
  double sum = 0.0;
  for (std::size_t k = 0; k < table.target.size(); ++k) {
    sum += candidate_acceptance({.target = table.target[k], .draft = table.draft[k]}, {.count = count, .draws = draws});
  }
  return sum / static_cast<double>(table.target.size());
}

}  // namespace

TEST_CASE("a tree accepts at each depth like that many candidates, and emits the target's tokens at each") {
  constexpr std::int64_t gamma = 3;
  for (const bool replacement : {true, false}) {
    const auto draws = replacement ? CandidateDraws::with_replacement : CandidateDraws::without_replacement;
    for (const std::vector<double>& widths : {std::vector<double>{3, 2, 1}, {1, 2, 4}, {4}, {1, 1, 3}}) {
      CAPTURE(replacement, widths);
      const tests::Simulation simulation =
          with_rule(MultiCandidate{.candidates = 2, .replacement = replacement, .widths = widths}, gamma, 200'000);
      const auto simulator = tests::simulator_of(simulation, 1);
      double expected = 1.0;
      double reached = 1.0;
      for (std::size_t depth = 0; depth < static_cast<std::size_t>(gamma); ++depth) {
        reached *= acceptance_at(depth < widths.size() ? static_cast<std::int64_t>(widths[depth]) : 2, draws);
        expected += reached;
      }
      tests::check_estimate(tokens_per_iteration(run(*simulator, {.seed = 7, .point = 0}, 1)), expected);
      CHECK(std::isnan(expected_acceptance(*simulator)));  // drafts have no common acceptance for any gamma
      CHECK(std::isnan(expected_acceptance(
          *tests::simulator_of(with_rule(MultiCandidate{.candidates = 2, .widths = widths}, 1, 10), 1))));

      const GivenDistributions table = tests::three_contexts();
      std::vector<std::vector<std::int64_t>> counts(gamma + 1, std::vector<std::int64_t>(15, 0));
      const auto& emitter = dynamic_cast<const TokenSimulator&>(*simulator);
      for (std::uint64_t block = 0; block < emitter.blocks(); ++block) {
        for (const auto& iteration : emitter.emit_block({.seed = 9, .point = 1}, block)) {
          for (std::size_t depth = 0; depth < iteration.size(); ++depth) {
            ++counts[depth][static_cast<std::size_t>(iteration[depth].context * 5 + iteration[depth].token)];
          }
        }
      }
      for (const std::vector<std::int64_t>& at_depth : counts) {
        const auto total = static_cast<double>(std::accumulate(at_depth.begin(), at_depth.end(), std::int64_t{0}));
        std::vector<double> wanted;
        for (const std::vector<double>& row : table.target) {
          for (const double p : row) wanted.push_back(total * p / 3.0);
        }
        CHECK(tests::chi_squared_p_value(at_depth, wanted) > tests::level_of_one(32));
      }
    }
  }
}

TEST_CASE("equal widths are the rule with as many candidates, bit for bit, and a chain is rejection sampling") {
  for (const bool replacement : {true, false}) {
    const auto wide = [&](std::int64_t candidates, std::vector<double> widths) {
      return tests::emitted_by(with_rule(
          MultiCandidate{.candidates = candidates, .replacement = replacement, .widths = std::move(widths)}, 3, 4096));
    };
    CHECK(wide(1, {3, 3, 3}) == wide(3, {}));
    CHECK(wide(1, {2, 3}) != wide(2, {}));
    CHECK(wide(1, {}) == tests::emitted_by(with_rule(RejectionSampling{}, 3, 4096)));
    CHECK(wide(2, {1, 1, 1}) == wide(1, {}));
  }
}

TEST_CASE("fresh contexts also take a tree's widths, and more candidates at a depth emit more tokens") {
  SyntheticModels pair = tests::small_pair();
  pair.contexts = Contexts::fresh;
  const auto tokens = [&](std::vector<double> widths) {
    tests::Simulation simulation = tests::simulation_of(pair, 2, 20'000);
    simulation.token().rule = MultiCandidate{.candidates = 1, .replacement = true, .widths = std::move(widths)};
    return tokens_per_iteration(run(*tests::simulator_of(simulation, 1), {.seed = 7, .point = 0}, 1));
  };
  const Estimate chain = tokens({});
  const Estimate wide_late = tokens({1, 4});
  const Estimate wide_first = tokens({4, 1});
  const Estimate wide = tokens({4, 4});
  const auto apart = [](const Estimate& less, const Estimate& more) {
    return more.mean - less.mean > tests::standard_errors * std::hypot(less.standard_error, more.standard_error);
  };
  CHECK(apart(chain, wide_late));
  CHECK(apart(wide_late, wide_first));  // the first depth is always reached
  CHECK(apart(wide_first, wide));
}

TEST_CASE("widths are whole numbers from 1 on") {
  for (const double width : {0.0, 1.5, 1025.0, std::nan("")}) {
    const tests::Simulation simulation = with_rule(MultiCandidate{.widths = {2.0, width}}, 2, 10);
    CHECK_THROWS_WITH(lossiness(simulation.scenario), Catch::StartsWith("invalid rule.widths[1]="));
  }
}

}  // namespace foredraft::sim
