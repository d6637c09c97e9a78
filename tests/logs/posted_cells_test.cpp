// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstddef>
#include <string>

#include "tests/logs/logs_testing.hpp"

/// Tables of which a cell or a column is not as in others.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

/// The speedup of each pair of runs, the plain one first.
std::vector<double> speedups(const std::vector<Observation>& runs) {
  std::vector<double> all;
  for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
    CHECK(runs[i].decoding == Decoding::plain);
    CHECK(runs[i + 1].decoding == Decoding::speculative);
    CHECK(runs[i].stratum.category == runs[i + 1].stratum.category);
    all.push_back(runs[i].times.tpot_ms.value_or(0.0) / runs[i + 1].times.tpot_ms.value_or(1.0));
  }
  return all;
}

bool are(const std::vector<double>& values, const std::vector<double>& expected) {
  if (values.size() != expected.size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != near(expected[i])) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a range in one cell is its middle, and no pair of arms") {
  const std::string rows = " |\n|---|---|---|\n| a | 40 tok/s | 60 tok/s |\n| b | 30 to 34 tok/s | 44 to 52 tok/s |\n";
  CHECK(are(speedups(posted_runs("| GPU | spec OFF | spec ON" + rows, "table")), {1.5, 1.5}));
  CHECK(are(speedups(posted_runs("| GPU | baseline | speculative" + rows, "table")), {1.5, 1.5}));
  // With its gain it is one.
  CHECK(are(speedups(posted_runs("| mode | tok/s |\n|---|---|\n| MTP | 40 to 60 tok/s (1.5x) |\n", "table")), {1.5}));
}

TEST_CASE("a name whose cells are speeds is none") {
  const auto runs = posted_runs(
      "| card | tok/s | speculative |\n|---|---|---|\n| a | 8.2 | 12 tok/s |\n| b | 6.4 | 9 tok/s |\n", "table");
  for (const Observation& run : runs) CHECK_FALSE(run.gamma);
  // Nor is a run a head, whose speed would be lost.
  CHECK_FALSE(problem("| run | 55 tok/s |\n| MTP | 70 tok/s |\n| baseline | 50 tok/s |\n").empty());
}

TEST_CASE("an unknown first heading above arms, and unknown columns beside a speed") {
  CHECK(
      are(speedups(posted_runs("sampler,tokens_per_second,joules\nvanilla,20,300\neagle,31,250\n", "table")), {1.55}));
  CHECK(are(speedups(posted_runs("| card 2, one slot | tok/s | tok/step |\n|---|---|---|\n| MTP off | 14 | 1.0 |\n"
                                 "| MTP on | 24 | 2.6 |\n",
                                 "table")),
            {24.0 / 14.0}));
  CHECK(are(speedups(posted_runs("| arm | watts | tok/s | J/tok | peak C | fan |\n|---|---|---|---|---|---|\n"
                                 "| baseline | 300 | 50 | 6 | 71 | 55 |\n| mtp-n3 | 310 | 80 | 4 | 72 | 56 |\n",
                                 "table")),
            {1.6}));
  // Words, an option and a console are none.
  CHECK(posted_runs("Decode speed (tokens per second)\n\n- plain: 41\n- MTP: 55\n", "table").size() == 2);
  CHECK(problem("--spec-type mtp\n--spec-draft-n-max 2\n").find("may mean") == std::string::npos);
}

TEST_CASE("a table with speeds that is not read is named if nothing is read") {
  const std::string text = problem("| Widget | tok/s | Blob |\n|---|---|---|\n| alpha | 25 | 4 |\n| beta | 40 | 3 |\n");
  CHECK(text.find("Widget") != std::string::npos);
}

TEST_CASE("two values in a cell are both arms if words say so") {
  CHECK(are(speedups(posted_runs("| model | MTP | decode |\n|---|---|---|\n| a | off / on | 20 / 30 t/s |\n"
                                 "| b | aus / an | 10 / 14 t/s |\n",
                                 "table")),
            {1.5, 1.4}));
  CHECK(are(speedups(posted_runs("Chat (baseline -> EAGLE3):\n\n| concurrency | TPOT (ms) |\n|---|---|\n"
                                 "| 1 | 10 -> 5 |\n| 16 | 16 -> 20 |\n",
                                 "table")),
            {2.0, 0.8}));
  CHECK(are(speedups(posted_runs("| Context | tok/s (no spec -> DFlash) |\n|---|---|\n| 1k | 50 -> 90 |\n", "table")),
            {1.8}));
  const auto versions =
      posted_runs("Chat (old -> new):\n\n| concurrency | TPOT (ms) |\n|---|---|\n| 1 | 10 |\n", "table");
  CHECK(versions.at(0).decoding != Decoding::speculative);
}

