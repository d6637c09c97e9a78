// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/profile_folder.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/latency/profile/synthetic_profile.hpp"

namespace foredraft::gpu_bench {

TEST_CASE("the report of a synthetic profile is the one on file") {
  std::ifstream file(FOREDRAFT_SOURCE "/tests/gpu_bench/run/synthetic_report.md");
  std::ostringstream golden;
  golden << file.rdbuf();
  CHECK(report_markdown(latency::synthetic_profile()) == golden.str());
}

TEST_CASE("a report says when a second run would not agree, when there was none, and when all is there") {
  latency::Profile profile = latency::synthetic_profile();
  profile.missing.clear();
  profile.aa_test->p95_difference = 0.2;
  std::string report = report_markdown(profile);
  CHECK(report.find("# Synthetic device of the tests\n") == 0);
  CHECK(report.find("NOT valid") != std::string::npos);
  CHECK(report.find("## Missing\n\nNothing.\n") != std::string::npos);
  profile.aa_test.reset();
  report = report_markdown(profile);
  CHECK(report.find("Not made") != std::string::npos);
}

TEST_CASE("a report names the first twenty missing parts and counts the others") {
  latency::Profile profile = latency::synthetic_profile();
  profile.missing.clear();
  for (int i = 0; i < 25; ++i) profile.missing.push_back({"part " + std::to_string(i), "no time left"});
  const std::string report = report_markdown(profile);
  CHECK(report.find("25 planned parts") != std::string::npos);
  CHECK(report.find("- part 19: no time left\n- and 5 more\n") != std::string::npos);
}

}  // namespace foredraft::gpu_bench
