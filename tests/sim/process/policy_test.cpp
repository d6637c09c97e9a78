// SPDX-License-Identifier: Apache-2.0
// Gamma policies in process fidelity: draft lengths iteration by iteration, and correct standard errors.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "core/intervals.hpp"
#include "core/random_stream.hpp"
#include "sim/estimates.hpp"
#include "sim/process/confidence_sources.hpp"
#include "sim/process/stopping_price.hpp"
#include "tests/sim/process/process_testing.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

using namespace tests;
using foredraft::tests::level_of_one;
using foredraft::tests::standard_errors;

Simulation policy_run(AcceptanceProcess process, Policy policy, std::int64_t gamma, std::uint64_t count,
                      Path path = Path::fast, Convention convention = Convention::bonus) {
  Simulation simulation = iterations_of(std::move(process), gamma, count, path, convention);
  simulation.process().policy = policy;
  return simulation;
}

/// The same with a cost per draft.
Simulation paid_run(const AcceptanceProcess& process, const Policy& policy, std::int64_t gamma, std::uint64_t count,
                    double c = 0.05) {
  Simulation simulation = policy_run(process, policy, gamma, count);
  simulation.scenario.cost = ConstantRatio{c};
  return simulation;
}

/// Texts of this many tokens, for policies that learn from them.
Simulation learning_run(double alpha, const Policy& policy, std::int64_t gamma, double tokens, std::uint64_t count) {
  Simulation simulation = sequences_of(Iid{alpha}, gamma, {.tokens = tokens, .geometric = false}, count, Path::fast);
  simulation.process().policy = policy;
  return simulation;
}

Simulation copying_run(const InputCopy& drafter, std::int64_t gamma, std::uint64_t count, Path path = Path::fast,
                       Convention convention = Convention::bonus) {
  Simulation simulation = iterations_of(Iid{}, gamma, count, path, convention);
  simulation.scenario.drafter = drafter;
  return simulation;
}

std::vector<std::uint64_t> lengths_of(const Tally& tally) {
  std::vector<std::uint64_t> lengths;  // [g - 1]: iterations of exactly g drafts
  for (std::size_t i = 0; i < tally.drafted_at.size(); ++i) {
    lengths.push_back(tally.drafted_at[i] - (i + 1 < tally.drafted_at.size() ? tally.drafted_at[i + 1] : 0));
  }
  return lengths;
}

}  // namespace

TEST_CASE("the heuristic goes up by two after full acceptance, down by one otherwise, and stays at one") {
  // Nothing accepted, start 5: 5 + 4 + 3 + 2 + 1 + 1 + 1 drafts for 7 tokens.
  Simulation down = sequences_of(Iid{0.0}, 9, {.tokens = 7.0, .geometric = false}, 3, Path::fast);
  down.process().policy = Plus2Minus1{.start = 5};
  const Tally fell = run_once(down);
  CHECK(lengths_of(fell) == std::vector<std::uint64_t>{9, 3, 3, 3, 3, 0, 0, 0, 0});
  CHECK(fell.units.count() == 3);
  check_conservation(fell);
  // Everything accepted: 1, 3, 5, 7, 8, 8 drafts and one token more each, 2 + 4 + 6 + 8 + 9 + 9 = 38 tokens.
  Simulation up = sequences_of(Iid{1.0}, 8, {.tokens = 38.0, .geometric = false}, 2, Path::reference);
  up.process().policy = Plus2Minus1{.start = 1};
  const Tally rose = run_once(up);
  CHECK(lengths_of(rose) == std::vector<std::uint64_t>{2, 0, 2, 0, 2, 0, 2, 4});
  CHECK(rose.units.sum(iterations) == 12);
  CHECK(rose.units.sum(draft_passes) == 64);
  check_conservation(rose);
}

TEST_CASE("a start above the longest draft is the longest draft") {
  Simulation short_drafts = sequences_of(Iid{0.0}, 2, {.tokens = 3.0, .geometric = false}, 1, Path::fast);
  short_drafts.process().policy = Plus2Minus1{.start = 5};
  CHECK(lengths_of(run_once(short_drafts)) == std::vector<std::uint64_t>{2, 1});
}

