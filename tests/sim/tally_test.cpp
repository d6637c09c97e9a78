// SPDX-License-Identifier: Apache-2.0
#include "sim/tally.hpp"

#include <catch2/catch.hpp>

namespace foredraft::sim {
namespace {

/// gamma 2 with bonus: one iteration accepting both, one rejecting the second.
Tally two_iterations() {
  Tally tally = empty_tally(2, Convention::bonus);
  tally.units.add({3, 1, 2, 2, 2, 2});
  tally.units.add({2, 1, 2, 2, 1, 2});
  tally.tokens_count = {0, 1, 1};
  tally.drafted_at = {2, 2};
  tally.tested_at = {2, 2};
  tally.accepted_at = {2, 1};
  return tally;
}

}  // namespace

TEST_CASE("a consistent tally passes the conservation check and merges to twice its counts") {
  Tally tally = two_iterations();
  CHECK_NOTHROW(check_conservation(tally));
  tally.merge(two_iterations());
  CHECK_NOTHROW(check_conservation(tally));
  CHECK(tally.units.count() == 4);
  CHECK(tally.accepted_at == std::vector<std::uint64_t>{4, 2});
}

TEST_CASE("the conservation check detects a dropped bonus token, a lost draft and an impossible test") {
  Tally dropped_bonus = two_iterations();
  dropped_bonus.tokens_count = {0, 2, 0};
  CHECK_THROWS_WITH(check_conservation(dropped_bonus), Catch::Contains("histogram"));

  Tally lost_draft = two_iterations();
  lost_draft.drafted_at = {2, 1};
  CHECK_THROWS_AS(check_conservation(lost_draft), std::logic_error);

  Tally impossible = two_iterations();
  impossible.accepted_at = {1, 2};
  CHECK_THROWS_WITH(check_conservation(impossible), Catch::Contains("not accepted"));
}

TEST_CASE("merging an empty tally changes nothing") {
  Tally tally = two_iterations();
  tally.merge(Tally{});
  CHECK(tally == two_iterations());
  Tally empty;
  empty.merge(two_iterations());
  CHECK(empty == two_iterations());
}

}  // namespace foredraft::sim
