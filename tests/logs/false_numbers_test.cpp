// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Logs from which a number is computed that is easily wrong, and which then have none.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

std::string efficiency_scrape(const std::string& efficiency, const std::string& drafted, const std::string& emitted) {
  return "vllm:spec_decode_efficiency{m=\"t\"} " + efficiency + "\nvllm:spec_decode_num_draft_tokens_total{m=\"t\"} " +
         drafted + "\nvllm:spec_decode_num_emitted_tokens_total{m=\"t\"} " + emitted + "\n";
}

}  // namespace

TEST_CASE("the efficiency of vLLM before V1 is since the start, also of a window") {
  const LogContents contents =
      read_log(efficiency_scrape("0.5", "150000", "100000") + efficiency_scrape("0.75", "300000", "300000"));
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].gamma == 3);
  CHECK(contents.observations[0].acceptance->steps == 50'000);
  CHECK(contents.observations[0].acceptance->accepted_tokens == 150'000);
  CHECK_FALSE(warns(contents, "W02"));
  CHECK(warns(read_log(efficiency_scrape("0.5", "150000", "100000")), "W02"));
}

}  // namespace foredraft::tests
