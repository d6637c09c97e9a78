// SPDX-License-Identifier: Apache-2.0
// Block verification: its joint distribution by enumeration, its gain, and the simulators against both.
#include "sim/token/distribution/block_verification.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "core/random_stream.hpp"
#include "sim/estimates.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/token_simulator.hpp"
#include "tests/sim/token/block_enumeration.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

/// Distributions that differ after every sequence of tokens, drawn once; some tokens have no mass.
class DependentModels {
 public:
  DependentModels(std::size_t vocabulary, std::uint64_t seed, double zeros) : vocabulary_(vocabulary) {
    std::vector<std::vector<std::size_t>> prefixes{{}};
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      rows_[prefixes[i]] = draw(seed, i, zeros);
      for (std::size_t x = 0; x < vocabulary && prefixes[i].size() < max_prefix; ++x) {
        prefixes.push_back(prefixes[i]);
        prefixes.back().push_back(x);
      }
    }
  }

  [[nodiscard]] PositionDistributions at(const std::vector<std::size_t>& prefix) const {
    const auto& [p, q] = rows_.at(prefix);
    return {.target = p, .draft = q};
  }

  /// For enumerate_block().
  [[nodiscard]] std::vector<tests::PossibleContext> operator()(const tests::PlacedTokens& before) const {
    std::vector<std::size_t> prefix;
    for (const tests::PlacedToken& token : before) prefix.push_back(token.token);
    return {{.context = 0, .probability = 1.0, .distributions = at(prefix)}};
  }

  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }

  static constexpr std::size_t max_prefix = 3;

 private:
  using Rows = std::pair<std::vector<double>, std::vector<double>>;

  [[nodiscard]] Rows draw(std::uint64_t seed, std::size_t i, double zeros) const {
    RandomStream random(seed, {.purpose = Purpose::test, .point = 1, .block = i});
    const auto row = [&] {
      std::vector<double> weights(vocabulary_);
      for (double& weight : weights) weight = random.uniform() < zeros ? 0.0 : std::pow(random.uniform(), 2.0);
      weights[i % vocabulary_] += 0.01;
      normalize(weights);
      return weights;
    };
    Rows rows;
    rows.first = row();
    rows.second = row();
    return rows;
  }

  std::size_t vocabulary_;
  std::map<std::vector<std::size_t>, Rows> rows_;
};

/// The target's probability of these tokens.
double target_probability(const DependentModels& models, const std::vector<std::size_t>& tokens) {
  double probability = 1.0;
  std::vector<std::size_t> prefix;
  for (const std::size_t token : tokens) {
    probability *= models.at(prefix).target[token];
    prefix.push_back(token);
  }
  return probability;
}

/// The joint distribution of the first three tokens: those of an iteration, completed by the target.
std::map<std::vector<std::size_t>, double> joint_of_three(const DependentModels& models, std::size_t gamma) {
  std::map<std::vector<std::size_t>, double> joint;
  const auto complete = [&](const auto& self, std::vector<std::size_t>& tokens, double probability) -> void {
    if (tokens.size() >= 3) {
      joint[{tokens.begin(), tokens.begin() + 3}] += probability;
      return;
    }
    const std::span<const double> target = models.at(tokens).target;
    for (std::size_t x = 0; x < target.size(); ++x) {
      tokens.push_back(x);
      self(self, tokens, probability * target[x]);
      tokens.pop_back();
    }
  };
  tests::enumerate_block(gamma, models, [&](const tests::PlacedTokens& emitted, double probability) {
    std::vector<std::size_t> tokens;
    for (const tests::PlacedToken& placed : emitted) tokens.push_back(placed.token);
    complete(complete, tokens, probability);
  });
  return joint;
}

/// Expected tokens of an iteration of rejection sampling, one draft after the other.
double expected_single_tokens(const DependentModels& models, std::size_t gamma, std::vector<std::size_t> prefix = {}) {
  if (prefix.size() == gamma) return 1.0;
  const auto [p, q] = models.at(prefix);
  double tokens = 1.0;
  for (std::size_t x = 0; x < models.vocabulary(); ++x) {
    const double accepted = std::min(p[x], q[x]);
    if (!(accepted > 0.0)) continue;
    prefix.push_back(x);
    tokens += accepted * expected_single_tokens(models, gamma, prefix);
    prefix.pop_back();
  }
  return tokens;
}

