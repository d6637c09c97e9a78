// SPDX-License-Identifier: Apache-2.0
#include "sim/token/pooled/pooled_tables.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/errors.hpp"
#include "sim/token/distribution/block_verification.hpp"
#include "tests/sim/token/named_rule.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {

TEST_CASE("an acceptance of 0 never accepts and one of 1 always does, for any random word") {
  constexpr std::uint64_t largest = ~std::uint64_t{0};
  CHECK_FALSE(accepts(0, acceptance_threshold(0.0)));
  CHECK(accepts(largest, acceptance_threshold(1.0)));
  CHECK(accepts(largest / 2, acceptance_threshold(0.5)));
  CHECK_FALSE(accepts(largest / 2 + 1, acceptance_threshold(0.5)));
  CHECK(acceptance_threshold(0.3) == 644'245'094);  // 0.3 * 2^31 = 644,245,094.4
}

TEST_CASE("a row's slots carry the thresholds of the tokens they lead to") {
  const GivenDistributions table = tests::three_contexts();
  const auto rule = tests::make_named_rule("rejection_sampling", {});
  PooledTables tables(5, 3);
  for (std::size_t k = 0; k < 3; ++k) tables.add(*rule, {.target = table.target[k], .draft = table.draft[k]});
  for (std::size_t k = 0; k < 3; ++k) {
    const auto threshold = [&table, k](std::size_t x) {
      const double q = table.draft[k][x];
      return q > 0.0 ? acceptance_threshold(std::min(1.0, table.target[k][x] / q)) : 0U;
    };
    for (std::size_t x = 0; x < 5; ++x) {
      const DraftSlot& slot = tables.draft()[5 * k + x];
      CHECK(slot.accept_own == threshold(x));
      CHECK(slot.accept_alias == threshold(alias_of(slot.alias)));
    }
  }
  CHECK(tables.contexts() == 3);
  CHECK(tables.expected_acceptance() == Approx(tests::three_contexts_alpha).epsilon(tests::few_ulp));
}

TEST_CASE("tables of further candidates hold p and q and the mass of max(0, p - c q)") {
  const GivenDistributions table = tests::three_contexts();
  for (const CandidateDraws draws : {CandidateDraws::with_replacement, CandidateDraws::without_replacement}) {
    PooledCandidates candidates({.count = 4, .draws = draws});
    for (std::size_t k = 0; k < 3; ++k) candidates.add({.target = table.target[k], .draft = table.draft[k]});
    for (std::size_t k = 0; k < 3; ++k) {
      const auto mass = [&table, k](double c) {
        double sum = 0.0;
        for (std::size_t x = 0; x < 5; ++x) sum += std::max(0.0, table.target[k][x] - c * table.draft[k][x]);
        return sum;
      };
      for (std::size_t x = 0; x < 5; ++x) {
        CHECK(candidates.pairs()[5 * k + x].target == table.target[k][x]);
        CHECK(candidates.pairs()[5 * k + x].draft == table.draft[k][x]);
      }
      CHECK(candidates.first_mass(k) == Approx(mass(1.0)).epsilon(tests::few_ulp));
      double c = 1.0;
      for (std::size_t rejections = 2; rejections < 4; ++rejections) {
        c += mass(c);
        CHECK(candidates.mass(k, rejections, c) == Approx(mass(c)).epsilon(tests::few_ulp));
      }
    }
  }
}

TEST_CASE("tables of blocks hold p / q of a draft, q / p of a replacement, and whether U < h, on both sides of h") {
  const GivenDistributions table = tests::three_contexts();
  PooledBlocks blocks;
  for (std::size_t k = 0; k < 3; ++k) blocks.add({.target = table.target[k], .draft = table.draft[k]});
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<double>& p = table.target[k];
    const std::vector<double>& q = table.draft[k];
    for (std::size_t x = 0; x < 5; ++x) {
      const BlockSlot& drafted = blocks.draft()[5 * k + x];
      CHECK(drafted.ratio_own == (q[x] > 0.0 ? p[x] / q[x] : 0.0));
      const std::size_t alias = alias_of(drafted.alias);
      CHECK(drafted.ratio_alias == (q[alias] > 0.0 ? p[alias] / q[alias] : 0.0));
      CHECK(blocks.replacement()[5 * k + x].ratio_own == (p[x] > 0.0 ? q[x] / p[x] : 0.0));
    }
    for (double ratio = 1e-3; ratio < 1.0; ratio += 0.0037) {
      const double h = block_acceptance(ratio, block_residual_mass(ratio, {.target = p, .draft = q}));
      CHECK_FALSE(blocks.keeps(k, ratio, h * (1.0 + 1e-12) + 1e-15));
      if (h > 1e-9) CHECK(blocks.keeps(k, ratio, h * (1.0 - 1e-12)));
    }
    CHECK_FALSE(blocks.keeps(k, std::nextafter(1.0, 0.0), 1.0));
  }
}

TEST_CASE("a pool that would not fit is rejected before anything is allocated") {
  CHECK_THROWS_WITH(PooledTables(256'000, 1000),
                    "invalid pool=1000 (must be at most 174 at a vocabulary of 256000: a larger pool would take more "
                    "than 2 GiB)");
  CHECK_THROWS_AS(PooledTables(0, 1), DomainError);
  CHECK_THROWS_AS(PooledTables(256'001, 1), DomainError);
  CHECK_THROWS_AS(PooledTables(10, 0), DomainError);
}

}  // namespace foredraft::sim
