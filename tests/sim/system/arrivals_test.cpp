// SPDX-License-Identifier: Apache-2.0
#include "sim/system/arrivals.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

constexpr RunKey arrivals_key{.seed = 3, .point = 1};
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

}  // namespace

// 40,000 intervals detect errors of 2.5 % in the mean and 6 % in the second moment (2 for the exponential
// distribution).
TEST_CASE("intervals of a Poisson process have the mean and the second moment of the exponential distribution") {
  ArrivalStream stream({.kind = ArrivalKind::poisson, .rate_per_s = 50.0}, arrivals_key, 0);
  constexpr int count = 40'000;
  constexpr double mean_ns = 1e9 / 50.0;
  double sum = 0.0;
  double squares = 0.0;
  std::int64_t last = 0;
  for (int i = 0; i < count; ++i) {
    const double interval = static_cast<double>(stream.next_ns() - last) / mean_ns;
    last = stream.next_ns();
    stream.pop();
    sum += interval;
    squares += interval * interval;
  }
  CHECK(std::abs(sum / count - 1.0) <= tests::standard_errors * std::sqrt(1.0 / count));
  CHECK(std::abs(squares / count - 2.0) <= tests::standard_errors * std::sqrt((24.0 - 4.0) / count));
}

TEST_CASE("a copied stream gives the same times, another block different ones") {
  const Arrivals distribution{.kind = ArrivalKind::poisson, .rate_per_s = 1.0};
  ArrivalStream stream(distribution, arrivals_key, 0);
  ArrivalStream copy = stream;
  CHECK(ArrivalStream(distribution, arrivals_key, 1).next_ns() != stream.next_ns());
  for (int i = 0; i < 10; ++i) {
    CHECK(copy.next_ns() == stream.next_ns());
    copy.pop();
    stream.pop();
  }
}

TEST_CASE("regular arrivals do not drift, and a rate near zero never sends one") {
  ArrivalStream stream({.kind = ArrivalKind::regular, .rate_per_s = 3.0}, arrivals_key, 0);
  for (int i = 1; i < 3'000; ++i) stream.pop();
  CHECK(std::abs(static_cast<double>(stream.next_ns()) - 1e12) <= 1.0);
  CHECK(ArrivalStream({.kind = ArrivalKind::regular, .rate_per_s = 1e-12}, arrivals_key, 0).next_ns() == never);
}

TEST_CASE("a recording starts over one mean interval after its last request") {
  RequestRecording recording;
  for (const double arrival_s : {0.5, 1.0, 4.5}) recording.requests.push_back({.arrival_s = arrival_s});
  ArrivalStream stream({.kind = ArrivalKind::recorded}, arrivals_key, 0, &recording);
  CHECK(recording_period_s(recording) == 6.5);
  for (const double arrival_s : {0.5, 1.0, 4.5, 7.0, 7.5, 11.0, 13.5}) {
    CHECK(stream.next_ns() == std::llround(1e9 * arrival_s));
    stream.answered(stream.next_ns());
    stream.pop();
  }
}

TEST_CASE("a client sends its next request when it is answered") {
  ArrivalStream stream({.kind = ArrivalKind::closed, .clients = 2}, arrivals_key, 0);
  for (int i = 0; i < 2; ++i) {
    CHECK(stream.next_ns() == 0);
    stream.pop();
  }
  CHECK(stream.next_ns() == never);
  stream.answered(70);
  CHECK(stream.next_ns() == 70);
  ArrivalStream open({.kind = ArrivalKind::regular, .rate_per_s = 1.0}, arrivals_key, 0);
  open.answered(70);
  CHECK(open.next_ns() == 1'000'000'000);
}

}  // namespace foredraft::sim