TEST_CASE("a run under a policy is a function of its key, and paths differ only in their draws") {
  constexpr std::uint64_t many = 200'000;
  // Each token of a confidence draws from a Beta distribution, which takes a hundred times as long as an acceptance.
  for (const Simulation& simulation : {policy_run(Iid{0.8}, Plus2Minus1{5}, 12, many),
                                       policy_run(Iid{0.8}, ConfidenceThreshold{0.5, 4.0, 1.0}, 12, many / 20),
                                       policy_run(Iid{0.8}, RejectionProbability{0.7, 4.0, 1.0}, 12, many / 20),
                                       policy_run(Iid{0.8}, EntropyThreshold{0.9, 10, 4.0, 1.0}, 12, many / 20),
                                       paid_run(Iid{0.8}, OptimalTokenStopping{4.0}, 12, many / 20),
                                       copying_run({.edit_rate = 0.2, .realign = 2}, 12, many)}) {
    const auto simulator = simulator_of(simulation);
    const auto count = static_cast<Int128>(simulation.plan.iterations);
    const Tally once = run(*simulator, test_key, 1);
    CHECK(once == run(*simulator, test_key, 4));
    CHECK_FALSE(once == run(*simulator, {test_key.seed + 1, test_key.point}, 1));
    CHECK(once.units.sum(iterations) >= count);
    CHECK(once.units.sum(iterations) < count + 1000);
    check_conservation(once);
  }
}

