// SPDX-License-Identifier: Apache-2.0
// Fresh contexts against a reconstruction of their rows, and against pooled ones.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "core/random_stream.hpp"
#include "sim/estimates.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/fresh/fresh_simulator.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rows/vector_kernels.hpp"
#include "sim/token/token_simulator.hpp"
#include "tests/sim/token/rules/rule_cases.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

constexpr RunKey fresh_key{.seed = 31, .point = 6};
constexpr std::uint64_t pool_seed = 5;

std::vector<double> to_distribution(const std::vector<float>& logits, std::size_t vocabulary, double temperature) {
  std::vector<double> distribution(vocabulary);
  softmax(std::vector<double>(logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(vocabulary)), temperature,
          distribution);
  return distribution;
}

/// The rows of one fresh context with a noise draft, recomputed in double precision.
struct Rows {
  std::vector<double> p;
  std::vector<double> q;
};

Rows reconstruct(const SyntheticModels& pair, double strength, std::uint64_t block, std::uint64_t context) {
  const SyntheticTarget target(pair.target, pair.parameter, pair.vocabulary);
  std::vector<float> logits(target.row_size());
  std::vector<std::uint64_t> words;
  target.logits(fresh_key.seed, {.purpose = Purpose::logits, .point = fresh_key.point, .block = block}, context, logits,
                words);
  std::vector<float> noisy(target.row_size());
  add_normals(fresh_key.seed, {.purpose = Purpose::draft_logits, .point = fresh_key.point, .block = block},
              context * normal_draws(noisy.size()), static_cast<float>(strength), logits, noisy);
  return {.p = to_distribution(logits, target.vocabulary(), 1.0),
          .q = to_distribution(noisy, target.vocabulary(), 1.0)};
}

/// Adds `distribution` and the emitted token to histograms over the rank that p gives a token.
void add_by_rank(const std::vector<double>& p, const std::vector<double>& distribution, Token token,
                 std::vector<double>& expected, std::vector<std::int64_t>& observed) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&p](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    expected[rank] += distribution[order[rank]];
    if (order[rank] == static_cast<std::size_t>(token)) ++observed[rank];
  }
}

/// Chi-squared, or an exact comparison if one cell has everything.
void check_follows(const std::vector<std::int64_t>& observed, const std::vector<double>& expected) {
  const auto total = std::accumulate(observed.begin(), observed.end(), std::int64_t{0});
  const auto largest = std::max_element(expected.begin(), expected.end());
  if (*largest >= static_cast<double>(total) * (1.0 - tests::few_ulp)) {
    CHECK(observed[static_cast<std::size_t>(largest - expected.begin())] == total);
  } else {
    CHECK(tests::chi_squared_p_value(observed, expected) > tests::level_of_one(2 * tests::rule_cases().size()));
  }
}

/// Standard error of the mean acceptance of a pool as an estimate of that of all contexts.
double pool_standard_error(const SyntheticPool& pool, double temperature) {
  std::vector<double> p(pool.vocabulary());
  std::vector<double> q(pool.vocabulary());
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t k = 0; k < pool.contexts(); ++k) {
    pool.target_distribution(k, temperature, p);
    pool.draft_distribution(k, pool.strength(), temperature, q);
    const double beta = overlap(p, q);
    sum += beta;
    squares += beta * beta;
  }
  const auto n = static_cast<double>(pool.contexts());
  return std::sqrt(std::max(0.0, squares / n - sum * sum / (n * n)) / n);
}

}  // namespace

