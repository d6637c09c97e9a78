// SPDX-License-Identifier: Apache-2.0
// Recursive rejection: the distributions against enumeration, the closed forms against the distributions, the
// simulators against both.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "core/random_stream.hpp"
#include "sim/estimates.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/token_simulator.hpp"
#include "tests/sim/token/rules/rule_cases.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

constexpr CandidateDraws both_draws[] = {CandidateDraws::with_replacement, CandidateDraws::without_replacement};

struct DistributionPair {
  std::vector<double> p;
  std::vector<double> q;
  [[nodiscard]] PositionDistributions distributions() const { return {.target = p, .draft = q}; }
};

/// Random rows of 2 to 5 tokens, some without mass, and extreme cases: equal, disjoint, point masses.
std::vector<DistributionPair> small_distributions() {
  std::vector<DistributionPair> rows{
      {{0.2, 0.3, 0.5}, {0.2, 0.3, 0.5}},      {{0.5, 0.5, 0.0, 0.0}, {0.0, 0.0, 0.3, 0.7}},
      {{0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}},      {{0.0, 1.0}, {0.0, 1.0}},
      {{0.25, 0.25, 0.5}, {0.0, 0.0, 1.0}},    {{1.0}, {1.0}},
      {{0.5, 0.5, 0.0}, {1e-9, 0.0, 1 - 1e-9}}};
  RandomStream random(4, {.purpose = Purpose::test, .point = 0, .block = 0});
  const auto random_row = [&random](std::size_t size) {
    std::vector<double> row(size);
    for (double& entry : row) entry = random.uniform() < 0.25 ? 0.0 : std::pow(random.uniform(), 2.0);
    row.front() += 0.01;
    normalize(row);
    return row;
  };
  for (std::size_t i = 0; i < 40; ++i) {
    std::vector<double> p = random_row(2 + i % 4);
    rows.push_back({std::move(p), random_row(2 + i % 4)});
  }
  return rows;
}

tests::Simulation candidates_of(Models models, double candidates, double replacement, std::uint64_t iterations) {
  tests::Simulation simulation = tests::simulation_of(std::move(models), 3, iterations);
  simulation.token().rule =
      MultiCandidate{.candidates = static_cast<std::int64_t>(candidates), .replacement = replacement == 1.0};
  return simulation;
}

}  // namespace

TEST_CASE("recursive rejection emits p for every q, any number of candidates and both ways of drawing them") {
  for (const DistributionPair& pair : small_distributions()) {
    for (const CandidateDraws draws : both_draws) {
      for (std::int64_t count = 1; count <= 4; ++count) {
        const tests::CandidateDistributions distributions =
            tests::candidate_distributions(pair.distributions(), {.count = count, .draws = draws});
        for (std::size_t x = 0; x < pair.p.size(); ++x)
          CHECK(std::abs(distributions.emitted[x] - pair.p[x]) < tests::few_ulp);
      }
    }
  }
}

TEST_CASE("candidate acceptance equals the enumerated mass, and one candidate accepts sum min(p, q)") {
  for (const DistributionPair& pair : small_distributions()) {
    CHECK(candidate_acceptance(pair.distributions(), {}) == Approx(overlap(pair.p, pair.q)).margin(tests::few_ulp));
    for (const CandidateDraws draws : both_draws) {
      for (std::int64_t count = 1; count <= 5; ++count) {
        CAPTURE(pair.p, pair.q, count, draws == CandidateDraws::with_replacement);
        const auto accepted =
            tests::candidate_distributions(pair.distributions(), {.count = count, .draws = draws}).accepted;
        CHECK(candidate_acceptance(pair.distributions(), {.count = count, .draws = draws}) ==
              Approx(std::accumulate(accepted.begin(), accepted.end(), 0.0)).margin(10.0 * tests::few_ulp));
      }
    }
  }
}

TEST_CASE("two candidates for P = (1, 0), Q = (1/2, 1/2): 3/4 with replacement, certain without") {
  const DistributionPair pair{{1.0, 0.0}, {0.5, 0.5}};
  CHECK(candidate_acceptance(pair.distributions(), {.count = 2, .draws = CandidateDraws::with_replacement}) == 0.75);
  CHECK(candidate_acceptance(pair.distributions(), {.count = 2, .draws = CandidateDraws::without_replacement}) == 1.0);
}