// 100,000 iterations on either path, with standard errors below 0.05: at worst an error of 0.3 in a length is detected.
TEST_CASE("the distribution of lengths is the same on both paths and for a mixture drawn or integrated out") {
  for (const AcceptanceProcess& process :
       {AcceptanceProcess{Iid{0.8}}, AcceptanceProcess{BetaMixture{4.0, 1.0}}, AcceptanceProcess{Markov{0.9, 0.5}},
        AcceptanceProcess{Positional{std::vector<double>(20, 0.7)}}}) {
    const auto lengths = [&](Path path) {
      const Tally tally = run_once(policy_run(process, Plus2Minus1{5}, 20, 200'000, path));
      std::array<double, quantity_count> drafts{};
      std::array<double, quantity_count> rounds{};
      drafts[drafted] = 1.0;
      rounds[iterations] = 1.0;
      return ratio_estimate(tally.units, drafts, rounds);
    };
    const Estimate fast = lengths(Path::fast);
    const Estimate reference = lengths(Path::reference);
    CHECK(std::abs(fast.mean - reference.mean) <
          standard_errors * std::hypot(fast.standard_error, reference.standard_error));
    CHECK(fast.standard_error < 0.05);
  }
}

TEST_CASE("at acceptance 0 and 1 the heuristic drafts one token or its maximum") {
  for (const Path path : {Path::fast, Path::reference}) {
    const Tally none = run_once(policy_run(Iid{0.0}, Plus2Minus1{5}, 30, 1000, path));
    CHECK(none.units.sum(drafted) == none.units.sum(iterations));
    const Tally all = run_once(policy_run(Iid{1.0}, Plus2Minus1{1}, 30, 1000, path));
    CHECK(all.units.sum(drafted) == 30 * all.units.sum(iterations));
    CHECK(all.units.sum(tokens) == 31 * all.units.sum(iterations));
  }
}

// As for the chain: 300 runs detect a factor of 1.25 in the standard errors.
TEST_CASE("95 % intervals cover the long-run mean under the heuristic in 95 % of the runs") {
  struct Case {
    AcceptanceProcess process;
    std::int64_t gamma;
  };
  for (const Case& c : {Case{Iid{0.8}, 40}, Case{Iid{0.97}, 200}, Case{Markov{0.95, 0.2}, 30}}) {
    // The mean from a run of another seed, 100 times as long as each of the 300.
    const Estimate truth = tokens_per_iteration(
        run_once(policy_run(c.process, Plus2Minus1{5}, c.gamma, 1'000'000), {.seed = 77, .point = 2}));
    constexpr int runs = 300;
    int outside = 0;
    double squares = 0.0;
    const auto simulator = simulator_of(policy_run(c.process, Plus2Minus1{5}, c.gamma, 10'000));
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      const Estimate seen = tokens_per_iteration(run(*simulator, {.seed = seed, .point = 1}, 1));
      const double deviation = (seen.mean - truth.mean) / seen.standard_error;
      outside += std::abs(deviation) > normal_quantile(0.95) ? 1 : 0;
      squares += deviation * deviation;
    }
    const double expected = 0.05 * runs;
    INFO("outside " << outside << ", mean square " << squares / runs);
    CHECK(std::abs(outside - expected) < standard_errors * std::sqrt(expected * 0.95));
    CHECK(std::abs(squares - runs) < standard_errors * std::sqrt(2.0 * runs));
  }
}

TEST_CASE("a threshold of 0 drafts all, one of 1 drafts one, and certain tokens need no distribution") {
  const auto lengths = [](double alpha, double threshold) {
    return lengths_of(run_once(policy_run(Iid{alpha}, ConfidenceThreshold{threshold, 4.0, 1.0}, 4, 500)));
  };
  CHECK(lengths(0.7, 0.0) == std::vector<std::uint64_t>{0, 0, 0, 500});
  CHECK(lengths(0.7, 1.0) == std::vector<std::uint64_t>{500, 0, 0, 0});
  CHECK(lengths(1.0, 1.0) == std::vector<std::uint64_t>{0, 0, 0, 500});
  CHECK(lengths(0.0, 0.5) == std::vector<std::uint64_t>{500, 0, 0, 0});
}

TEST_CASE("the drafter of least confidence continues after a token that will be rejected") {
  // Confidence is always above the threshold: a rejection must not stop drafting, because the drafter does not know it.
  const Tally tally = run_once(policy_run(Iid{0.5}, ConfidenceThreshold{0.01, 1e6, 1.0}, 6, 400));
  CHECK(tally.units.sum(drafted) == 6 * 400);
  CHECK(tally.units.sum(accepted) < 600);
}

constexpr double alike = 1e9;     // concentration of equal tokens
constexpr double certain = 1e-6;  // of tokens that are certainly accepted or rejected

TEST_CASE("a draft ends once the probability of any rejection exceeds the threshold, rejected or not") {
  const auto lengths = [](double alpha, double threshold, double bias) {
    return lengths_of(run_once(policy_run(Iid{alpha}, RejectionProbability{threshold, alike, bias}, 6, 500)));
  };
  // 0.8^3 = 0.512, 0.8^4 = 0.41; with a bias of 0.5 confidences of 0.894, the product of seven of them below 0.5.
  CHECK(lengths(0.8, 0.5, 1.0) == std::vector<std::uint64_t>{0, 0, 0, 500, 0, 0});
  CHECK(lengths(0.8, 0.5, 0.5) == std::vector<std::uint64_t>{0, 0, 0, 0, 0, 500});
  CHECK(lengths(0.8, 0.1, 0.5) == std::vector<std::uint64_t>{500, 0, 0, 0, 0, 0});
  CHECK(lengths(0.8, 1.0, 1.0) == std::vector<std::uint64_t>{0, 0, 0, 0, 0, 500});
  CHECK(lengths(1.0, 0.0, 1.0) == std::vector<std::uint64_t>{0, 0, 0, 0, 0, 500});
  CHECK(lengths(0.0, 0.5, 1.0) == std::vector<std::uint64_t>{500, 0, 0, 0, 0, 0});
}

TEST_CASE("the row of a confidence has the entropy of its two levels, at most that of a uniform row") {
  CHECK(row_entropy(1.0, 10) == 0.0);
  CHECK(row_entropy(0.5, 1) == Approx(std::log(2.0)));
  // -0.8 log 0.8 - 0.2 log 0.02
  CHECK(row_entropy(0.8, 10) == Approx(0.960919));
  CHECK(row_entropy(1.0 / 11.0, 10) == Approx(std::log(11.0)));
  CHECK(row_entropy(0.01, 10) == Approx(std::log(11.0)));
  CHECK(row_entropy(0.0, 10) == Approx(std::log(11.0)));
  // Confidence 0.8: the root of its entropy is 0.98026.
  const auto lengths = [](double threshold, double bias) {
    return lengths_of(run_once(policy_run(Iid{0.8}, EntropyThreshold{threshold, 10, alike, bias}, 3, 500)));
  };
  CHECK(lengths(0.981, 1.0) == std::vector<std::uint64_t>{0, 0, 500});
  CHECK(lengths(0.979, 1.0) == std::vector<std::uint64_t>{500, 0, 0});
  CHECK(lengths(0.979, 0.5) == std::vector<std::uint64_t>{0, 0, 500});
}

TEST_CASE(
    "the adaptive entropy threshold rises by 0.001 after poor drafts and falls after good ones that ended early") {
  // Nothing accepted: a uniform row over 11 tokens, whose bound is 1 - sqrt(0.2 log 11) = 0.30748. Thresholds 0.305,
  // 0.306, 0.307, 0.308: four drafts three times, then one. The next text starts again.
  const Tally tally = run_once(learning_run(0.0, AdaptiveEntropy{0.305, 10, 4.0, 1.0}, 4, 6.0, 2));
  CHECK(lengths_of(tally) == std::vector<std::uint64_t>{6, 0, 0, 6});
  CHECK(tally.units.count() == 2);

  // The bound of a confidence of 0.9, -0.9 log 0.9 - 0.1 log 0.01 = 0.555342, is 0.666734.
  AdaptiveEntropyStop stop({.first_threshold = 0.6657}, 4);
  const auto after = [&](std::int64_t drafted, std::int64_t accepted) {
    stop.begin();
    stop.learn({drafted, {.tokens = accepted + 1, .accepted = accepted, .tested = std::min(accepted + 1, drafted)}});
    return stop.goes_on(0.9);
  };
  CHECK(after(4, 4));        // a mean of 0.95, all four accepted: 0.6657
  CHECK(after(2, 1));        // 0.725: 0.6667
  CHECK_FALSE(after(4, 4));  // 0.8625: 0.6677
  CHECK(after(3, 3));        // 0.93125, three of at most four: 0.6667
  CHECK(after(4, 4));        // 0.965625
  CHECK_FALSE(after(4, 0));  // 0.4828: 0.6677
  stop.restart();
  CHECK(after(2, 1));
}

TEST_CASE("the dynamic threshold is the best of the confidences seen, counting a lost token three times") {
  RandomStream random(5, {.purpose = Purpose::test, .point = 0, .block = 0});
  for (int text = 0; text < 50; ++text) {
    DynamicStop stop({.first_threshold = 0.4});
    std::vector<std::pair<double, bool>> seen;
    for (int iteration = 0; iteration < 12; ++iteration) {
      stop.begin();
      std::vector<double> confidences;
      for (int i = 0; i < 4; ++i) {
        confidences.push_back(static_cast<double>(random.next_u32() % 20) / 20.0);  // with ties
        static_cast<void>(stop.goes_on(confidences.back()));
      }
      const auto accepted = static_cast<std::int64_t>(random.next_u32() % 5);
      const std::int64_t tested = std::min<std::int64_t>(accepted + 1, 4);
      stop.learn({4, {.tokens = accepted + 1, .accepted = accepted, .tested = tested}});
      for (std::int64_t i = 0; i < tested; ++i)
        seen.emplace_back(confidences[static_cast<std::size_t>(i)], i < accepted);
      // Of the confidences so far, from the largest, as in the library's curve; without both outcomes the first one.
      double best = 0.4;
      std::int64_t least = 1'000'000;
      const auto accepted_seen = std::ranges::count(seen, true, &std::pair<double, bool>::second);
      const auto rejected_seen = static_cast<std::int64_t>(seen.size()) - accepted_seen;
      for (int step = 20; step >= 0 && seen.size() > 5 && accepted_seen > 0 && rejected_seen > 0; --step) {
        const double threshold = static_cast<double>(step) / 20.0;
        if (std::ranges::count(seen, threshold, &std::pair<double, bool>::first) == 0) continue;
        std::int64_t cost = 0;
        for (const auto& [confidence, was_accepted] : seen) {
          if (!was_accepted && confidence >= threshold) cost += accepted_seen;
          if (was_accepted && confidence < threshold) cost += 3 * rejected_seen;
        }
        if (cost >= least) continue;
        least = cost;
        best = threshold;
      }
      CAPTURE(text, iteration, best);
      stop.begin();
      CHECK(stop.goes_on(best));
      CHECK_FALSE(stop.goes_on(best - 1e-9));
    }
    // Two tested drafts of the next text are too few.
    stop.restart();
    stop.begin();
    static_cast<void>(stop.goes_on(0.9));
    static_cast<void>(stop.goes_on(0.8));
    stop.learn({2, {.tokens = 2, .accepted = 1, .tested = 2}});
    CHECK(stop.goes_on(0.4));
    CHECK_FALSE(stop.goes_on(0.39));
  }
}

TEST_CASE("a text under the dynamic threshold begins with the first one and later uses the learned one") {
  // Certain tokens: a rejected one has a confidence of 0, so every threshold stops right after it, and nothing is
  // learned from drafts that are all accepted.
  const Tally tally = run_once(learning_run(0.7, DynamicThreshold{0.4, certain, 1.0}, 30, 400.0, 20));
  check_conservation(tally);
  CHECK(tally.units.count() == 20);
  CHECK(static_cast<double>(tally.units.sum(drafted) - tally.units.sum(tested)) <
        30.0 * static_cast<double>(tally.units.count()));
  CHECK(run_once(learning_run(0.7, DynamicThreshold{0.4, 4.0, 1.0}, 30, 400.0, 20)).units.sum(drafted) !=
        run_once(learning_run(0.7, DynamicThreshold{0.9, 4.0, 1.0}, 30, 400.0, 20)).units.sum(drafted));
}

TEST_CASE("texts from which a policy learns are the same for any number of threads") {
  for (const Policy& policy : {Policy{AdaptiveEntropy{0.4, 10, 4.0, 1.0}}, Policy{DynamicThreshold{0.4, 4.0, 1.0}}}) {
    const auto simulator = simulator_of(learning_run(0.8, policy, 12, 100.0, 1500));  // three blocks
    CHECK(simulator->blocks() == 3);
    const Tally once = run(*simulator, test_key, 1);
    CHECK(once == run(*simulator, test_key, 4));
    CHECK(once.units.count() == 1500);
    check_conservation(once);
  }
}

TEST_CASE(
    "a drafter that knows its tokens drafts the best constant gamma of equal ones, of certain ones the accepted") {
  // [Leviathan2023, Fig. 3]: 8 drafts at an acceptance of 0.8 and c = 0.05.
  const Tally same = run_once(paid_run(Iid{0.8}, OptimalTokenStopping{alike}, 40, 500));
  CHECK(same.units.sum(drafted) == 8 * 500);
  check_conservation(same);
  const Tally sure = run_once(paid_run(Iid{0.8}, OptimalTokenStopping{certain}, 400, 500));
  CHECK(sure.units.sum(drafted) == sure.units.sum(accepted));
  CHECK(sure.units.sum(accepted) > 1500);
  const Tally dear = run_once(paid_run(Iid{0.8}, OptimalTokenStopping{2.0}, 40, 500, 1.0));
  CHECK(dear.units.sum(drafted) == 0);
}

TEST_CASE("optimal stopping with one acceptance for all drafts is the best constant gamma") {
  // Best gammas by comparing tokens over cost, which [Leviathan2023, Fig. 3] plots.
  for (const auto& [alpha, c] :
       {std::pair{0.8, 0.05}, std::pair{0.5, 0.1}, std::pair{0.3, 0.4}, std::pair{0.9, 0.02}}) {
    double best = 0.0;
    std::int64_t best_gamma = 0;
    double tokens = 1.0;
    double survival = 1.0;
    for (std::int64_t gamma = 0; gamma < 60; ++gamma) {
      const double speed = tokens / (1.0 + c * static_cast<double>(gamma));
      if (speed > best) {
        best = speed;
        best_gamma = gamma;
      }
      tokens += survival *= alpha;
    }
    const double price = stopping_price(Iid{alpha}, 60, c, Convention::bonus);
    CHECK(price == Approx(c * best).epsilon(foredraft::tests::second_route));
    CHECK(drafts_at_price(Iid{alpha}, price, 60, Convention::bonus) == best_gamma);
    Simulation stopping = policy_run(Iid{alpha}, OptimalStopping{}, 60, 1000);
    stopping.scenario.cost = ConstantRatio{c};
    const Tally tally = run_once(stopping);
    CHECK(tally.units.sum(drafted) == best_gamma * 1000);
  }
}

TEST_CASE("after an edit a copying drafter drafts nothing while it realigns") {
  // Every token is an edit: one copying iteration, then two plain ones.
  const Tally bonus = run_once(copying_run({.edit_rate = 1.0, .realign = 2}, 5, 900));
  CHECK(lengths_of(bonus) == std::vector<std::uint64_t>{0, 0, 0, 0, 300});
  CHECK(bonus.units.sum(tokens) == 900);
  CHECK(bonus.units.count() == 300);
  check_conservation(bonus);
  // Without a bonus token a plain iteration drafts a token that is never tested.
  const Tally no_bonus =
      run_once(copying_run({.edit_rate = 1.0, .realign = 2}, 5, 900, Path::reference, Convention::no_bonus));
  CHECK(lengths_of(no_bonus) == std::vector<std::uint64_t>{600, 0, 0, 0, 300});
  CHECK(no_bonus.units.sum(tested) == 300);
  check_conservation(no_bonus);
}

TEST_CASE("an edit at the place of a bonus token needs realigning too") {
  // One draft and one bonus token an iteration: P(edit in it) = 1 - 0.5^2; each edit adds one plain iteration.
  const Tally tally = run_once(copying_run({.edit_rate = 0.5, .realign = 1}, 1, 400'000));
  const auto plain = static_cast<double>(tally.units.sum(iterations) - tally.units.sum(drafted));
  const double share = plain / static_cast<double>(tally.units.sum(iterations));
  CHECK(share == Approx(0.75 / 1.75).epsilon(0.01));
}

TEST_CASE("drafters set their acceptance and their cost in the simulation") {
  const auto drafted = [](const Drafter& drafter, AcceptanceProcess process = Iid{0.8}) {
    Simulation simulation = iterations_of(std::move(process), 3, 1000, Path::fast);
    simulation.scenario.drafter = drafter;
    return run_once(simulation);
  };
  const Tally plain = drafted(AutoregressiveDrafter{});
  CHECK(plain.units.sum(draft_passes) == 3000);
  CHECK(drafted(BlockDrafter{}).tokens_count == plain.tokens_count);
  CHECK(drafted(BlockDrafter{}).units.sum(draft_passes) == 1000);
  CHECK(drafted(BlockDrafter{.decay = 0.5}) == drafted(BlockDrafter{}, Positional{{0.8, 0.4, 0.2}}));
  CHECK(drafted(Heads{.accuracies = {0.7, 0.6, 0.1}}) == drafted(BlockDrafter{}, Positional{{0.7, 0.6, 0.1}}));
  CHECK(drafted(Heads{.decay = 0.5}) == drafted(BlockDrafter{.decay = 0.5}));
  CHECK(drafted(MlpSpeculator{.decay = 0.25, .recovery = 0.5}) ==
        drafted(AutoregressiveDrafter{}, Positional{{0.8, 0.4, 0.2}}));
  const Tally copied = drafted(InputCopy{.edit_rate = 0.25});
  CHECK(copied.tokens_count == drafted(AutoregressiveDrafter{}, Iid{0.75}).tokens_count);
  CHECK(copied.units.sum(draft_passes) == 0);
}

}  // namespace foredraft::sim
