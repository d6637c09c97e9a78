// SPDX-License-Identifier: Apache-2.0
#include "sim/token/pooled/synthetic_pool.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/token/models/model_pair.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

SyntheticModels pair_of(TargetDistribution target, DraftDistribution draft, double alpha) {
  SyntheticModels pair = tests::small_pair();
  pair.target = target;
  pair.parameter = target == TargetDistribution::dirichlet ? 0.3 : 1.5;
  pair.draft = draft;
  pair.alpha = alpha;
  return pair;
}

/// The sum that defines alpha, not the function that the solver uses.
double mean_sum_of_minima(const SyntheticPool& pool) {
  std::vector<double> p(pool.vocabulary());
  std::vector<double> q(pool.vocabulary());
  double total = 0.0;
  for (std::size_t k = 0; k < pool.contexts(); ++k) {
    pool.target_distribution(k, 1.0, p);
    pool.draft_distribution(k, pool.strength(), 1.0, q);
    for (std::size_t x = 0; x < p.size(); ++x) total += std::min(p[x], q[x]);
  }
  return total / static_cast<double>(pool.contexts());
}

std::vector<double> target_row(TargetDistribution distribution, double parameter, std::int64_t vocabulary,
                               std::uint64_t index) {
  const SyntheticTarget target(distribution, parameter, vocabulary);
  std::vector<float> row(target.row_size());
  std::vector<std::uint64_t> words;
  target.logits(7, {.purpose = Purpose::test, .point = 0, .block = 0}, index, row, words);
  std::vector<double> probabilities(target.vocabulary());
  softmax(std::vector<double>(row.begin(), row.begin() + vocabulary), 1.0, probabilities);
  return probabilities;
}

}  // namespace

TEST_CASE("the strength is solved so that the mean of sum min(p, q) over the pool is alpha") {
  const auto target =
      GENERATE(TargetDistribution::zipf, TargetDistribution::gaussian_logits, TargetDistribution::dirichlet);
  const auto draft = GENERATE(DraftDistribution::noise, DraftDistribution::temperature, DraftDistribution::mixing);
  const double alpha = GENERATE(0.55, 0.8, 0.999, 1.0 - 1e-9);
  CAPTURE(target, draft, alpha);
  const SyntheticPool pool(pair_of(target, draft, alpha), 11);
  CHECK(pool.strength() > 0.0);
  CHECK(std::abs(mean_sum_of_minima(pool) - alpha) < tests::solved_root);
  CHECK(std::abs(pool.mean_overlap(pool.strength()) - alpha) < tests::solved_root * (1.0 - alpha) + tests::few_ulp);
}

TEST_CASE("alpha 1 makes the draft the target, bit for bit") {
  const auto draft = GENERATE(DraftDistribution::noise, DraftDistribution::temperature, DraftDistribution::mixing);
  const SyntheticPool pool(pair_of(TargetDistribution::gaussian_logits, draft, 1.0), 11);
  std::vector<double> p(pool.vocabulary());
  std::vector<double> q(pool.vocabulary());
  for (const double temperature : {0.0, 0.5, 1.0, 2.0}) {
    pool.target_distribution(3, temperature, p);
    pool.draft_distribution(3, pool.strength(), temperature, q);
    if (draft == DraftDistribution::mixing && temperature != 1.0) {
      for (std::size_t x = 0; x < p.size(); ++x) CHECK(q[x] == Approx(p[x]).epsilon(tests::second_route).margin(0.0));
    } else {
      CHECK(p == q);
    }
  }
}

TEST_CASE("an unreachable alpha is rejected with the range that can be reached") {
  // A draft hotter than the target cannot fall below the overlap with the uniform distribution, a mixture not below the
  // overlap with another context.
  const auto draft = GENERATE(DraftDistribution::temperature, DraftDistribution::mixing);
  CHECK_THROWS_WITH(SyntheticPool(pair_of(TargetDistribution::gaussian_logits, draft, 0.01), 11),
                    Catch::StartsWith("invalid alpha=0.01 (must lie in [0.") && Catch::Contains(", 1]"));
  SyntheticModels single = pair_of(TargetDistribution::zipf, DraftDistribution::mixing, 0.9);
  single.pool = 1;  // a single context is its own partner
  CHECK_THROWS_WITH(SyntheticPool(single, 11), Catch::Contains("must lie in [1, 1]"));
}