TEST_CASE("three tokens by hand: residual and remaining q") {
  // p = (.5, .3, .2), q = (.2, .2, .6). Token 2 is accepted with 1/3; after its rejection r = (.75, .25, 0) and,
  // without replacement, d = (.5, .5, 0): token 1 is accepted with 1/2; after that r = (1, 0, 0).
  const DistributionPair pair{{0.5, 0.3, 0.2}, {0.2, 0.2, 0.6}};
  RecursiveRejection state(pair.distributions(), CandidateDraws::without_replacement);
  CHECK(state.acceptance(0) == 1.0);
  CHECK(state.acceptance(2) == Approx(1.0 / 3.0).epsilon(tests::few_ulp));
  state.reject(2);
  CHECK(state.residual()[0] == Approx(0.75).epsilon(tests::few_ulp));
  CHECK(state.residual()[2] == 0.0);
  CHECK(state.draft()[1] == Approx(0.5).epsilon(tests::few_ulp));
  CHECK(state.acceptance(1) == Approx(0.5).epsilon(tests::few_ulp));
  CHECK(state.acceptance(2) == 0.0);
  state.reject(1);
  CHECK(std::ranges::equal(state.residual(), std::vector<double>{1.0, 0.0, 0.0}));
  RecursiveRejection replacing(pair.distributions(), CandidateDraws::with_replacement);
  replacing.reject(2);
  CHECK(replacing.acceptance(1) == 1.0);  // r / q = .25 / .2 there
}

TEST_CASE("an exhausted drafter leaves candidates uniform over the tokens not rejected") {
  const DistributionPair pair{{0.0, 0.5, 0.5, 0.0}, {1.0, 0.0, 0.0, 0.0}};
  RecursiveRejection state(pair.distributions(), CandidateDraws::without_replacement);
  state.reject(0);
  for (const std::size_t x : {1U, 2U, 3U}) CHECK(state.draft()[x] == Approx(1.0 / 3.0).epsilon(tests::few_ulp));
  CHECK(state.draft()[0] == 0.0);
  state.reject(3);
  CHECK(state.draft()[3] == 0.0);
  CHECK(state.acceptance(1) == 1.0);
}

TEST_CASE("as many distinct candidates as tokens always include an accepted one, and every further one helps") {
  for (const DistributionPair& pair : small_distributions()) {
    const auto vocabulary = std::ssize(pair.p);
    CHECK(candidate_acceptance(pair.distributions(),
                               {.count = vocabulary, .draws = CandidateDraws::without_replacement}) == 1.0);
    for (const CandidateDraws draws : both_draws) {
      double before = 0.0;
      for (std::int64_t count = 1; count <= 5; ++count) {
        const double acceptance = candidate_acceptance(pair.distributions(), {.count = count, .draws = draws});
        CHECK(acceptance >= before - tests::few_ulp);
        before = acceptance;
      }
    }
  }
}

TEST_CASE("an enumeration of too many sequences has no answer, two candidates of a large vocabulary have one") {
  const std::vector<double> p(2000, 1.0 / 2000);
  std::vector<double> q(2000);
  for (std::size_t x = 0; x < q.size(); ++x) q[x] = static_cast<double>(2 * x + 1) / 4e6;
  const PositionDistributions distributions{.target = p, .draft = q};
  CHECK(std::isnan(candidate_acceptance(distributions, {.count = 3, .draws = CandidateDraws::without_replacement})));
  // sum min(p, q) is 3/4 here. With replacement the second candidate's q is the same line, and r falls from 2 p to 0 on
  // the lower half; the direct sum is below.
  double m = 0.0;
  for (std::size_t x = 0; x < q.size(); ++x) m += std::max(0.0, p[x] - 1.25 * q[x]);
  CHECK(candidate_acceptance(distributions, {.count = 2, .draws = CandidateDraws::with_replacement}) ==
        Approx(1.0 - m).epsilon(tests::second_route));
  CHECK(candidate_acceptance(distributions, {.count = 2, .draws = CandidateDraws::without_replacement}) ==
        Approx(1.0 - m).epsilon(1e-3));  // omitting one token of 2,000 changes little
}

