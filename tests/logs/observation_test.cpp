// SPDX-License-Identifier: Apache-2.0
#include "logs/observation.hpp"

#include <catch2/catch.hpp>

#include "tests/logs/logs_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {
namespace {

logs::Observation window(std::int64_t steps, double iteration_ms, double running) {
  return {.line = steps,
          .decoding = logs::Decoding::speculative,
          .gamma = 2,
          .acceptance =
              logs::AcceptanceCounts{
                  .steps = steps, .drafted_tokens = 2 * steps, .accepted_tokens = steps, .accepted_at = {steps, 0}},
          .requests = running,
          .times = {.duration_s = 10.0, .iteration_ms = iteration_ms}};
}

}  // namespace

TEST_CASE("pooled counts add up and times are weighted by the steps they are means of") {
  const logs::Observation both = logs::pooled(window(100, 20.0, 2.0), window(300, 40.0, 3.0));
  REQUIRE(both.acceptance);
  CHECK(both.acceptance->steps == 400);
  CHECK(both.acceptance->drafted_tokens == 800);
  CHECK(both.acceptance->accepted_tokens == 400);
  CHECK(both.acceptance->accepted_at == Counts{400, 0});
  CHECK(*both.times.iteration_ms == Approx(35.0).epsilon(few_ulp));
  CHECK(*both.times.duration_s == 20.0);
  CHECK(*both.requests == Approx(2.5).epsilon(few_ulp));
  CHECK(both.line == 300);
}

TEST_CASE("pooled observations lack values that one of them lacks") {
  logs::Observation other = window(300, 40.0, 3.0);
  other.times.iteration_ms = std::nullopt;
  other.acceptance->drafted_tokens = std::nullopt;
  const logs::Observation both = logs::pooled(window(100, 20.0, 2.0), other);
  CHECK_FALSE(both.times.iteration_ms);
  CHECK_FALSE(both.acceptance->drafted_tokens);
}

TEST_CASE("pooled rates without counts are their mean") {
  logs::Observation first{.acceptance_rate = 0.5}, second{.acceptance_rate = 0.75};
  CHECK(logs::pooled(first, second).acceptance_rate == 0.625);
  first.acceptance_rate.reset();
  CHECK_FALSE(logs::pooled(first, second).acceptance_rate);
}

TEST_CASE("pooled lengths without counts are weighted by the steps of their tokens") {
  logs::Observation first{.acceptance_length = 2.0, .times = {.duration_s = 10.0, .output_tokens_per_s = 40.0}};
  logs::Observation second{.acceptance_length = 4.0, .times = {.duration_s = 10.0, .output_tokens_per_s = 80.0}};
  CHECK(*logs::pooled(first, second).acceptance_length == Approx(1200.0 / 400.0).epsilon(few_ulp));
}

TEST_CASE("pooled windows of one load have that load, to the last digit") {
  logs::Observation first = window(100, 20.0, 1.0), second = first;
  first.times.duration_s = 0.1;
  second.times.duration_s = 0.3;
  CHECK(logs::may_be_pooled(logs::pooled(first, second), first));  // not of less than one request
}

TEST_CASE("windows of another draft length, decoding, load or setting are not pooled") {
  const logs::Observation first = window(100, 20.0, 2.0);
  CHECK(logs::may_be_pooled(first, window(5, 90.0, 3.0)));
  CHECK_FALSE(logs::may_be_pooled(first, window(100, 20.0, 4.0)));
  logs::Observation other = first;
  other.gamma = 3;
  CHECK_FALSE(logs::may_be_pooled(first, other));
  other = first;
  other.decoding = logs::Decoding::plain;
  CHECK_FALSE(logs::may_be_pooled(first, other));
  other = first;
  other.stratum.temperature = 1.0;
  CHECK_FALSE(logs::may_be_pooled(first, other));
}

TEST_CASE("runs of another drafter or tree, of adaptive drafting or at another offered load are not pooled") {
  const logs::Observation first = window(100, 20.0, 2.0);
  const auto differs = [&](auto change) {
    logs::Observation other = first;
    change(other);
    return !logs::may_be_pooled(first, other);
  };
  CHECK(differs([](logs::Observation& other) { other.adaptive = true; }));
  CHECK(differs([](logs::Observation& other) { other.drafter = "draft-mtp"; }));
  CHECK(differs([](logs::Observation& other) { other.tree = logs::DraftTree{.steps = 3, .width = 4, .tokens = 8}; }));
  CHECK(differs([](logs::Observation& other) { other.concurrency = 8.0; }));
  CHECK(differs([](logs::Observation& other) { other.offered_requests = 500.0; }));
}

TEST_CASE("completed and failed requests add up, and steps without a draft weigh as much as others") {
  logs::Observation first = window(100, 20.0, 2.0);
  logs::Observation second = window(100, 40.0, 2.0);
  first.completed_requests = 10;
  first.failed_requests = 1;
  second.completed_requests = 5;
  second.failed_requests = 2;
  first.acceptance->generated_tokens = 200;   // 100 steps, all of which drafted
  second.acceptance->generated_tokens = 400;  // 300 steps, 200 of them without a draft
  const logs::Observation both = logs::pooled(first, second);
  CHECK(both.completed_requests == 15);
  CHECK(both.failed_requests == 3);
  CHECK(both.acceptance->generated_tokens == 600);
  CHECK(*both.times.iteration_ms == Approx(35.0).epsilon(few_ulp));
}

TEST_CASE("iteration times of plain observations weigh by their tokens") {
  logs::Observation first{.decoding = logs::Decoding::plain};
  first.times = {.duration_s = 1.0, .output_tokens_per_s = 100.0, .iteration_ms = 20.0};
  logs::Observation second = first;
  second.times = {.duration_s = 3.0, .output_tokens_per_s = 100.0, .iteration_ms = 40.0};
  CHECK(*logs::pooled(first, second).times.iteration_ms == Approx(35.0).epsilon(few_ulp));
}

}  // namespace foredraft::tests