TEST_CASE("the context of a pool depends only on the seed") {
  const SyntheticModels pair = pair_of(TargetDistribution::dirichlet, DraftDistribution::noise, 0.7);
  SyntheticModels larger = pair;
  larger.pool = 41;
  std::vector<double> a(60);
  std::vector<double> b(60);
  SyntheticPool(pair, 11).target_distribution(5, 1.0, a);
  SyntheticPool(larger, 11).target_distribution(5, 1.0, b);
  CHECK(a == b);
  SyntheticPool(pair, 12).target_distribution(5, 1.0, b);
  CHECK(a != b);
  SyntheticPool(pair, 11).target_distribution(6, 1.0, b);
  CHECK(a != b);
}

TEST_CASE("zipf contexts hold p(rank) proportional to rank^-s, each in its own order") {
  std::vector<double> row = target_row(TargetDistribution::zipf, 1.3, 500, 2);
  CHECK(row != target_row(TargetDistribution::zipf, 1.3, 500, 3));
  CHECK_FALSE(std::is_sorted(row.rbegin(), row.rend()));
  std::sort(row.rbegin(), row.rend());
  double sum = 0.0;
  for (int rank = 1; rank <= 500; ++rank) sum += std::pow(rank, -1.3);
  for (int rank = 1; rank <= 500; ++rank) {
    CHECK(row[static_cast<std::size_t>(rank - 1)] ==
          Approx(std::pow(rank, -1.3) / sum).epsilon(tests::single_precision));
  }
}

// 60,000 shuffles in 16 cells detect an error of 3 % in a position.
TEST_CASE("the shuffle puts every rank at every position equally often") {
  constexpr int vocabulary = 4;
  constexpr int shuffles = 60'000;
  const SyntheticTarget target(TargetDistribution::zipf, 1.0, vocabulary);
  std::vector<float> row(target.row_size());
  std::vector<std::uint64_t> words;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(vocabulary) * vocabulary, 0);
  for (std::uint64_t i = 0; i < shuffles; ++i) {
    target.logits(7, {.purpose = Purpose::test, .point = 0, .block = 0}, i, row, words);
    for (std::size_t x = 0; x < vocabulary; ++x) {
      const auto rank = static_cast<std::size_t>(std::lround(std::exp(-row[x]))) - 1;
      ++counts[rank * vocabulary + x];
    }
  }
  CHECK(tests::chi_squared_p_value(counts, std::vector<double>(counts.size(), shuffles / 4.0)) > tests::family_level);
}

// The first probability of a symmetric Dirichlet distribution over V tokens is Beta(a, (V - 1) a). 20,000 contexts in
// 20 cells detect an error of 25 % in a cell; a missing correction of a shape below 1 causes a far larger one.
TEST_CASE("dirichlet contexts have Beta marginals, above and below concentration 1") {
  const double a = GENERATE(0.2, 1.0, 3.0);
  CAPTURE(a);
  constexpr std::int64_t vocabulary = 5;
  constexpr int contexts = 20'000;
  constexpr int cells = 20;
  const boost::math::beta_distribution<double> distribution(a, 4.0 * a);
  std::vector<std::int64_t> counts(cells, 0);
  for (int i = 0; i < contexts; ++i) {
    const double first =
        target_row(TargetDistribution::dirichlet, a, vocabulary, static_cast<std::uint64_t>(i)).front();
    ++counts[static_cast<std::size_t>(std::min(cells - 1.0, boost::math::cdf(distribution, first) * cells))];
  }
  CHECK(tests::chi_squared_p_value(counts, std::vector<double>(cells, contexts / static_cast<double>(cells))) >
        tests::level_of_one(3));
}

TEST_CASE("a tiny concentration does not underflow and leaves no row without mass") {
  const std::vector<double> row = target_row(TargetDistribution::dirichlet, 1e-4, 1000, 0);
  CHECK(std::abs(row_sum(row) - 1.0) < tests::few_ulp);
  CHECK(*std::max_element(row.begin(), row.end()) > 0.99);
}

TEST_CASE("a pool above 2 GiB is rejected") {
  SyntheticModels pair = tests::small_pair();
  pair.pool = 1000;
  pair.vocabulary = 256'000;
  CHECK_THROWS_WITH(SyntheticPool(pair, 1), Catch::StartsWith("invalid pool=1000") && Catch::Contains("2 GiB"));
}

}  // namespace foredraft::sim