TEST_CASE("the residual mass equals its sum, at every kink and between, to the last digits") {
  for (const DistributionPair& pair : small_distributions()) {
    const ResidualMass mass(pair.distributions());
    CHECK(mass(0.0) == Approx(1.0).epsilon(tests::few_ulp));
    for (const double c : {0.3, 0.9, 1.0, 1.1, 2.0, 7.0, 1e6}) {
      double sum = 0.0;
      for (std::size_t x = 0; x < pair.p.size(); ++x) sum += std::max(0.0, pair.p[x] - c * pair.q[x]);
      CHECK(mass(c) == Approx(sum).margin(tests::few_ulp));
    }
  }
  const ResidualMass close(
      {.target = std::vector<double>{0.5, 0.5}, .draft = std::vector<double>{0.5 - 1e-13, 0.5 + 1e-13}});
  CHECK(close(1.0) == Approx(1e-13).epsilon(1e-3));
}

TEST_CASE("the optimum of k independent candidates is the smallest cut over all sets of tokens") {
  for (const DistributionPair& pair : small_distributions()) {
    CHECK(optimal_acceptance(pair.distributions(), 1) == Approx(overlap(pair.p, pair.q)).margin(tests::few_ulp));
    for (std::int64_t count = 1; count <= 4; ++count) {
      double smallest = 1.0;
      for (std::size_t set = 0; set < std::size_t{1} << pair.p.size(); ++set) {
        double target = 0.0;
        double draft = 0.0;
        for (std::size_t x = 0; x < pair.p.size(); ++x) {
          target += (set >> x) % 2 == 1 ? pair.p[x] : 0.0;
          draft += (set >> x) % 2 == 1 ? pair.q[x] : 0.0;
        }
        smallest = std::min(smallest, target + 1.0 - std::pow(draft, static_cast<double>(count)));
      }
      CHECK(optimal_acceptance(pair.distributions(), count) == Approx(smallest).margin(tests::few_ulp));
    }
  }
}

TEST_CASE("the optimum of two candidates is the largest flow from the pairs of candidates to their tokens") {
  for (const DistributionPair& pair : small_distributions()) {
    const std::size_t size = pair.p.size();
    std::vector<double> sources;
    std::vector<std::vector<double>> flow(size * size, std::vector<double>(size, 0.0));
    for (const double first : pair.q) {
      for (const double second : pair.q) sources.push_back(first * second);
    }
    std::vector<double> left = sources;
    std::vector<double> room = pair.p;
    // From a pair with mass left along the tokens it holds, back along pairs that fill them, to a token with room.
    const auto augment = [&](std::size_t start) {
      std::vector<std::size_t> from_pair(size, size * size);
      std::vector<std::size_t> from_token(size * size, size);
      std::vector<std::size_t> queue{start};
      std::vector<bool> seen(size * size, false);
      seen[start] = true;
      for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const std::size_t token : {queue[i] / size, queue[i] % size}) {
          if (from_pair[token] != size * size) continue;
          from_pair[token] = queue[i];
          if (room[token] > 1e-15) {
            double amount = std::min(left[start], room[token]);
            for (std::size_t at = token; from_pair[at] != start; at = from_token[from_pair[at]]) {
              amount = std::min(amount, flow[from_pair[at]][from_token[from_pair[at]]]);
            }
            left[start] -= amount;
            room[token] -= amount;
            for (std::size_t at = token;; at = from_token[from_pair[at]]) {
              flow[from_pair[at]][at] += amount;
              if (from_pair[at] == start) return amount;
              flow[from_pair[at]][from_token[from_pair[at]]] -= amount;
            }
          }
          for (std::size_t other = 0; other < size * size; ++other) {
            if (seen[other] || !(flow[other][token] > 1e-15)) continue;
            seen[other] = true;
            from_token[other] = token;
            queue.push_back(other);
          }
        }
      }
      return 0.0;
    };
    double total = 0.0;
    for (std::size_t start = 0; start < size * size; ++start) {
      while (left[start] > 1e-15) {
        const double amount = augment(start);
        if (!(amount > 0.0)) break;
        total += amount;
      }
    }
    CHECK(optimal_acceptance(pair.distributions(), 2) == Approx(total).margin(tests::second_route));
  }
}

