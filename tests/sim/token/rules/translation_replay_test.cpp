// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "foredraft/scenario.hpp"
#include "sim/simulate.hpp"
#include "sim/token/rules/verification_rule.hpp"
#include "tests/sim/token/named_rule.hpp"

namespace foredraft::sim {
namespace {

/// A drafted token and the verifier's distribution at its position: tokens 0, 1, 2, ... from best to worst.
struct ReplayedPosition {
  std::vector<double> verifier;
  Token drafted;
};

/// A sentence of fourteen tokens similar to the translation examples of [Xia2022, Table 19] and [Xia2023, Table 16],
/// whose tokens are not available: the draft repeats a word, uses a synonym, and breaks off near the end.
std::vector<ReplayedPosition> replayed_sentence() {
  const std::vector<double> sure{0.90, 0.05, 0.03, 0.01, 0.01};
  const std::vector<double> synonyms{0.50, 0.30, 0.10, 0.06, 0.04};
  std::vector<ReplayedPosition> sentence(14, {.verifier = sure, .drafted = 0});
  sentence[2].drafted = 4;                              // a repeated word: far below the best
  sentence[6] = {.verifier = synonyms, .drafted = 1};   // log(0.5 / 0.3) = 0.51 below the best
  sentence[11] = {.verifier = synonyms, .drafted = 3};  // within the gap of 2.2, but the fourth
  return sentence;
}

/// Which drafts a rule accepts, replayed by the simulator in blocks of `block` drafts.
Tally replay_sentence(const std::vector<ReplayedPosition>& sentence, const VerificationRule& rule, std::int64_t block) {
  std::vector<std::int8_t> outcomes;
  for (const ReplayedPosition& position : sentence) {
    const std::vector<double> draft(position.verifier.size(), 0.2);
    const PositionDistributions distributions{.target = position.verifier, .draft = draft};
    const auto token = static_cast<std::size_t>(position.drafted);
    const double acceptance =
        rule.acceptance({.token = position.drafted, .target = position.verifier[token], .draft = draft[token]},
                        rule.row_statistic(distributions));
    outcomes.push_back(acceptance > 0.0 ? 1 : 0);
  }
  const Trace trace{.recording = std::make_shared<const Recording>(Recording{{outcomes}})};
  const auto simulator = make_simulator({.fidelity = ProcessFidelity{.acceptance = trace},
                                         .gamma = block,
                                         .convention = Convention::no_bonus,
                                         .drafter = BlockDrafter{}},
                                        {});
  return run(*simulator, {.seed = 1, .point = 0}, 1);
}

}  // namespace

TEST_CASE("a replayed translation takes four iterations by exact verification and three by the relaxed one") {
  const auto sentence = replayed_sentence();
  const auto exact = tests::make_named_rule("greedy_match", {});
  const auto relaxed = tests::make_named_rule("top_beta", {{"top_beta", 3.0}, {"tolerance", 1.0}});
  const Tally four = replay_sentence(sentence, *exact, 25);
  CHECK(four.units.sum(iterations) == 4);
  CHECK(four.units.sum(tokens) == 14);
  // 3 tokens, 4 tokens, 5 tokens, the last 2.
  CHECK(four.tokens_count.at(1) == 1);
  CHECK(four.tokens_count.at(2) == 1);
  CHECK(four.tokens_count.at(3) == 1);
  CHECK(four.tokens_count.at(4) == 1);
  const Tally three = replay_sentence(sentence, *relaxed, 25);
  CHECK(three.units.sum(iterations) == 3);
  CHECK(three.units.sum(tokens) == 14);
  CHECK(three.tokens_count.at(8) == 1);  // the iteration that no longer stops at the synonym
}

TEST_CASE("the replayed translation needs a wider gap and rank for the next draft, and short blocks cost more") {
  const auto sentence = replayed_sentence();
  const auto iterations_with = [&](double top_beta, double tolerance, std::int64_t block) {
    const auto rule = tests::make_named_rule("top_beta", {{"top_beta", top_beta}, {"tolerance", tolerance}});
    return replay_sentence(sentence, *rule, block).units.sum(iterations);
  };
  CHECK(iterations_with(3.0, 0.5, 25) == 4);  // the synonym is 0.51 below
  CHECK(iterations_with(3.0, 3.0, 25) == 3);  // the fourth is not among three
  CHECK(iterations_with(4.0, 3.0, 25) == 2);
  CHECK(iterations_with(4.0, 2.0, 25) == 3);  // log(0.5 / 0.06) = 2.12
  CHECK(iterations_with(3.0, 1.0, 3) == 5);
}

}  // namespace foredraft::sim