tests::Simulation block_of(Models models, std::int64_t gamma, std::uint64_t iterations) {
  tests::Simulation simulation = tests::simulation_of(std::move(models), gamma, iterations);
  simulation.token().rule = BlockVerification{};
  return simulation;
}

}  // namespace

TEST_CASE("block verification emits the target's joint distribution of three tokens, for any prefix") {
  for (std::size_t vocabulary = 3; vocabulary <= 5; ++vocabulary) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const DependentModels models(vocabulary, seed, seed % 2 == 0 ? 0.0 : 0.3);
      for (std::size_t gamma = 1; gamma <= 3; ++gamma) {
        CAPTURE(vocabulary, seed, gamma);
        double furthest = 0.0;
        double sum = 0.0;
        for (const auto& [tokens, probability] : joint_of_three(models, gamma)) {
          furthest = std::max(furthest, std::abs(probability - target_probability(models, tokens)));
          sum += probability;
        }
        CHECK(furthest < tests::second_route);
        CHECK(sum == Approx(1.0).epsilon(tests::second_route));
      }
    }
  }
}

TEST_CASE("block verification emits at least as many tokens as rejection sampling, and the same with one draft") {
  double largest = 0.0;
  for (std::size_t vocabulary = 2; vocabulary <= 5; ++vocabulary) {
    for (std::uint64_t seed = 0; seed < 15; ++seed) {
      const DependentModels models(vocabulary, 100 + seed, seed % 3 == 0 ? 0.3 : 0.0);
      CHECK(tests::expected_block_tokens(1, models) ==
            Approx(expected_single_tokens(models, 1)).epsilon(tests::second_route));
      for (std::size_t gamma = 2; gamma <= 3; ++gamma) {
        const double block = tests::expected_block_tokens(gamma, models);
        const double single = expected_single_tokens(models, gamma);
        CHECK(block >= single - tests::second_route);
        largest = std::max(largest, block / single);
      }
    }
  }
  CHECK(largest > 1.05);
}