TEST_CASE("recursive rejection and k_seq accept at most the optimum, k_seq its guaranteed share, and one draft less") {
  double gap = 0.0;
  for (const DistributionPair& pair : small_distributions()) {
    for (const std::int64_t count : {1, 2, 3, 5, 16}) {
      CAPTURE(pair.p, pair.q, count);
      const double optimum = optimal_acceptance(pair.distributions(), count);
      const double recursive = candidate_acceptance(pair.distributions(), {.count = count});
      const double k_seq = acceptance_probability(*make_rule(KSeq{.candidates = count}), pair.distributions());
      const double guaranteed = 1.0 - std::pow(1.0 - 1.0 / static_cast<double>(count), static_cast<double>(count));
      CHECK(recursive <= optimum + tests::few_ulp);
      CHECK(k_seq <= optimum + tests::few_ulp);
      CHECK(k_seq >= guaranteed * optimum - tests::few_ulp);
      CHECK(k_seq >= overlap(pair.p, pair.q) - tests::second_route);
      gap = std::max(gap, optimum - std::max(recursive, k_seq));
    }
  }
  CHECK(gap > 0.01);
}

TEST_CASE("k_seq by hand: the root for P = (1, 0), Q = (1/2, 1/2), and p = q") {
  // b = min(1/2, 1 / rho) = 1/2 up to rho = 2, and 1 - (1 - b)^2 = 3/4 = rho b: rho = 3/2. No mass of p is left.
  const DistributionPair pair{{1.0, 0.0}, {0.5, 0.5}};
  const auto rule = make_rule(KSeq{.candidates = 2});
  CHECK(rule->row_statistic(pair.distributions()) == Approx(1.5).epsilon(tests::few_ulp));
  CHECK(acceptance_probability(*rule, pair.distributions()) == Approx(0.75).epsilon(tests::few_ulp));
  CHECK(optimal_acceptance(pair.distributions(), 2) == 0.75);
  const DistributionPair equal{{0.2, 0.3, 0.5}, {0.2, 0.3, 0.5}};
  CHECK(rule->row_statistic(equal.distributions()) == 1.0);
  CHECK(acceptance_probability(*rule, equal.distributions()) == 1.0);
}

TEST_CASE("a pool knows the optimum of its candidates if they are independent") {
  const auto optimum_of = [](const Rule& rule) {
    tests::Simulation simulation = tests::simulation_of(tests::given(tests::three_contexts()), 3, 100);
    simulation.token().rule = rule;
    return pool_optimum(*tests::simulator_of(simulation, 5));
  };
  const GivenDistributions table = tests::three_contexts();
  double mean = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    mean += optimal_acceptance({.target = table.target[k], .draft = table.draft[k]}, 3) / 3.0;
  }
  CHECK(optimum_of(KSeq{.candidates = 3}) == Approx(mean).epsilon(tests::few_ulp));
  CHECK(optimum_of(MultiCandidate{.candidates = 3}) == Approx(mean).epsilon(tests::few_ulp));
  CHECK(std::isnan(optimum_of(MultiCandidate{.candidates = 3, .replacement = false})));
  CHECK(std::isnan(optimum_of(RejectionSampling{})));
}

// 4,000 equally spaced numbers: a token's share is exact to 1/4,000.
TEST_CASE("a residual's tokens are drawn with its distribution") {
  constexpr int draws = 4000;
  for (const DistributionPair& pair : small_distributions()) {
    const ResidualMass mass(pair.distributions(), ResidualMass::Draws::yes);
    for (const double c : {0.0, 1.0, 1.3, 2.5}) {
      std::vector<double> expected(pair.p.size());
      for (std::size_t x = 0; x < pair.p.size(); ++x) expected[x] = std::max(0.0, pair.p[x] - c * pair.q[x]);
      if (!(mass(c) > tests::second_route)) continue;
      normalize(expected);
      std::vector<double> shares(pair.p.size(), 0.0);
      for (int i = 0; i < draws; ++i) {
        shares[static_cast<std::size_t>(mass.draw(c, (i + 0.5) / draws))] += 1.0 / draws;
      }
      for (std::size_t x = 0; x < pair.p.size(); ++x) {
        CHECK(std::abs(shares[x] - expected[x]) <= 1.001 / draws);
        if (expected[x] == 0.0) CHECK(shares[x] == 0.0);
      }
    }
  }
}

