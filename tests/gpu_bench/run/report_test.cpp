// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/profile_folder.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "tests/latency/profile/synthetic_profile.hpp"

namespace foredraft::gpu_bench {

TEST_CASE("the report of a synthetic profile is the one on file") {
  std::ifstream file(FOREDRAFT_SOURCE "/tests/gpu_bench/run/synthetic_report.md");
  std::ostringstream golden;
  golden << file.rdbuf();
  CHECK(report_markdown(latency::synthetic_profile()) == golden.str());
}

TEST_CASE("a report says if a second run disagrees, if there was none, and if everything was measured") {
  latency::Profile profile = latency::synthetic_profile();
  profile.missing.clear();
  profile.aa_test->p95_difference = 0.2;
  std::string report = report_markdown(profile);
  CHECK(report.find("# Synthetic device of the tests, NOT VALID\n") == 0);
  CHECK(report.find("NOT valid") != std::string::npos);
  CHECK(report.find("## Missing\n\nNothing.\n") != std::string::npos);
  profile.aa_test.reset();
  report = report_markdown(profile);
  CHECK(report.find("# Synthetic device of the tests\n") == 0);
  CHECK(report.find("Not made") != std::string::npos);
}

TEST_CASE("a report counts the missing parts of each reason, the most frequent first, and names the first three") {
  latency::Profile profile = latency::synthetic_profile();
  profile.missing.clear();
  profile.missing.push_back({"large part", "too large"});
  for (int i = 0; i < 25; ++i) profile.missing.push_back({"part " + std::to_string(i), "no time left"});
  const std::string report = report_markdown(profile);
  CHECK(report.find("missing, 26 in all") != std::string::npos);
  CHECK(report.ends_with("\n\n- no time left: 25 (part 0, part 1, part 2, ...)\n- too large: 1 (large part)\n"));
}

TEST_CASE("a report sorts the points of a curve by their tokens") {
  latency::Profile profile = latency::synthetic_profile();
  std::swap(profile.steps[0], profile.steps[1]);
  const std::string report = report_markdown(profile);
  CHECK(report.find("| 1: 1250 (80 %), 2: 2000 (50 %)* |") != std::string::npos);
}

}  // namespace foredraft::gpu_bench
