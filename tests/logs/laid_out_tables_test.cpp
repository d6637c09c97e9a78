// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "logs/captions.hpp"
#include "tests/logs/logs_testing.hpp"

/// Tables as people lay them out: rows of several versions, columns of arms in other words.
namespace foredraft::tests {
namespace {

using logs::Decoding;

/// Each run as "category: time per token, plain or not", in their order.
std::string told_runs(const std::string& log) {
  std::string all;
  for (const auto& run : posted_runs(log, "table")) {
    all += run.stratum.category.value_or("-") + (run.decoding == Decoding::plain ? ": plain " : ": drafts ");
    all += std::to_string(static_cast<int>(1000.0 / run.times.tpot_ms.value_or(1000.0) + 0.5)) + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("plain rows of several versions are not pooled: a drafting row is compared with the one of its words") {
  CHECK(told_runs("| run | tok/s |\n|---|---|\n| first port, baseline | 40 |\n| main@3c (no spec) | 70 |\n"
                  "| main@3c --spec-type mtp | 100 |\n") ==
        "first port: plain 40\nmain 3c: plain 70\nmain 3c: drafts 100\n");
  // A note in brackets is not of the version; a number is.
  const std::string loads = "### Total tok/s\n\n| | c1 | c4 |\n|---|---|---|\n";
  const auto runs = posted_runs(loads +
                                    "| stage 3 (a1f), no speculation | 90 | 300 |\n"
                                    "| stage 5 (b2e), no speculation | 120 | 400 |\n"
                                    "| stage 5, `--spec` | 180 | 500 |\n",
                                "table");
  REQUIRE(runs.size() == 6);
  CHECK(runs[5].requests == 4.0);
  CHECK(runs[0].stratum.category != runs[4].stratum.category);
  CHECK(runs[2].stratum.category == runs[4].stratum.category);
  // Numbers tell versions apart, and so do two notes.
  CHECK(told_runs("| config | tok/s |\n|---|---|\n| first (plain) | 30 |\n| release 1.2: plain | 40 |\n"
                  "| release 1.2 (tuned): MTP K=2 | 50 |\n| release 1.3: MTP K=2 | 70 |\n") ==
        "first: plain 30\nrelease 1 2: plain 40\nrelease 1 2: drafts 50\nrelease 1 3: drafts 70\n");
  CHECK(told_runs("| config | tok/s |\n|---|---|\n| a (fp8), no spec | 30 |\n| b, no spec | 40 |\n"
                  "| a (int4), MTP | 50 |\n| b, MTP 3 | 70 |\n") ==
        "a fp8: plain 30\nb: plain 40\na int4: drafts 50\nb: drafts 70\n");
  // Without shared words, those of drafting rows are of their drafters.
  CHECK(told_runs("| config | tok/s |\n|---|---|\n| baseline | 40 |\n| fused, no spec | 50 |\n| MTP tuned | 80 |\n") ==
        "-: plain 40\nfused: plain 50\n-: drafts 80\n");
  CHECK(told_runs("| config | tok/s |\n|---|---|\n| v2: plain | 40 |\n| v1 (plain) | 30 |\n| v2: MTP | 60 |\n"
                  "| v3: MTP | 70 |\n") == "v2: plain 40\nv1: plain 30\nv2: drafts 60\nv3: drafts 70\n");
}

TEST_CASE("an arm may stand behind a word of any language, and the length of prompts tells rows apart") {
  const std::string rows =
      "|---|---|---|---|\n| 2k | 40 t/s | 30 t/s | 900 t/s |\n| 16k | 36 t/s | 24 t/s | 800 t/s |\n";
  for (const auto& [head, length] :
       {std::pair("| Промпт | Генерация MTP K=2 | Генерация без MTP | Prefill MTP |", "Промпт"),
        std::pair("| Depth | generation MTP | generation no MTP | prompt eval no MTP |", "Depth"),
        std::pair("| Contexte | Génération avec EAGLE-3 | Génération sans EAGLE-3 | Prefill |", "context"),
        std::pair("| Długość | Szybkość z MTP K=2 | Szybkość bez MTP | prefill bez MTP |", "Długość"),
        std::pair("| 提示长度 | 生成（MTP K=2） | 生成（无 MTP） | 预填充 |", "提示长度")}) {
    CAPTURE(head);
    const std::string two = std::string(length) + " 2k: ", sixteen = std::string(length) + " 16k: ";
    CHECK(told_runs(std::string(head) + "\n" + rows) ==
          two + "drafts 40\n" + two + "plain 30\n" + sixteen + "drafts 36\n" + sixteen + "plain 24\n");
  }
}

TEST_CASE("columns of arms without a unit are speeds if a gain says so, and the question names only the arms") {
  const std::string arms = "| case | no spec | with MTP |", ruling = "\n|---|---|---|---|\n";
  const std::string rows = "| code | 40 | 60 | +50% |\n| prose | 40 | 38 | -5% |\n";
  CHECK(told_runs(arms + " change |" + ruling + rows) ==
        "code: plain 40\ncode: drafts 60\nprose: plain 40\nprose: drafts 38\n");
  const std::string falls = "| code | 40 | 30 | -25% |\n| prose | 40 | 36 | -10% |\n";  // speeds, or times
  CHECK_THROWS_WITH(read_log(arms + " change |" + ruling + falls),
                    Catch::Contains("\"no spec tok/s\", \"with MTP tok/s\""));
  CHECK(told_runs("| Caso | sin MTP | con MTP | Ganancia |" + ruling + falls).starts_with("code: plain 40"));
}

TEST_CASE("a row that names no load is not one of a column of loads") {
  const std::string head = "| concurrency | off | on | speedup |\n|---|---|---|---|\n";
  const auto contents =
      read_log(head + "| 2 | 20 | 30 | 1.5x |\n| 8 | 60 | 66 | 1.1x |\n| KV pool | 30,000 | 31,000 | - |\n");
  CHECK(contents.observations.size() == 4);
  CHECK(std::ranges::any_of(contents.warnings,
                            [](const auto& one) { return one.message.find("KV pool") != std::string::npos; }));
  CHECK(
      read_log(head + "| 2 | 20 | 30 | 1.5x |\n| 8 | 60 | 66 | 1.1x |\n| max | 70 | 71 | - |\n").observations.size() ==
      6);
}

TEST_CASE("SD beside no-SD or AR is speculative decoding, in any order, and else may be a deviation") {
  const std::string ruling = "\n|---|---|---|---|---|\n";
  const auto runs = posted_runs("### Batch = 4, whole-batch tok/s\n\n| Env | accept | SD | no-SD | speedup |" + ruling +
                                    "| LAN | 4.1 | 42 | 30 | 1.4x |\n| WAN | 4.0 | 30 | 25 | 1.2x |\n",
                                "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].acceptance_length == near(4.1));
  CHECK(runs[1].decoding == Decoding::plain);
  CHECK(runs[1].requests == 4.0);
  CHECK(runs[1].times.output_tokens_per_s == near(30.0));
  CHECK(told_runs("### Batch = 1, per-sequence tok/s\n\n| Env | AR | SD | gain |\n|---|---|---|---|\n"
                  "| LAN | 20 | 30 | 1.5x |\n") == "-: plain 20\n-: drafts 30\n");
  CHECK_FALSE(problem("| task | baseline tok/s | SD |\n|---|---|---|\n| chat | 20 | 1 |\n| code | 22 | 2 |\n").empty());
}

TEST_CASE("columns of loads are named by words or have the unit of their speeds") {
  for (const std::string head : {"| config | single user | 16 users |", "| config | 1 concurrent | 16 concurrent |",
                                 "| config | one-stream | 16 parallel streams |"}) {
    CAPTURE(head);
    const auto runs = posted_runs(head +
                                      "\n|---|---|---|\n| no spec | 50 tok/s | 400 tok/s |\n"
                                      "| MTP K=2 | 80 tok/s | 440 tok/s |\n",
                                  "table");
    REQUIRE(runs.size() == 4);
    CHECK(runs[0].requests == 1.0);
    CHECK(runs[3].requests == 16.0);
    CHECK(runs[3].times.output_tokens_per_s == near(440.0));
  }
  for (const std::string head : {"| K | c=1 (tok/s) | c=16 (tok/s) |", "| K | bs 1 t/s | bs 16 t/s |",
                                 "| K | 1 user (total tok/s) | 16 users (total tok/s) |"}) {
    CAPTURE(head);
    const auto runs = posted_runs(head + "\n|---|---|---|\n| 0 | 50 | 400 |\n| 2 | 80 | 440 |\n", "table");
    REQUIRE(runs.size() == 4);
    CHECK(runs[3].gamma == 2);
    CHECK(runs[3].requests == 16.0);
  }
  // Other metrics of a load are no speeds, and a number alone is no load.
  for (const std::string head :
       {"| K | 1 user TTFT | 16 users TTFT |", "| K | 1 | 16 |", "| K | 1 (tok/s) | 16 (tok/s) |"})
    CHECK_FALSE(problem(head + "\n|---|---|---|\n| 0 | 50 | 400 |\n| 2 | 80 | 440 |\n").empty());
}

TEST_CASE("the load above a table of both arms is that of its ratios, whatever its speeds are of") {
  for (const std::string above : {"## B = 16", "**BS=16**", "### B=16 (16 concurrent requests)", "### conc=16"}) {
    CAPTURE(above);
    const auto runs = posted_runs(
        "### B=1 (single request)\n\n| set | plain tok/s | EAGLE3 tok/s |\n|---|---|---|\n"
        "| chat | 50 | 90 |\n\n" +
            above + "\n\n| set | plain tok/s | EAGLE3 tok/s |\n|---|---|---|\n| chat | 400 | 440 |\n",
        "table");
    REQUIRE(runs.size() == 4);
    CHECK(runs[1].requests == 1.0);
    CHECK(runs[3].requests == 16.0);
    CHECK(runs[1].stratum.category == runs[3].stratum.category);  // one setup at two loads
  }
}

TEST_CASE("the only speed of a table may have any word before its unit, but not that of a limit or of prompts") {
  const std::string rows = "|---|---|---|\n| plain | 20 | - |\n| MTP | 32 | 60% |\n";
  for (const std::string word : {"Pooled", "Warm cache", "Greedy"})
    CHECK(told_runs("| condition | " + word + " tok/s | accepted |\n" + rows) == "-: plain 20\n-: drafts 32\n");
  for (const std::string word : {"Peak", "Prefill", "p99", "min"})
    CHECK_FALSE(problem("| condition | " + word + " tok/s |\n|---|---|\n| plain | 20 |\n| MTP | 32 |\n").empty());
}

TEST_CASE("gains that stand in cells of their own, below no heading, belong to the speeds before them") {
  for (const std::string rows :
       {"| 2 | 50 | 60 (2.1) | +20% | 80 (2.6) | +60% |\n| 8 | 90 | 99 (2.1) | +10% | 117 (2.6) | +30% |\n",
        "| 2 | 50 | 60 | **+20 %** | 80 | +60 % |\n| 8 | 90 | 81 | -10% | 117 | +30% |\n"}) {
    CAPTURE(rows);
    const auto runs = posted_runs("| batch | plain | Medusa | EAGLE3 |\n|---|---|---|---|\n" + rows, "table");
    REQUIRE(runs.size() == 6);
    CHECK(runs[0].times.output_tokens_per_s == near(50.0));
    CHECK(runs[2].drafter == "eagle3");
    CHECK(runs[2].times.output_tokens_per_s == near(80.0));
  }
  CHECK_FALSE(problem("| batch | plain tok/s | MTP tok/s |\n|---|---|---|\n| 2 | 50 | 60 | 1.2 |\n").empty());
}

TEST_CASE("a table of metrics with one column of values is one run, whose arm a long heading above it names") {
  for (const auto& [metric, value] :
       {std::pair("Metric", "Value"), std::pair("指标", "数值"), std::pair("Metrik", "Wert")}) {
    const auto runs = posted_runs(
        "### no speculation, c=4  (some engine 1.2, two cards, a model of a family, fp8)\n\n| " + std::string(metric) +
            " | " + value + " |\n|---|---|\n| Total tok/s | 300 |\n| Mean TPOT (ms) | 13 |\n",
        "table");
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].requests == 4.0);
    CHECK_FALSE(runs[0].stratum.category);
  }
  // A title that names a drafter may be of a text about it.
  CHECK_FALSE(logs::arm_in_caption("# We measured MTP of a large model on two cards of ours (engine 1.2)"));
}

}  // namespace foredraft::tests
