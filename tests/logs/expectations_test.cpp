// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Speeds that nobody measured are no runs: what is expected, advertised, a goal.
namespace foredraft::tests {
namespace {

using logs::Decoding;

/// The speeds of the runs without and with speculation, tokens/s.
std::pair<std::vector<double>, std::vector<double>> speeds(const std::string& text) {
  std::pair<std::vector<double>, std::vector<double>> all;
  for (const auto& run : read_log(text).observations) {
    if (run.decoding == Decoding::unknown) continue;
    (run.decoding == Decoding::plain ? all.first : all.second).push_back(1000.0 / run.times.tpot_ms.value());
  }
  return all;
}

bool is_pair(const std::string& text) {
  const auto [plain, drafting] = speeds(text);
  return plain.size() == 1 && drafting.size() == 1 && plain[0] == near(21.0) && drafting[0] == near(33.0);
}

TEST_CASE("what is expected, promised or a goal is no measured speed") {
  for (const std::string text :
       {"I expected 55 tok/s with EAGLE-3 but got 33 tok/s, baseline 21 tok/s.\n",
        "baseline 21 tok/s, EAGLE-3 33 tok/s (expected 55 tok/s)\n",
        "baseline 21 tok/s, EAGLE-3 33 tok/s, far from the advertised 55 tok/s\n",
        "The README claims 55 tok/s with EAGLE-3, I get 33 tok/s with EAGLE-3 and 21 tok/s without.\n",
        "baseline: 21 tok/s\nEAGLE-3: 33 tok/s\nOur goal: 55 tok/s with EAGLE-3\n",
        "baseline: 21 tok/s\nEAGLE-3: 33 tok/s\nEAGLE-3 should reach about 55 tok/s\n",
        "Without MTP 21 tok/s, with MTP 33 tok/s, 55 tok/s with MTP is the target of the README.\n",
        "baseline 21 tok/s, target with MTP 55 tok/s, measured 33 tok/s with MTP\n",
        "People report 55 tok/s with MTP, here 21 tok/s without and 33 tok/s with MTP\n",
        "According to the model card 55 tok/s with MTP, but here 21 tok/s without and 33 tok/s with MTP\n",
        "MTP is slower than expected: 33 tok/s vs 21 tok/s without it\n",
        "As expected, MTP is faster: 33 tok/s vs 21 tok/s without\n",
        "I expected a gain from MTP: baseline 21 tok/s, MTP 33 tok/s\n",
        "## Expected\n\n- Baseline: 31 tok/s\n- MTP: 55 tok/s\n\n## Measured\n\n- Baseline: 21 tok/s\n- MTP: 33 "
        "tok/s\n",
        "Targets:\nbaseline: 31 tok/s\nMTP: 55 tok/s\n\nMeasured:\nbaseline: 21 tok/s\nMTP: 33 tok/s\n"}) {
    CAPTURE(text);
    CHECK(is_pair(text));
  }
}

TEST_CASE("expected speeds alone are told as such") {
  for (const std::string text :
       {"Expected with MTP: ~55 tok/s | Baseline: ~31 tok/s\n", "Expected: MTP 55 tok/s, baseline 31 tok/s\n",
        "MTP: 55 tok/s (theoretical); baseline: 31 tok/s (theoretical)\n",
        "Expected results:\n- Baseline: 31 tok/s\n- TTFT below 300 ms\n- MTP: 55 tok/s\n",
        "With MTP I hoped for 55 tok/s instead of 31 tok/s\n",
        "### Expected performance\n\n| config | tok/s |\n|---|---|\n| baseline | 31 |\n| MTP | 55 |\n"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(read_log(text), Catch::Contains("expected, not measured"));
  }
}

TEST_CASE("rows and columns of expected values are not read") {
  CHECK(is_pair("| config | tok/s |\n|---|---|\n| baseline | 21 |\n| MTP | 33 |\n| MTP (expected) | 55 |\n"));
  CHECK(is_pair("| config | tok/s | claimed tok/s |\n|---|---|---|\n| baseline | 21 | 31 |\n| MTP | 33 | 55 |\n"));
  CHECK_THROWS(read_log("| config | expected tok/s |\n|---|---|\n| baseline | 31 |\n| MTP | 55 |\n"));
}

}  // namespace
}  // namespace foredraft::tests
