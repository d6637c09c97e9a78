// SPDX-License-Identifier: Apache-2.0
#include "foredraft/words.hpp"

#include <catch2/catch.hpp>

namespace foredraft {

TEST_CASE("gamma counts drafts under both conventions, and only one adds a bonus token") {
  static_assert(max_tokens(5, Convention::bonus) == 6);
  static_assert(max_tokens(5, Convention::no_bonus) == 5);
  static_assert(min_gamma(Convention::bonus) == 0);
  static_assert(min_gamma(Convention::no_bonus) == 1);
  SUCCEED();
}

TEST_CASE("a block drafter takes one pass for any number of drafts and none for none") {
  CHECK(draft_passes(5, Drafting::autoregressive) == 5);
  CHECK(draft_passes(5, Drafting::block) == 1);
  CHECK(draft_passes(0, Drafting::block) == 0);
}

TEST_CASE("a drafter that copies takes no pass for any number of drafts") {
  CHECK(draft_passes(0, Drafting::free) == 0);
  CHECK(draft_passes(1, Drafting::free) == 0);
  CHECK(draft_passes(500, Drafting::free) == 0);
}

TEST_CASE("names of conventions and drafters survive a round trip, other names are rejected") {
  for (const auto convention : {Convention::bonus, Convention::no_bonus}) {
    CHECK(parse_convention(to_string(convention)) == convention);
  }
  for (const auto drafting : {Drafting::autoregressive, Drafting::block, Drafting::free}) {
    CHECK(parse_drafting(to_string(drafting)) == drafting);
  }
  CHECK_FALSE(parse_convention("Bonus"));
  CHECK_FALSE(parse_drafting(""));
}

}  // namespace foredraft