TEST_CASE("of a speed beside that of prompts, and of one behind settings") {
  CHECK(are(speedups(posted_runs("| GPU | plain prefill/decode tok/s | MTP K=2 prefill/decode tok/s |\n|---|---|---|\n"
                                 "| a | 900 / 40 | 880 / 60 |\n",
                                 "table")),
            {1.5}));
  CHECK(are(speedups(posted_runs("| model | no MTP | best MTP |\n|---|---|---|\n| a | 100 t/s | n=3 -> 150 t/s |\n"
                                 "| b | 60 t/s | n=2, p=0.5 -> 84 t/s |\n",
                                 "table")),
            {1.5, 1.4}));
  CHECK_FALSE(
      problem("| GPU | plain prefill/decode | MTP prefill/decode |\n|---|---|---|\n| a | 900 / 40 | 880 / 60 |\n")
          .empty());
}

TEST_CASE("rows that an unknown first column tells apart are no repetitions") {
  const auto runs = posted_runs(
      "| Place | no MTP tok/s | MTP tok/s |\n|---|---|---|\n| d=0 (2 runs) | 60 | 84 |\n| 32K (1 run) | 50 | 65 |\n",
      "table");
  CHECK(are(speedups(runs), {1.4, 1.3}));
  CHECK(runs[0].stratum.category != runs[2].stratum.category);
}

TEST_CASE("a depth that plain rows lack is that of a tree") {
  const auto runs = posted_runs(
      "| Method | Depth | Branching | K | tok/s |\n|---|---|---|---|---|\n| Eagle | 3 | 1 | 3 | 110 |\n"
      "| fr-spec | 1 | 3 | 3 | 112 |\n| Vanilla | N/A | N/A | 0 | 60 |\n",
      "table");
  REQUIRE(runs.size() == 3);
  for (const Observation& run : runs) CHECK_FALSE(run.stratum.context_tokens);
  CHECK(runs[1].drafter.value_or("").starts_with("fr-spec"));
}

TEST_CASE("speeds that may be of all requests or of each have ratios") {
  const LogContents contents = read_log(
      "| Clients | non-mtp tok/s | mtp tok/s |\n|---|---|---|\n| 1 | 40 | 80 |\n| 2 | 44 | 85 |\n| 3 | 42 | 82 |\n");
  CHECK(contents.observations.size() == 6);
  CHECK(warns(contents, "W12"));
  // Not without the other arm at a load.
  CHECK_FALSE(problem("| K | c | tok/s |\n|---|---|---|\n| 0 | 1 | 40 |\n| 0 | 2 | 42 |\n| 2 | 4 | 41 |\n").empty());
}

TEST_CASE("runs of one load have a ratio, whatever their drafters and lengths") {
  const std::string records =
      R"([{"run": "plain", "k": 0, "clients": 6, "tokens_per_second": 300},)"
      R"( {"run": "draft-2b", "k": 3, "clients": 6, "tokens_per_second": 390, "acceptance_length": 2.2},)"
      R"( {"run": "mtp", "k": 2, "clients": 6, "tokens_per_second": 420, "acceptance_length": 2.4}])";
  const LogContents contents = read_log(records);
  REQUIRE(contents.observations.size() == 3);
  CHECK(contents.observations[1].times.output_tokens_per_s == 390.0);
  CHECK(contents.observations[1].concurrency == 6.0);
  CHECK(warns(contents, "W12"));
  CHECK(contents.warnings.back().message.find("tokens_per_second = tokens/s of all requests or of each") !=
        std::string::npos);
  CHECK_FALSE(problem(replaced(records, R"("k": 2, "clients": 6)", R"("k": 2, "clients": 9)")).empty());
}