TEST_CASE("one candidate is rejection_sampling, draw for draw") {
  for (const Contexts contexts : {Contexts::pooled, Contexts::fresh}) {
    tests::Simulation simulation = candidates_of(tests::small_pair(), 1.0, 0.0, 2000);
    tests::contexts_of(simulation) = contexts;
    const Tally one = run(*tests::simulator_of(simulation, 5), {.seed = 3, .point = 0}, 1);
    simulation.token().rule = RejectionSampling{};
    CHECK(run(*tests::simulator_of(simulation, 5), {.seed = 3, .point = 0}, 1) == one);
  }
}

// 60,000 iterations: a standard error of about 0.0015.
TEST_CASE("simulated candidates are accepted as often as the closed form says, down to one token and temperature 0",
          "[long]") {
  const double candidates = GENERATE(2.0, 3.0, 5.0, 40.0);
  const double replacement = GENERATE(0.0, 1.0);
  const double temperature = GENERATE(0.0, 1.0);
  CAPTURE(candidates, replacement, temperature);
  tests::Simulation simulation = candidates_of(tests::given(tests::three_contexts()), candidates, replacement, 60'000);
  simulation.token().temperature = temperature;
  const auto simulator = tests::simulator_of(simulation, 5);
  const Estimate simulated = acceptance(run(*simulator, {.seed = 3, .point = 1}, 1)).per_token;
  const double expected = expected_acceptance(*simulator);
  tests::check_estimate(simulated, expected);
  if (candidates >= 5.0 && replacement == 0.0) CHECK(simulated.mean == 1.0);
}

// 40,000 iterations: a standard error of about 0.002. After the first candidate 0.02 of q is left, which is still
// enough to draw from, after the second 0.01 or nothing.
TEST_CASE("when q is nearly exhausted, earlier rejections are not forgotten") {
  const GivenDistributions table{.target = {{0.0, 0.0, 0.5, 0.5}}, .draft = {{0.98, 0.01, 0.01, 0.0}}};
  const auto simulator = tests::simulator_of(candidates_of(tests::given(table), 3.0, 0.0, 40'000), 5);
  tests::check_estimate(acceptance(run(*simulator, {.seed = 3, .point = 4}, 1)).per_token,
                        expected_acceptance(*simulator));
}

// Pool of 2,400 and 4,000 iterations: the difference has a standard error of about 0.006.
TEST_CASE("several candidates are accepted equally in pooled and fresh contexts") {
  const double replacement = GENERATE(0.0, 1.0);
  SyntheticModels pair = tests::small_pair();
  pair.vocabulary = 20;
  pair.pool = 2400;
  tests::Simulation simulation = candidates_of(pair, 3.0, replacement, 4000);
  const double pooled = expected_acceptance(*tests::simulator_of(simulation, 5));
  tests::contexts_of(simulation) = Contexts::fresh;
  const Estimate fresh = acceptance(run(*tests::simulator_of(simulation, 5), {.seed = 3, .point = 2}, 1)).per_token;
  constexpr double pool_error = 0.003;  // a context's acceptance has a standard deviation below 0.15
  CHECK(std::abs(fresh.mean - pooled) <= tests::standard_errors * std::hypot(fresh.standard_error, pool_error));
}

// 60,000 positions: if a second candidate is drawn with probability 1/2 or 1/4, an error of 0.1 % in the decisive part
// of q would show at least 30 times; 0 is right.
TEST_CASE("a certain second candidate is always accepted, one with p - q = 0 never") {
  const auto accepted_of = [](const GivenDistributions& table, double candidates, double replacement) {
    const Tally tally =
        run(*tests::simulator_of(candidates_of(tests::given(table), candidates, replacement, 20'000), 5),
            {.seed = 3, .point = 0}, 1);
    return std::pair(tally.units.sum(accepted), tally.units.sum(tested));
  };
  // After the rejection of token 2 the residual and the rest of q are both (1/2, 1/2, 0).
  const auto [all, of_all] = accepted_of({.target = {{0.5, 0.5, 0.0}}, .draft = {{0.25, 0.25, 0.5}}}, 2.0, 0.0);
  CHECK(all == of_all);
  // Token 0 is accepted as a first candidate and, as p - q = 0, never as a second: a single candidate does as well.
  const GivenDistributions missed{.target = {{0.5, 0.0, 0.5}}, .draft = {{0.5, 0.5, 0.0}}};
  CHECK(accepted_of(missed, 2.0, 1.0) == accepted_of(missed, 1.0, 1.0));
}

}  // namespace foredraft::sim
