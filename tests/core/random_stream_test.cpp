// SPDX-License-Identifier: Apache-2.0
#include "core/random_stream.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "foredraft/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {
namespace {

constexpr std::uint64_t seed = 20231118;
constexpr StreamId stream_id{.purpose = Purpose::test, .point = 3, .block = 4};

}  // namespace

TEST_CASE("Philox4x32-10 gives the known answers published with Random123") {
  CHECK(philox4x32_10({0, 0, 0, 0}, {0, 0}) == PhiloxWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(philox4x32_10({ones, ones, ones, ones}, {ones, ones}) ==
        PhiloxWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  // Digits of pi.
  CHECK(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("each field of a stream has its own bits of the counter") {
  const auto counter = philox_counter({.purpose = Purpose::test, .point = 0xfffffffe, .block = 0x12345678},
                                      (std::uint64_t{0xabcdef} << 32U) | 0x89abcdef);
  CHECK(counter == PhiloxWords{0x89abcdef, 0x12345678, 0xfffffffe, 0xffabcdef});
  CHECK(philox_key(0x0123456789abcdef) == std::array<std::uint32_t, 2>{0x89abcdef, 0x01234567});
}

TEST_CASE("a field that does not fit its bits is rejected, never wrapped") {
  constexpr std::uint64_t too_large = std::uint64_t{1} << 32U;
  CHECK_THROWS_MATCHES(philox_counter({.purpose = Purpose::test, .point = too_large, .block = 0}, 0), DomainError,
                       Says("invalid point=4294967296"));
  CHECK_THROWS_AS(philox_counter({.purpose = Purpose::test, .point = 0, .block = too_large}, 0), DomainError);
  CHECK_THROWS_AS(philox_counter(stream_id, std::uint64_t{1} << 56U), DomainError);
  CHECK_NOTHROW(philox_counter(stream_id, (std::uint64_t{1} << 56U) - 1));
  CHECK_THROWS_AS(RandomStream(seed, {.purpose = Purpose::test, .point = too_large, .block = 0}), DomainError);
}

TEST_CASE("streams that differ in only one field share no draw") {
  std::set<std::uint64_t> first_draws;
  std::size_t streams = 0;
  for (const std::uint64_t s : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 32U}) {
    for (const auto purpose : {Purpose::survival, Purpose::bernoulli, Purpose::test}) {
      for (std::uint64_t point = 0; point < 3; ++point) {
        for (std::uint64_t block = 0; block < 3; ++block) {
          RandomStream random(s, {.purpose = purpose, .point = point, .block = block});
          first_draws.insert(random.next_u64());
          ++streams;
        }
      }
    }
  }
  CHECK(first_draws.size() == streams);
}

TEST_CASE("sequential reading takes the words of successive draws in order") {
  RandomStream random(seed, stream_id);
  for (std::uint64_t index = 0; index < 3; ++index) {
    const PhiloxWords words = philox4x32_10(philox_counter(stream_id, index), philox_key(seed));
    for (const std::uint32_t word : words) CHECK(random.next_u32() == word);
  }
}

TEST_CASE("a 64-bit draw takes a whole half of a Philox draw, low word first, also after an odd 32-bit draw") {
  const PhiloxWords words = philox4x32_10(philox_counter(stream_id, 0), philox_key(seed));
  const PhiloxWords next = philox4x32_10(philox_counter(stream_id, 1), philox_key(seed));
  RandomStream random(seed, stream_id);
  CHECK(random.next_u32() == words[0]);
  CHECK(random.next_u64() == ((std::uint64_t{words[3]} << 32U) | words[2]));
  CHECK(random.next_u64() == ((std::uint64_t{next[1]} << 32U) | next[0]));
  CHECK(random.next_u32() == next[2]);
  CHECK(random.next_u32() == next[3]);
}

TEST_CASE("seek gives random access to any draw") {
  RandomStream sequential(seed, stream_id);
  std::vector<std::uint64_t> draws(20);
  for (auto& draw : draws) draw = sequential.next_u64();
  RandomStream random(seed, stream_id);
  for (const std::size_t index : {7U, 0U, 9U, 3U}) {
    random.seek(index);
    CHECK(random.next_u64() == draws[2 * index]);
    CHECK(random.next_u64() == draws[2 * index + 1]);
  }
}

TEST_CASE("uniform draws lie between 0 and 1 and fill 64 cells evenly") {
  // 640,000 draws detect a cell that is off by 9 % with probability 0.7, by 10 % with 0.9.
  std::vector<std::int64_t> observed(64, 0);
  const std::vector<double> expected(64, 10'000.0);
  RandomStream random(seed, stream_id);
  for (int i = 0; i < 640'000; ++i) {
    const double u = random.uniform();
    REQUIRE((u >= 0.0 && u < 1.0));
    ++observed[static_cast<std::size_t>(u * 64.0)];
  }
  CHECK(tests::chi_squared_p_value(observed, expected) > tests::family_level);
}

}  // namespace foredraft