TEST_CASE("if p and q are point masses, block verification accepts what rejection sampling does") {
  // Tokens 0, then 1 in both, then 2 against 0: two drafts are accepted, and token 0 follows.
  const std::vector<std::vector<double>> p{{1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
  const std::vector<std::vector<double>> q{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 1}};
  const auto at = [&](const tests::PlacedTokens& before) {
    return std::vector<tests::PossibleContext>{
        {.context = 0, .probability = 1.0, .distributions = {.target = p[before.size()], .draft = q[before.size()]}}};
  };
  double total = 0.0;
  tests::enumerate_block(3, at, [&](const tests::PlacedTokens& tokens, double probability) {
    total += probability;
    CHECK(tokens == tests::PlacedTokens{{0, 0}, {0, 1}, {0, 0}});
  });
  CHECK(total == 1.0);
}

TEST_CASE("by hand: two drafts, the second of which compensates for the first") {
  // p = (1/2, 1/2), q = (3/4, 1/4) everywhere. Drafts (0, 1): P_1 = 2/3, P_2 = min(1, 2/3 * 2) = 1: both are accepted,
  // where rejection sampling rejects the first with 1/3.
  const std::vector<double> p{0.5, 0.5};
  const std::vector<double> q{0.75, 0.25};
  CHECK(block_ratio(1.0, p[0], q[0]) == Approx(2.0 / 3.0).epsilon(tests::few_ulp));
  CHECK(block_ratio(2.0 / 3.0, p[1], q[1]) == 1.0);
  // S_1 = max(0, 1/3 - 3/4) + max(0, 1/3 - 1/4) = 1/12, h_1 = (1/12) / (1/12 + 1/3) = 1/5.
  const double mass = block_residual_mass(2.0 / 3.0, {.target = p, .draft = q});
  CHECK(mass == Approx(1.0 / 12.0).epsilon(tests::few_ulp));
  CHECK(block_acceptance(2.0 / 3.0, mass) == Approx(0.2).epsilon(10 * tests::few_ulp));
  CHECK(block_acceptance(1.0, 0.0) == 1.0);
  CHECK(block_acceptance(0.0, 0.0) == 0.0);
  CHECK(block_ratio(0.0, 0.5, 1e-320) == 0.0);
  CHECK(block_ratio(0.5, 0.5, 1e-320) == 1.0);
  // First draft 0 (3/4), then 0: P_2 = 4/9, h_1 = 1/5; then 1: both. First draft 1 (1/4): P_1 = 1, then 0: P_2 = 2/3.
  // Accepted: 3/4 (3/4 (4/9 * 2 + 5/9 * 1/5) + 1/4 * 2) + 1/4 (3/4 (2/3 * 2 + 1/3) + 1/4 * 2).
  const double accepted = 0.75 * (0.75 * (8.0 / 9.0 + 1.0 / 9.0) + 0.5) + 0.25 * (0.75 * (5.0 / 3.0) + 0.5);
  const GivenDistributions one{.target = {p}, .draft = {q}};
  const auto pool = [&](const tests::PlacedTokens& /*before*/) { return tests::pool_of(one); };
  CHECK(tests::expected_block_tokens(2, pool) == Approx(1.0 + accepted).epsilon(10 * tests::few_ulp));
  CHECK(1.0 + accepted > 1.0 + 0.75 + 0.75 * 0.75);  // of rejection sampling: alpha = 3/4
}

// 300,000 iterations: a standard error of about 0.002.
TEST_CASE("simulated blocks emit as many tokens as the enumeration, down to temperature 0") {
  const std::int64_t gamma = GENERATE(1, 2, 3);
  const double temperature = GENERATE(0.0, 1.0);
  const GivenDistributions table = tests::three_contexts();
  tests::Simulation simulation = block_of(tests::given(table), gamma, 300'000);
  simulation.token().temperature = temperature;
  const auto simulator = tests::simulator_of(simulation, 5);
  CHECK(std::isnan(expected_acceptance(*simulator)) == (gamma > 1));
  const Estimate simulated = tokens_per_iteration(run(*simulator, {.seed = 3, .point = 1}, 1));
  GivenDistributions sharp = table;
  for (auto* rows : {&sharp.target, &sharp.draft}) {
    for (std::vector<double>& row : *rows) apply_temperature(row, temperature);
  }
  const auto pool = [&](const tests::PlacedTokens& /*before*/) { return tests::pool_of(sharp); };
  const double expected = tests::expected_block_tokens(static_cast<std::size_t>(gamma), pool);
  CHECK(std::abs(simulated.mean - expected) <= tests::standard_errors * simulated.standard_error + tests::few_ulp);
  if (temperature == 1.0 && gamma > 1) {
    CHECK(expected > 1.0 + tests::three_contexts_alpha * (gamma == 2 ? 1.0 + tests::three_contexts_alpha : 1.7));
  }
}

// 400,000 iterations of three drafts: about 400,000 in 15^3 cells of three tokens, a relative deviation of 5 %.
TEST_CASE("simulated blocks emit the same tokens as the enumeration of an iteration", "[long]") {
  constexpr std::size_t cells = 15;
  const GivenDistributions table = tests::three_contexts();
  const auto pool = [&](const tests::PlacedTokens& /*before*/) { return tests::pool_of(table); };
  const auto convention = GENERATE(Convention::bonus, Convention::no_bonus);
  constexpr std::size_t gamma = 2;
  const auto place = [](const auto& tokens, const auto& cell) {
    std::size_t sum = 0;
    for (const auto& token : tokens) sum = sum * (cells + 1) + cell(token) + 1;
    return sum;
  };
  std::vector<double> expected((cells + 1) * (cells + 1) * (cells + 1), 0.0);
  tests::enumerate_block(gamma, pool, [&](tests::PlacedTokens tokens, double probability) {
    if (convention == Convention::no_bonus && tokens.size() > gamma) tokens.pop_back();
    expected[place(tokens, [](const tests::PlacedToken& token) { return 5 * token.context + token.token; })] +=
        probability;
  });
  constexpr std::int64_t iterations = 400'000;
  for (double& probability : expected) probability *= iterations;
  tests::Simulation simulation = block_of(tests::given(table), gamma, iterations);
  simulation.scenario.convention = convention;
  const auto simulator = tests::simulator_of(simulation, 5);
  const auto& emitter = dynamic_cast<const TokenSimulator&>(*simulator);
  std::vector<std::int64_t> counts(expected.size(), 0);
  for (std::uint64_t block = 0; block < emitter.blocks(); ++block) {
    for (const auto& tokens : emitter.emit_block({.seed = 8, .point = 0}, block)) {
      ++counts[place(
          tokens, [](const EmittedToken& token) { return static_cast<std::size_t>(5 * token.context + token.token); })];
    }
  }
  CHECK(tests::chi_squared_p_value(counts, expected) > tests::level_of_one(2));
}

// 200,000 iterations of a pool of two contexts over 50 tokens: 300,000 pairs in 10^4 cells and 100 cells of one token.
TEST_CASE("at 50 tokens the tokens of simulated blocks are independent draws of the target", "[long]") {
  SyntheticModels pair = tests::small_pair();
  pair.vocabulary = 50;
  pair.pool = 2;
  constexpr std::size_t cells = 100;
  tests::Simulation simulation = block_of(pair, 4, 200'000);
  const SyntheticPool pool(pair, 5);
  const GivenDistributions written = written_out(pool);
  const auto simulator = tests::simulator_of(simulation, 5);
  const auto& emitter = dynamic_cast<const TokenSimulator&>(*simulator);
  std::vector<std::int64_t> single(cells, 0);
  std::vector<std::int64_t> pairs(cells * cells, 0);
  std::int64_t tokens = 0;
  std::size_t before = 0;
  for (std::uint64_t block = 0; block < emitter.blocks(); ++block) {
    for (const auto& sequence : emitter.emit_block({.seed = 8, .point = 0}, block)) {
      for (const EmittedToken& emitted : sequence) {
        const auto cell = static_cast<std::size_t>(50 * emitted.context + emitted.token);
        ++single[cell];
        if (++tokens % 2 == 0) ++pairs[cells * before + cell];
        before = cell;
      }
    }
  }
  std::vector<double> expected_single;
  for (const auto& row : written.target) {
    for (const double p : row) expected_single.push_back(0.5 * p);
  }
  std::vector<double> expected_pairs;
  for (const double first : expected_single) {
    for (const double second : expected_single) {
      expected_pairs.push_back(first * second * static_cast<double>(tokens / 2));
    }
  }
  for (double& probability : expected_single) probability *= static_cast<double>(tokens);
  CHECK(tests::chi_squared_p_value(single, expected_single) > tests::level_of_one(2));
  CHECK(tests::chi_squared_p_value(pairs, expected_pairs) > tests::level_of_one(2));
}

// 5,000 iterations and a pool of 2,400: the difference has a standard error of about 0.02.
TEST_CASE("block verification accepts equally in pooled and fresh contexts") {
  SyntheticModels pair = tests::small_pair();
  pair.vocabulary = 20;
  pair.pool = 2400;
  tests::Simulation simulation = block_of(pair, 4, 100'000);
  const Estimate pooled = tokens_per_iteration(run(*tests::simulator_of(simulation, 5), {.seed = 3, .point = 2}, 1));
  simulation.plan.iterations = 5000;
  tests::contexts_of(simulation) = Contexts::fresh;
  const Estimate fresh = tokens_per_iteration(run(*tests::simulator_of(simulation, 5), {.seed = 3, .point = 2}, 1));
  constexpr double pool_error = 0.01;  // of the pool's mean acceptance 0.003
  CHECK(std::abs(fresh.mean - pooled.mean) <=
        tests::standard_errors * std::hypot(fresh.standard_error, pooled.standard_error, pool_error));
  simulation.token().rule = RejectionSampling{};
  const Estimate single = tokens_per_iteration(run(*tests::simulator_of(simulation, 5), {.seed = 3, .point = 2}, 1));
  CHECK(fresh.mean > single.mean);
}

}  // namespace foredraft::sim