// 5,000 iterations of gamma 1 in 12 cells detect an error of about 13 % in a cell. A cell's variance is below that of
// the multinomial distribution because the rows differ, so the test is conservative.
TEST_CASE("for every rule, tokens emitted in fresh contexts follow the distribution of their reconstructed rows") {
  SyntheticModels pair = tests::small_pair();
  pair.vocabulary = 12;
  pair.alpha = 0.6;
  const double strength = SyntheticPool(pair, pool_seed).strength();
  for (const tests::RuleCase& entry : tests::rule_cases()) {
    INFO(entry.label());
    const auto rule = entry.make();
    tests::Simulation simulation = tests::simulation_of(pair, 1, 5000);
    simulation.token().rule = entry.rule();
    tests::contexts_of(simulation) = Contexts::fresh;
    const auto simulator = tests::simulator_of(simulation, pool_seed);
    const auto& emitter = dynamic_cast<const TokenSimulator&>(*simulator);
    std::vector<double> expected_first(12, 0.0);
    std::vector<double> expected_bonus(12, 0.0);
    std::vector<std::int64_t> first(12, 0);
    std::vector<std::int64_t> bonus(12, 0);
    std::vector<double> bonus_distribution(12);
    for (std::uint64_t block = 0; block < emitter.blocks(); ++block) {
      std::uint64_t context = 0;
      for (const auto& sequence : emitter.emit_block(fresh_key, block)) {
        const Rows rows = reconstruct(pair, strength, block, context);
        add_by_rank(rows.p, emitted_distribution(*rule, {.target = rows.p, .draft = rows.q}), sequence[0].token,
                    expected_first, first);
        if (sequence.size() == 2) {
          const Rows next = reconstruct(pair, strength, block, context + 1);
          rule->bonus(next.p, bonus_distribution);
          add_by_rank(next.p, bonus_distribution, sequence[1].token, expected_bonus, bonus);
        }
        context += 2;
      }
    }
    check_follows(first, expected_first);
    check_follows(bonus, expected_bonus);
  }
}

// The standard error of the difference is 0.004 to 0.013, largest at temperature 0, where a context accepts all or
// nothing.
TEST_CASE("acceptance is equal in pooled and fresh contexts, for every target, draft and temperature", "[long]") {
  const auto target =
      GENERATE(TargetDistribution::zipf, TargetDistribution::gaussian_logits, TargetDistribution::dirichlet);
  const auto draft = GENERATE(DraftDistribution::noise, DraftDistribution::temperature, DraftDistribution::mixing);
  const double temperature = GENERATE(0.0, 0.6, 1.0);
  CAPTURE(target, draft, temperature);
  const SyntheticModels pair{.target = target,
                             .parameter = target == TargetDistribution::dirichlet ? 0.5 : 1.5,
                             .vocabulary = 20,
                             .draft = draft,
                             .alpha = 0.75,
                             .pool = 2400};
  tests::Simulation simulation = tests::simulation_of(pair, 3, 4000);
  simulation.token().temperature = temperature;
  const double pooled = expected_acceptance(*tests::simulator_of(simulation, pool_seed));
  tests::contexts_of(simulation) = Contexts::fresh;
  const Estimate fresh = acceptance(run(*tests::simulator_of(simulation, pool_seed), fresh_key, 1)).per_token;
  const double pool_error = pool_standard_error(SyntheticPool(pair, pool_seed), temperature);
  CHECK(std::abs(fresh.mean - pooled) <= tests::standard_errors * std::hypot(fresh.standard_error, pool_error));
  CHECK(std::hypot(fresh.standard_error, pool_error) < 0.02);
}

// All token indices have the same distribution, so a preference indicates a uniform that was used twice: inversion
// turns a large one into a large index. Every iteration is the only one of its point and reads the first uniform of
// each stream. About 3,600 accepted drafts and 2,400 rejections in 12 cells detect an error of 45 % in a cell; a reused
// uniform empties cells.
TEST_CASE("no uniform of a fresh iteration is used twice") {
  SyntheticModels pair = tests::small_pair();
  pair.vocabulary = 12;
  pair.alpha = 0.6;
  tests::Simulation simulation = tests::simulation_of(pair, 1, 1);
  tests::contexts_of(simulation) = Contexts::fresh;
  const auto simulator = tests::simulator_of(simulation, pool_seed);
  const auto& emitter = dynamic_cast<const TokenSimulator&>(*simulator);
  std::vector<std::int64_t> accepted_tokens(12, 0);
  std::vector<std::int64_t> replacements(12, 0);
  std::vector<std::int64_t> bonus_after(144, 0);
  for (std::uint64_t point = 0; point < 6000; ++point) {
    const auto sequence = emitter.emit_block({.seed = 3, .point = point}, 0).front();
    const auto first = static_cast<std::size_t>(sequence[0].token);
    if (sequence.size() == 2) {
      ++accepted_tokens[first];
      ++bonus_after[12 * first + static_cast<std::size_t>(sequence[1].token)];
    } else {
      ++replacements[first];
    }
  }
  for (const auto& counts : {accepted_tokens, replacements, bonus_after}) {
    const auto total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    const std::vector<double> uniform(counts.size(), total / static_cast<double>(counts.size()));
    CHECK(tests::chi_squared_p_value(counts, uniform) > tests::level_of_one(3));
  }
}