TEST_CASE("the n of an n-gram is no draft length, nor is a list of these") {
  const auto gamma = [](const std::string& name) {
    return posted_runs("| Strategy/config | tok/s |\n|---|---|\n| baseline | 40 |\n| " + name + " | 50 |\n", "table")
        .at(1)
        .gamma;
  };
  CHECK(gamma("ngram n=1 draft=2") == 2);
  CHECK_FALSE(gamma("ngram n=1 draft=2/4"));
  CHECK(gamma("dspark, 3 draft tokens") == 3);
  CHECK_FALSE(gamma("dspark accepts 2.03 tokens"));
  CHECK(gamma("EAGLE-2 (4)") == 4);
  CHECK_FALSE(gamma("EAGLE-2 (1x H100)"));
}

TEST_CASE("a rate has the one draft length that other words state") {
  const std::string table = "| config | accept | tok/s |\n|---|---|---|\n| baseline | - | 40 |\n| MTP | 50 % | 60 |\n";
  const LogContents stated = read_log(table + "\nwith `--spec-draft-n-max 4`\n");
  CHECK(stated.observations.at(1).acceptance_length == near(3.0));
  CHECK(warns(stated, "W20"));  // as if every draft had four tokens
  CHECK(stated.observations.at(1).times.iteration_ms == near(50.0));
  CHECK_FALSE(warns(stated, "W23"));
  CHECK_FALSE(read_log(table + "\n`--spec-draft-n-max 4` or `--spec-draft-n-max 2`\n").observations.at(1).gamma);
}

TEST_CASE("a rate of a drafter that looks tokens up gives no acceptance length") {
  for (const std::string name : {"ngram K=2", "prompt lookup K=2", "suffix decoding K=2"}) {
    CAPTURE(name);
    const LogContents contents =
        read_log("| config | accept | tok/s |\n|---|---|---|\n| baseline | - | 40 |\n| " + name + " | 100 % | 50 |\n");
    REQUIRE(contents.observations.size() == 2);
    CHECK_FALSE(contents.observations[1].acceptance_length);
    CHECK(warns(contents, "W18"));
  }
}

TEST_CASE("a plain speed that is one with speculation is said again") {
  const auto runs = posted_runs(
      "[vanilla] run 0: 512 tokens, 100 tok/s\n[vanilla] run 1: 512 tokens, 101 tok/s\n"
      "[mtp] run 0: 512 tokens, 160 tok/s\nmedian: 160.5 tok/s # 1.6x over our baseline\n",
      "prose");
  REQUIRE(runs.size() == 3);
  CHECK(runs[1].decoding == Decoding::plain);
  CHECK(runs[2].decoding == Decoding::speculative);
}

TEST_CASE("a request of llama-server with an acceptance rate drafts, also without counts") {
  const auto runs =
      posted_runs("eval time = 1000.00 ms / 50 tokens = 50.00 tok/s\ndraft acceptance = 0.80\n", "llama-server");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK_FALSE(runs[0].acceptance);
}

TEST_CASE("two builds that measure otherwise are two setups") {
  const auto log = [](const std::string& build, const std::string& time) {
    return build + "\neval time = " + time + " ms / 200 tokens (1.00 ms per token, 1.00 tokens per second)\n" +
           "draft acceptance rate = 0.60000 ( 120 accepted / 200 generated)\n\n";
  };
  const auto runs = posted_runs(log("> Build 100", "20000.00") + log("> Build 200", "10000.00"), "llama-server");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].drafter != runs[1].drafter);
}

TEST_CASE("a small t in a name is a temperature only if plain rows have it") {
  const auto of = [](const std::string& plain, const std::string& drafts) {
    return posted_runs(
               "| method | tok/s |\n|---|---|\n| " + plain + " | 40 |\n| " + drafts + " | 70 |\n| MTP K=2 | 60 |\n",
               "table")
        .at(1)
        .stratum.temperature;
  };
  CHECK_FALSE(of("baseline", "tree (depth 6, t=0.2)"));
  CHECK_FALSE(of("baseline", "EAGLE, t 8"));
  CHECK(of("baseline t=0.7", "EAGLE t=0.7") == 0.7);
  CHECK(of("baseline", "EAGLE, T=0.6") == 0.6);
  CHECK(of("baseline", "EAGLE (Temp 0.6)") == 0.6);
}

}  // namespace foredraft::tests
