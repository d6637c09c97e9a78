// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "logs/arms.hpp"
#include "logs/captions.hpp"
#include "logs/table_shapes.hpp"
#include "tests/logs/logs_testing.hpp"

/// Which runs of posted tables and texts draft, and which of them may be compared.
namespace foredraft::tests {
namespace {

using logs::arm_in_text;
using logs::arm_named;
using logs::Decoding;
using logs::LogContents;

}  // namespace

TEST_CASE("the version of a drafter is no draft length, and an engine no drafter") {
  CHECK_FALSE(arm_named("DFlash 2").gamma);
  CHECK_FALSE(arm_named("DFlash-2 chain (baseline)").gamma);
  CHECK(arm_named("DFlash 2").drafter == "dflash2");
  CHECK(arm_named("DFlash 2, K=5").gamma == 5.0);
  CHECK(arm_named("DFlash 7").gamma == 7.0);
  CHECK(arm_named("dflash7").gamma == 7.0);
  CHECK(arm_named("DFlash 2-7").gamma == 7.0);
  CHECK(arm_named("DFlash2-7").drafter == "dflash2");
  CHECK_FALSE(arm_named("dflash1").gamma);
  CHECK_FALSE(arm_named("DFlash 8B").gamma);
  CHECK(arm_named("MTP d3").gamma == 3.0);
  CHECK(arm_named("raw (no draft)").plain);
  for (const char* const other :
       {"upstream llama.cpp b1234 (HIP)", "vLLM 0.12", "FooRT (published, spec off)", "FooRT, as reported"}) {
    CAPTURE(other);
    CHECK_FALSE(arm_named(other).drafter);
    CHECK_FALSE(arm_named(other).plain);
  }
  CHECK(arm_named("vLLM + MTP").drafter == "mtp");
  CHECK(arm_named("vLLM spec decode").drafter);
  const LogContents read = read_log(
      "| config | tok/s |\n|---|---|\n| plain | 20 |\n| DFlash 2 | 40 |\n| SGLang 0.5 | 30 |\n| Foo (published) | 50 "
      "|\n");
  REQUIRE(read.observations.size() == 4);
  CHECK(read.observations[1].decoding == Decoding::speculative);
  CHECK(read.observations[2].decoding == Decoding::unknown);
  CHECK(read.observations[3].decoding == Decoding::unknown);
  CHECK(warns(read, "W18"));
}

TEST_CASE("every method of drafting may be on or off") {
  for (const std::string method : {"MTP", "NextN", "EAGLE-3", "eagle", "D-Flash", "DFlash2", "DSpark", "Medusa",
                                   "n-gram", "suffix", "lookahead", "PLD"}) {
    CAPTURE(method);
    CHECK(arm_named("no " + method).plain);
    CHECK(arm_named(method + " off").plain);
    CHECK(arm_named("8B, without " + method).plain);
    CHECK(arm_in_text("the server with " + method + " gives").value().speculative);
    CHECK(arm_in_text("after disabling " + method + " it gives").value().plain);
    CHECK(arm_named(method).drafter);
  }
}

TEST_CASE("accepted tokens of a step are no counts") {
  const auto runs = posted_runs(
      "| config | tok/s | accepted |\n|---|---|---|\n| baseline | 20 | |\n| MTP K=6 | 40 | 5.2 / 6 |\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].gamma == 6);
  CHECK_FALSE(runs[1].acceptance);
  CHECK(posted_runs("| config | tok/s | accepted |\n|---|---|---|\n| baseline | 20 | |\n| MTP K=6 | 40 | 520 / 600 |\n",
                    "table")
            .at(1)
            .acceptance);
}

TEST_CASE("a row without speculation among kinds of prompts is that of each kind") {
  const std::string head = "| workload | t/s | accept rate |\n|---|---|---|\n";
  const std::string kinds = "| math | 40.0 | 80% |\n| essay | 25.0 | 40% |\n";
  // The speed of another load is not compared, and the last row may lack its end.
  for (const char* rest : {"| 4 users | 90 | |\n| non-speculative | 20 | |\n", "| vanilla | 20 | |\n",
                           "| batch 4 aggregate | 90.0 | |\n| base (no spec) | 20.0\n"}) {
    const LogContents contents = read_log(head + kinds + rest);
    const auto& runs = contents.observations;
    REQUIRE(runs.size() == 4);  // in the order of their lines
    CHECK(runs[0].decoding == Decoding::speculative);
    CHECK(runs[2].decoding == Decoding::plain);
    CHECK(runs[2].stratum.category == "math");
    CHECK(runs[3].stratum.category == "essay");
    CHECK(runs[3].times.tpot_ms == near(50.0));
    CHECK(warns(contents, "W09") == (rest[2] != 'v'));
  }
  // A last cell that may have been cut off is not read.
  CHECK(posted_runs(head + kinds + "| base (no spec) | 20\n", "table").size() == 2);
  CHECK(posted_runs(head + "| math | 40 | 80% |\n| essay | 25 | 40% |\n| base (no spec) | 20\n", "table").size() == 2);
  // The cells before it are whole, also those of the first row.
  const auto first = posted_runs(
      "| users | plain t/s | MTP t/s | EAGLE t/s | gain |\n|---|---|---|---|---|\n| 1 | 40 | 60 | 7", "table");
  REQUIRE(first.size() == 2);
  CHECK(first[1].times.tpot_ms == near(1000.0 / 60.0));
  // A prompt that is called so.
  const auto prompts = posted_runs(head + "| math | 40 | |\n| base | 20 | |\n", "table");
  CHECK(prompts.at(0).decoding == Decoding::unknown);
}

TEST_CASE("a row is no line above the next table") {
  const auto runs = posted_runs(
      "config  tok/s  K\nEAGLE  30.5  3\nplain  20.5  0\n\nprompt  tok/s\ncode  50.5\nchat  60.5\n", "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[3].decoding == Decoding::unknown);
}

TEST_CASE("the line above a table says what its kinds of prompts measure") {
  const std::string rows =
      "\n\n| config | code | prose | VRAM GB |\n|---|---|---|---|\n| no spec | 20 | 25 | 8 |\n| MTP | 40 | 30 | 9 |\n";
  const auto speeds = posted_runs("Decode, tok/s (code / prose):" + rows, "table");
  REQUIRE(speeds.size() == 4);
  CHECK(speeds[1].stratum.category == "prose");
  CHECK(speeds[1].times.tpot_ms == near(40.0));
  CHECK(posted_runs("TPOT in ms:" + rows, "table").at(0).times.tpot_ms == near(20.0));
  CHECK(problem("Prompt speed, tok/s:" + rows).find("no line") != std::string::npos);
}

TEST_CASE("a row that states only its gain has the speed that follows, where the others agree") {
  const std::string head = "| arm | tok/s (r1, r2) | vs k=0 |\n|---|---|---|\n| k=0 | 49.0, 51.0 | - |\n";
  const auto runs = posted_runs(head + "| k=1, new | 40.0, 41.0 | -19% |\n| k=1, old | see below | +20 % |\n", "table");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].times.tpot_ms == near(20.0));
  CHECK(runs[1].drafter == "k=1, new");
  CHECK(runs[2].drafter == "k=1, old");
  CHECK(runs[2].times.tpot_ms == near(1000.0 / 60.0));
  const LogContents other = read_log(head + "| k=1, new | 40.0 | +5% |\n| k=1, old | see below | +20 % |\n");
  CHECK(other.observations.size() == 2);
  CHECK(warns(other, "W18"));
}

TEST_CASE("a column of this version beside one without speculation and one with it drafts as that one") {
  const auto runs = posted_runs(
      "| Model | No MTP | Existing MTP | **This PR** |\n|---|---|---|---|\n| a | 20 tok/s | 25 tok/s | 40 tok/s |\n",
      "table");
  REQUIRE(runs.size() == 3);
  CHECK(runs[2].decoding == Decoding::speculative);
  CHECK(runs[2].times.tpot_ms == near(25.0));
  CHECK(runs[1].drafter != runs[2].drafter);
  const auto versions = posted_runs(
      "| Model | off | MTP (main) | MTP (PR) |\n|---|---|---|---|\n| a | 20 tok/s | 25 tok/s | 40 tok/s |\n", "table");
  CHECK(versions.at(1).drafter != versions.at(2).drafter);
}

TEST_CASE("what a long heading adds names the arm") {
  const auto arm =
      logs::arm_in_caption("**Results of the interactive route on both cards (256K context + DSpark acceleration):**");
  REQUIRE(arm);
  CHECK(arm->drafter == "dspark");
  CHECK(logs::arm_in_caption("### Results of the interactive route, all cards of one node (no speculation)")->plain);
  CHECK_FALSE(logs::arm_in_caption("I ran it again on the interactive route of both cards last week (with MTP)"));
  CHECK_FALSE(logs::arm_in_caption("A 30B (8-bit) + 1B draft")->drafter);  // of another model, it may be another one
}

TEST_CASE("requests at once in the heading of a table are its load") {
  using logs::load_in_caption;
  CHECK(load_in_caption("**Server (4 concurrent requests, 200 tokens each):**") == "4");
  CHECK(load_in_caption("#### With 8 parallel users") == "8");
  CHECK(load_in_caption("Aggregate of 32 streams, 512 tokens") == "32");
  CHECK_FALSE(load_in_caption("1, 4 and 8 concurrent requests"));
  CHECK_FALSE(load_in_caption("200 tokens of concurrent requests"));
  // Speeds of one arm that differ are of several setups, also where only one names its drafter.
  const auto runs = posted_runs(
      "**Scaling:**\n\n| B | total tok/s |\n|---|---|\n| 1 | 50 |\n| 4 | 70 |\n\n**Server (4 concurrent "
      "requests):**\n\n"
      "| Mode | total tok/s |\n|---|---|\n| AR server | 40 |\n| DFlash server | 90 |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[3].concurrency == 4.0);
}

TEST_CASE("speeds of several engines or checkpoints are not compared") {
  for (const char* const text : {"FooRT 1.4.0 fp8   30.0 tok/s (no MTP)\nBarLM 0.3.1 fp8   45.0 tok/s (MTP)\n",
                                 "30 tok/s on Ollama with no speculation, and 45 tok/s on SGLang with EAGLE-3.\n",
                                 "Foo-27B: 30 tok/s baseline\nFoo-14B: 60 tok/s with EAGLE-3\n",
                                 "foo-Q8: 30 tok/s without MTP\nfoo-Q4_K_M: 45 tok/s with MTP\n"}) {
    CAPTURE(text);
    CHECK(problem(text).find("speeds with and without") != std::string::npos);
  }
  CHECK(read_log("vLLM 27B, no MTP: 30 tok/s\nvLLM 27B, MTP: 45 tok/s\n").observations.size() == 2);
  const LogContents some = read_log("vLLM, no MTP: 30 tok/s\nvLLM, MTP: 45 tok/s\nOllama, no MTP: 20 tok/s\n");
  CHECK(some.observations.size() == 2);
  CHECK(warns(some, "W18"));
}

TEST_CASE("acceptance in a list does not hide the speeds of both arms") {
  const std::string list = "\nMean acceptance length: 1.2-1.6 tokens\n";
  const LogContents both = read_log("80.0 tok/s (baseline) vs 60.0 tok/s (EAGLE).\n" + list);
  REQUIRE(both.observations.size() == 3);
  CHECK(read_log("I get 60 tok/s with EAGLE.\n" + list).observations.size() == 1);
  CHECK(posted_runs(list, "key-values").at(0).acceptance_length == near(1.4));
}

TEST_CASE("an acceptance length in a sentence is read if the text states nothing else") {
  const LogContents read =
      read_log("- Single stream: 12-13 tok/s\n- with DFlash2 K=6: mean acceptance length ~3.1-3.5, 35 %\n");
  REQUIRE(read.observations.size() == 1);
  CHECK(read.observations[0].acceptance_length == near(3.3));
  CHECK(read.observations[0].gamma == 6);
  CHECK(warns(read, "W18"));
  const auto tokens = posted_runs("MTP gives an acceptance length of about 2.3 tokens here.\n", "prose");
  REQUIRE(tokens.size() == 1);
  CHECK_FALSE(tokens[0].gamma);
  CHECK(read_log("Without MTP 20 tok/s, with MTP 30 tok/s.\nAccept length 2.4.\n").observations.size() == 2);
  for (const char* const text : {"Acceptance length 1.6 (K=1) -> 2.4 (K=3).\n",
                                 "accept length 2.2 at long prompts\naccept length 3.4 at short ones\n"}) {
    CAPTURE(text);
    CHECK(problem(text).find("no line") != std::string::npos);
  }
}

TEST_CASE("a baseline that drafts is no plain run") {
  for (const char* const drafts : {"baseline MTP2", "Base (EAGLE3, K=3)", "stock + MTP", "vanilla DFlash",
                                   "Baseline (spec on)", "plain n-gram 4", "baseline engine X MTP K=2"}) {
    CAPTURE(drafts);
    CHECK_FALSE(arm_named(drafts).plain);
    CHECK(arm_named(drafts).drafter);
  }
  for (const char* const plain :
       {"baseline", "baseline (no MTP)", "Baseline, MTP off", "baseline without ngram", "baseline for EAGLE3",
        "baseline vs MTP", "Foo-7B-MTP-Q4 baseline", "baseline (MTP weights)", "baseline MTP=0", "baseline, MTP: 40"}) {
    CAPTURE(plain);
    CHECK(arm_named(plain).plain);
  }
  const auto runs = posted_runs(
      "| batch | baseline MTP2 TPOT | fused MTP2 TPOT |\n|---|---|---|\n| 1 | 10 ms | 8 ms |\n| 2 | 11 ms | 9 ms |\n",
      "table");
  REQUIRE(runs.size() == 4);
  for (const auto& run : runs) CHECK(run.decoding == Decoding::speculative);
  CHECK(runs[0].drafter != runs[1].drafter);
  CHECK(arm_in_text("Baseline MTP2").value().gamma == 2.0);
}

TEST_CASE("a load in words is one, and tells rows apart") {
  for (const auto& [one, four] : {std::pair("C=1 (chat)", "C=4 (batch job)"),
                                  {"1 user", "4 users"},
                                  {"single stream", "4 concurrent"},
                                  {"单路", "4 并发"}}) {
    const std::string words = fmt::format(
        "| where | plain TPOT (ms) | MTP TPOT (ms) |\n|---|---|---|\n| {} | 20 | 10 |\n| {} | 30 | 33 |\n", one, four);
    CAPTURE(words);
    const auto runs = posted_runs(words, "table");
    REQUIRE(runs.size() == 4);
    CHECK(runs[1].concurrency == 1.0);
    CHECK(runs[3].concurrency == 4.0);
    CHECK_FALSE(runs[3].stratum.category);
  }
  const auto rows = posted_runs(
      "| config | load | TPOT ms |\n|---|---|---|\n| plain | 4 streams | 20 |\n| MTP k=2 | 4 streams | 12 |\n",
      "table");
  CHECK(rows.at(1).concurrency == 4.0);
  // Not what tells other rows of the same load apart.
  const auto kinds = posted_runs(
      "| where | plain TPOT (ms) | MTP TPOT (ms) |\n|---|---|---|\n| C=4, chat | 20 | 10 |\n| C=4, code | 30 | 10 |\n",
      "table");
  CHECK_FALSE(kinds.at(0).concurrency);
  CHECK(logs::load_in_caption("Results, C=4:") == "4");
  CHECK(logs::load_in_caption("Single stream, greedy:") == "1");
  CHECK_FALSE(logs::load_in_caption("Single stream / aggregate"));
  // Lengths of prompts and answers behind a load are no list of loads.
  for (const char* lengths : {"2K in / 300 out", "1024 in, 128 out", "700/90 tokens", "0.5k prompts, greedy"})
    CHECK(logs::load_in_caption(fmt::format("Box A, c=3, {}", lengths)) == "3");
  for (const char* loads : {"6", "6, 12 and 24", "6/12"})
    CHECK_FALSE(logs::load_in_caption(fmt::format("Box A, c=3, {}", loads)));
  for (const char* sent : {"90 prompts, 6 at a time", "90 requests, at most 6 at once:", "6 requests in flight"})
    CHECK(logs::load_in_caption(sent) == "6");
  CHECK_FALSE(logs::load_in_caption("2, 4 and 6 at once"));
}

TEST_CASE("a load that the heading of a speed states is that of its table, unless others state another one") {
  const auto load_of = [](const std::string& speed, const std::string& other) {
    return posted_runs("| K | " + speed + " | " + other + " |\n|---|---|---|\n| 0 | 30.0 | 1.0 |\n| 2 | 45.0 | 2.1 |\n",
                       "table")
        .at(1)
        .concurrency;
  };
  CHECK(load_of("tok/s (bs=1)", "accept len") == 1.0);
  CHECK(load_of("tok/s (c = 1)", "accept len") == 1.0);
  CHECK_FALSE(load_of("tok/s (bs=8)", "accept len"));  // of all or of each?
  CHECK(load_of("TPOT ms (bs=8)", "accept len") == 8.0);
  CHECK(load_of("TPOT ms (bs=8)", "accept len (bs=8)") == 8.0);
  CHECK_FALSE(load_of("TPOT ms (bs=8)", "accept len (bs=1)"));
}

TEST_CASE("the unit in the first of several like headings is that of all, if they name arms or kinds") {
  const auto arms =
      posted_runs("| users | baseline tok/s | MTP | EAGLE3 |\n|---|---|---|---|\n| 1 | 40 | 60 | 80 |\n", "table");
  REQUIRE(arms.size() == 3);
  CHECK(arms[2].drafter == "eagle3");
  CHECK(arms[2].times.tpot_ms == 12.5);
  const auto kinds = posted_runs(
      "| config | code tok/s | prose | watts |\n|---|---|---|---|\n| none | 40 | 40 | 300 |\n| mtp3 | 80 | 50 | 310 "
      "|\n",
      "table");
  REQUIRE(kinds.size() == 4);
  CHECK(kinds[3].stratum.category == "prose");
  CHECK(kinds[3].times.tpot_ms == 20.0);
}

TEST_CASE("the only draft length of a text is that of its only drafting arm") {
  const std::string head = "| config | tok/s | AL |\n|---|---|---|\n| plain | 20 | |\n";
  const auto gammas = [&](const std::string& before, const std::string& rows, const std::string& behind = "") {
    std::string all;
    for (const auto& run : read_log(before + "\n\n" + head + rows + "\n" + behind + "\n").observations)
      all += run.gamma ? fmt::format("{} ", *run.gamma) : "- ";
    return all;
  };
  const std::string mtp = "| MTP | 32 | 2.5 |\n";
  for (const char* const stated : {"`--spec-draft-n-max 3 --no-mmap`", "{\"num_speculative_tokens\": 3}",
                                   "Run with --draft-max=3, and again with --draft-max=3.", "with 3 spec tokens"})
    CHECK(gammas(stated, mtp) == "- 3 ");
  CHECK(gammas("", mtp, "We ran it with `--num-speculative-tokens 3`.") == "- 3 ");
  CHECK(gammas("--spec-draft-n-max 3 or --spec-draft-n-max 4", mtp) == "- - ");
  CHECK(gammas("--spec-draft-n-max 1", mtp) == "- - ");  // 2.5 tokens of 1 draft
  CHECK(gammas("--spec-draft-n-max 3", mtp + "| EAGLE3 | 30 | 2.1 |\n") == "- - - ");
  CHECK(gammas("--spec-draft-n-max 3", mtp + "| MTP K=2 | 30 | 2.1 |\n") == "- - 2 ");
  CHECK(gammas("75 draft tokens of 120 tokens", mtp) == "- - ");
}

TEST_CASE("settings are no drafters, and a draft model is one behind a plus") {
  const auto runs = posted_runs(
      "| run | tok/s |\n|---|---|\n| baseline | 40 |\n| tp2 | 55 |\n| q4_k_m | 48 |\n| tp2 mtp | 60 |\n", "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[1].decoding == Decoding::unknown);
  CHECK(runs[2].decoding == Decoding::unknown);
  CHECK(runs[3].decoding == Decoding::speculative);
  const auto models = posted_runs(
      "| Model | Baseline | + draft model |\n|---|---|---|\n| 32B | 24 t/s | 30 t/s |\n| 14B | 50 t/s | 55 t/s |\n",
      "table");
  REQUIRE(models.size() == 4);
  CHECK(models[1].decoding == Decoding::speculative);
}

TEST_CASE("columns of a table of metrics are loads if all of them state one") {
  const std::string rows = "| accept length | 2.4 | 2.3 |\n| TPOT (ms) | 8 | 12 |\n";
  const auto loads = posted_runs("| metric | bs=1 | bs=4 |\n|---|---|---|\n" + rows, "table");
  REQUIRE(loads.size() == 2);
  CHECK(loads[1].concurrency == 4.0);
  CHECK_FALSE(loads[1].stratum.category);
  const auto runs = posted_runs("| metric | baseline | new kernel |\n|---|---|---|\n" + rows, "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].stratum.category == "baseline");
}

TEST_CASE("the numbers of repeated runs are no kinds of prompts") {
  const auto runs = posted_runs(
      "| run | no spec (tok/s) | MTP k=1 (tok/s) |\n|---|---|---|\n| 1 | 40.2 | 52.1 |\n| 2 | 40.4 | 51.2 |\n",
      "table");
  REQUIRE(runs.size() == 4);
  for (const auto& run : runs) CHECK_FALSE(run.stratum.category);
}

TEST_CASE("a metric of one kind of prompts is not that of the others, and other speeds are no kinds") {
  const auto runs = posted_runs(
      "| config | struct tok/s | code | tok/step (struct) |\n|---|---|---|---|\n| mtp2 | 300 | 280 | 2.7 |\n"
      "| dflash6 | 400 | 310 | 5.1 |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].acceptance_length == near(2.7));
  CHECK(runs[1].stratum.category == "code");
  CHECK_FALSE(runs[1].acceptance_length);
  const auto speeds = posted_runs(
      "| arm | decode | prefill |\n|---|---|---|\n| plain | 40 t/s | 900 |\n| MTP K=2 | 60 t/s | 890 |\n", "table");
  REQUIRE(speeds.size() == 2);
  CHECK_FALSE(speeds[0].stratum.category);
}

TEST_CASE("columns of lists and tables of acceptance that are not read are named") {
  const std::string lists =
      "| | no draft | MTP k=3 |\n|---|---|---|\n| Single stream | 15 tok/s | 30 tok/s |\n"
      "| `set` 1 / 2 / 4 users | 14.7 / 14.9 / 12.0 | 33.7 / 27.5 / 20.2 |\n";
  CHECK(warns(read_log(lists), "W18"));
  const std::string speeds = "| task | no-spec tok/s | n_max=1 tok/s |\n|---|---|---|\n| code | 31 | 39 |\n";
  CHECK_FALSE(warns(read_log(speeds), "W18"));
  CHECK(
      warns(read_log(speeds +
                     "\n| task | n_max=1 rate / a.len | n_max=2 |\n|---|---|---|\n| code | 90% / 1.9 | 84% / 2.7 |\n"),
            "W18"));
}

TEST_CASE("times of whole answers are called so") {
  const LogContents contents =
      read_log("| mode | avg latency (s) |\n|---|---|\n| autoregressive | 8.0 |\n| speculative (n=5) | 5.0 |\n");
  const auto read = std::ranges::find(contents.warnings, "W22", &logs::LogWarning::code);
  REQUIRE(read != contents.warnings.end());
  CHECK_THAT(read->message, Catch::Contains("time of a whole answer in s"));
}

TEST_CASE("columns without a heading of their rows are devices or settings, if the rows are arms") {
  const auto runs = posted_runs(
      "| | card A | card B |\n|---|---|---|\n| baseline | 40 tok/s | 60 tok/s |\n| MTP K=2 | 60 tok/s | 78 tok/s |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].stratum.category == "card A");
  CHECK(runs[3].stratum.category == "card B");
  CHECK(runs[3].gamma == 2);
}

}  // namespace foredraft::tests