TEST_CASE("tokens of fresh iterations follow the geometric distribution") {
  tests::Simulation simulation = tests::simulation_of(tests::small_pair(), 4, 6000);
  tests::contexts_of(simulation) = Contexts::fresh;
  const Tally tally = run(*tests::simulator_of(simulation, pool_seed), fresh_key, 1);
  const double alpha = acceptance(tally).per_token.mean;
  const Estimate observed = tokens_per_iteration(tally);
  const double expected = 1.0 + alpha * (1.0 + alpha * (1.0 + alpha * (1.0 + alpha)));
  tests::check_estimate(observed, expected);
}

TEST_CASE("a fresh row is the softmax of its logits to single precision, and draws nothing beyond the vocabulary") {
  constexpr std::size_t vocabulary = 45;
  FreshRow row(vocabulary);
  std::vector<double> logits;
  for (std::size_t x = 0; x < vocabulary; ++x) {
    logits.push_back(0.25 * static_cast<double>(x * 17 % 45));
    row.logits()[x] = static_cast<float>(logits[x]);
  }
  std::vector<double> expected(vocabulary);
  std::vector<double> distribution(vocabulary);
  for (const double temperature : {0.0, 0.5, 1.0, 3.0}) {
    softmax(logits, temperature, expected);
    row.from_logits({.temperature = temperature});
    row.distribution(distribution);
    CHECK(std::abs(row_sum(distribution) - 1.0) < tests::few_ulp);
    for (std::size_t x = 0; x < vocabulary; ++x) {
      CHECK(distribution[x] == Approx(expected[x]).epsilon(5.0 * tests::single_precision).margin(0.0));
      CHECK(row.probability(static_cast<Token>(x)) == Approx(distribution[x]).epsilon(tests::few_ulp).margin(0.0));
    }
  }
}

TEST_CASE("a fresh row at temperature 0 takes the lowest of the largest logits") {
  FreshRow row(4);
  const std::vector<float> logits{0.5F, 2.0F, 2.0F, -1.0F};
  std::copy(logits.begin(), logits.end(), row.logits().begin());
  row.from_logits({.temperature = 0.0});
  std::vector<double> distribution(4);
  row.distribution(distribution);
  CHECK(distribution == std::vector<double>{0.0, 1.0, 0.0, 0.0});
}

// 100,000 draws in 45 cells detect an error of about 10 % in one of the largest cells.
TEST_CASE("a fresh row draws from its own distribution") {
  constexpr std::size_t vocabulary = 45;
  FreshRow row(vocabulary);
  for (std::size_t x = 0; x < vocabulary; ++x) row.logits()[x] = 0.1F * static_cast<float>(x * 17 % 45);
  row.from_logits({});
  std::vector<double> expected(vocabulary);
  row.distribution(expected);
  constexpr int draws = 100'000;
  for (double& probability : expected) probability *= draws;
  std::vector<std::int64_t> counts(vocabulary, 0);
  RandomStream random(1, {.purpose = Purpose::test, .point = 0, .block = 0});
  for (int i = 0; i < draws; ++i) ++counts[static_cast<std::size_t>(row.draw(random))];
  CHECK(tests::chi_squared_p_value(counts, expected) > tests::family_level);
}

}  // namespace foredraft::sim
