// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Sentences that state two speeds, as people write them: 20 tok/s without speculation, 40 with it.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

struct Pair {
  std::vector<Observation> plain = {}, drafting = {};
};

Pair read_pair(const std::string& text) {
  Pair pair;
  for (const Observation& run : read_log(text + "\n").observations)
    (run.decoding == Decoding::plain ? pair.plain : pair.drafting).push_back(run);
  return pair;
}

/// Checks that each text has 20 tok/s without speculation and 40 with it.
void check_pairs(const std::vector<std::string>& texts, std::optional<std::int64_t> gamma = std::nullopt) {
  for (const std::string& text : texts) {
    CAPTURE(text);
    const auto [plain, drafting] = read_pair(text);
    REQUIRE(plain.size() == 1);
    REQUIRE(drafting.size() == 1);
    CHECK(plain[0].times.tpot_ms == near(50.0));
    CHECK(drafting[0].times.tpot_ms == near(25.0));
    CHECK(drafting[0].gamma == gamma);
  }
}

TEST_CASE("words name the arms of two speeds in any order") {
  check_pairs(
      {
          "Without speculation I get 20 tok/s, with MTP K=3 40 tok/s.",
          "MTP at K=3 gives me 40 tok/s vs 20 tok/s without it on my card.",
          "Big model Q4: 20 t/s normal, 40 t/s with K=3.",
          "It does 40 tok/s with MTP K=3, up from 20 tok/s.",
          "It does 40 tok/s with MTP K=3 (20 tok/s without).",
          "Regular decoding: 20 tok/s; speculative decoding, K=3: 40 tok/s",
          "plain 20 tok/s / mtp K=3 40 tok/s",
          "Baseline decode is 20 t/s. With --draft-max 3 it becomes 40 t/s (acceptance 0.71).",
          "no-spec 20 tok/s, n3 40 tok/s",
          "mtp=0: 20 t/s\nmtp=3: 40 t/s",
          "I had 20 t/s before enabling MTP K=3 and reach 40 t/s today.",
          "Today it reaches 36 to 44 tok/s with MTP K=3, 20 tok/s without it.",
          "Speculation off: 20 tok/s. Speculation on (EAGLE-3, K=3): 40 tok/s.",
          "I see ~40 tok/s with MTP (K=3) enabled and ~20 tok/s with it disabled.",
          "The same prompt runs at 20 tok/s if I disable MTP and at 40 tok/s if I enable it, K=3.",
          "Result: plain 20, MTP n=3 40 tok/s.",
          "It writes 40 tok/s with MTP K=3 and 20 without anything.",
          "Three runs each: base 20.1/20.0/19.9, MTP K=3 40.2/40.0/39.8 t/s.",
          "No speculation: 20 t/s | MTP K=3: 40 t/s",
          "Without a drafter 20 tokens per second, 3 draft tokens 40.",
          "With MTP 40 tok/s vs 20 tok/s without speculation, at n_max=3.",
          "MTP is faster than without: 20 tok/s without MTP, 40 tok/s with MTP K=3.",
          "MTP K=3 is the faster one: 20 tok/s without MTP, 40 tok/s with it",
          "EAGLE: K=2 is slower, K=3 is best, 40 tok/s with K=3, 20 without.",
      },
      3);
}

TEST_CASE("with and without name arms where another word says what drafts") {
  const auto [plain, drafting] = read_pair("without: 20 t/s; with draft model: 40 t/s");
  REQUIRE(plain.size() == 1);
  CHECK(plain[0].times.tpot_ms == near(50.0));
  CHECK(drafting.size() == 1);
  CHECK(problem("without: 20 t/s; with: 40 t/s\n").find("no line of a known format") != std::string::npos);
}

TEST_CASE("a change to speculation or away from it has both arms") {
  check_pairs(
      {
          "With num_speculative_tokens=3 throughput rose from 20 to 40 tokens/s, acceptance rate around 74%.",
          "TPOT drops from 50 ms to 25 ms with EAGLE3 (3 draft tokens).",
      },
      3);
  check_pairs({
      "I was getting 20 t/s before enabling --spec-type draft-mtp, now 40 t/s.",
      "Enabling ngram speculation made it faster: 20.0 tok/s up to 40 tok/s.",
      "We went from 20 tok/s to 40 tok/s by enabling EAGLE-3.",
      "Throughput went from 20 tok/s to 40 tok/s when EAGLE-3 was enabled.",
      "TPOT drops from 50 to 25 ms with EAGLE3.",
      "ITL is 50 ms vs 25 with MTP",
      "Turning speculative decoding off costs: from 40 tok/s to 20 tok/s.",
      "After disabling MTP throughput fell from 40 to 20 tok/s.",
      "One prompt with --mtp. It has two turns: 20 -> 40 tok/s",
      "Speculative decoding pays: 20 tok/s rises to 40 tok/s as soon as I pass -md.",
      "I had 20 tps, but once I add the 1B draft model that jumps to 40 tps.",
      "Enabling MTP gave me a 2x boost, I'm now at 40 tok/s.",
  });
  for (const std::string text : {"Decode improved from ~20 to ~40 tok/s (2.0x) at an acceptance of 82%.",
                                 "The baseline went from 20 to 40 tok/s.", "MTP after the fix: from 20 to 40 tok/s."}) {
    CAPTURE(text);
    CHECK(problem(text + "\n").find("20 and 40 tok/s") != std::string::npos);
  }
}

TEST_CASE("a change below words on what speculation did has its arms") {
  check_pairs({
      "Slower after enabling MTP on my card\n\nDecode: 20 tok/s -> 40 tok/s",
      "No speedup when I turn on speculative decoding?\nThroughput: 20 -> 40 tok/s",
      "投机解码开启后无收益\ntpot劣化：50ms->25ms；TPS劣化：20 tok/s->40 tok/s",
      "开启 MTP 后速度下降\n20 -> 40 tok/s",
      "We compare baseline vs EAGLE-3 here\n- **TPOT p50 reduced 50%** at 1 QPS (50 ms \u2192 25 ms), latency down 31%",
      "Performance regression after adding EAGLE-3\nTPOT went down (50 ms \u2192 25 ms)",
  });
  for (const std::string above :
       {"MTP vs baseline on my card", "EAGLE-3 vs MTP: a speedup of 1.3x", "Slower after enabling the new kernel",
        "MTP and EAGLE-3 on my card", "Faster after enabling MTP than without MTP"}) {
    CAPTURE(above);
    CHECK(problem(above + "\n20 -> 40 tok/s\n").find("20 and 40 tok/s") != std::string::npos);
  }
  for (const std::string below : {"The new kernel helps: 20 -> 40 tok/s", "TPS: 20 -> 40 tok/s with two cards"}) {
    CAPTURE(below);
    CHECK(problem("Slower after enabling MTP\n" + below + "\n").find("20 and 40") != std::string::npos);
  }
}

TEST_CASE("what is switched off is plain, and the name of a model is no draft length") {
  check_pairs({
      "Big-K2.6: 40 tok/s with EAGLE-3 enabled versus 20 tok/s disabled.",
      "Kimi-K2: 40 output tok/s with EAGLE-3 enabled, versus 20 tok/s with EAGLE-3 disabled.",
      "EAGLE-3 off: 20 tok/s, EAGLE-3 on: 40 tok/s.",
      "It moves from 20 tok/s/user (no spec) to 40 tok/s/user.",
      "20 tok/s/request without MTP, 40 tok/s/request with MTP",
      "It is 40 instead of 20 tok/s with MTP.",
      "With MTP it is 40 instead of 20 t/s.",
      "40 tok/s rather than 20 tok/s with MTP",
  });
  const auto [plain, drafting] = read_pair("MTP is slower: 40 tok/s without MTP, 38 tok/s on the other card");
  CHECK(plain.size() == 1);
  CHECK(drafting.empty());
}

TEST_CASE("decimal commas and the words for with and without of other languages are read") {
  check_pairs({
      "Without MTP: 20,0 tok/s. With MTP: 40,00 tok/s.",
      "Sin MTP 20,0 tok/s; con MTP 40,0 tok/s",
      "sem MTP 20,0 tokens/s, com MTP 40,0 tokens/s",
      "20 tok/s sans MTP et 40 avec MTP",
      "40.0 tok/s mit MTP, 20.0 ohne MTP",
      "senza MTP 20,0 token/s, con MTP 40,0 token/s",
  });
  check_pairs({"com MTP=3, vLLM 0.29. Resultado: 40,0 tok/s por fluxo (20,0 sem MTP).",
               "MTP=3: 40 tok/s (20.0 without)", "40 tok/s per stream with MTP=3 (20.0 without MTP)"},
              3);
  const LogContents contents = read_log("Sin MTP: 20 tok/s. Con MTP: 19.3 y 18.9 tok/s respectivamente.\n");
  CHECK(contents.observations.size() == 1);
  CHECK(warns(contents, "W18"));
  CHECK(read_pair("Sin MTP: 20 tok/s.\nFP16 vs BF16 sin MTP: 20.0 vs 19.6 tok/s").plain.size() == 1);
  // Of which run is the K of another line?
  const auto other = read_pair(
      "The setting that they measured as the best one on this card is `num_speculative_tokens: 2` now.\nWith MTP 40 "
      "tok/s.\n20 tok/s without MTP.\nIt is slower with k=3.");
  REQUIRE(other.drafting.size() == 1);
  CHECK_FALSE(other.drafting[0].gamma);
}

TEST_CASE("keys that name an arm and a metric hold its speed") {
  check_pairs({
      "run 7: plain_tpot_ms = 50.0, mtp_tpot_ms = 25.0, gain = 2.0x",
      "plain_tps=20.0 eagle3_tps=40.0 speedup=2.00",
      "no_spec_tok_s: 20.0\nspec_tok_s: 40.0",
      "tps_baseline = 20\ntps_mtp = 40",
      "  vanilla tok/s:      20.0\n  speculative tok/s:  40.0",
      "* **baseline TPOT:** 50 ms\n* **MTP TPOT:** 25 ms",
      "ar_tpot = 0.05, spec_tpot = 0.025",
      "ar_tpot = 50, spec_tpot = 25",
      "batch,plain_tpot_ms,mtp_tpot_ms\n1,50,25",
  });
  check_pairs({"ar_tps=20 mtp_k3_tps=40", "ar_tps=20 mtp_tps=40 n_max=3"}, 3);
  // A draft model alone, a time to the first token, a ratio, a list, a change, and a number behind another speed.
  for (const char* text : {"draft_tps = 300.0", "mtp_ttft_ms = 90.0", "mtp_tps = 2.0x", "mtp_tps = 30 / 50",
                           "mtp_tps = 30 -> 50", "mtp_tpot = 0.9"}) {
    CAPTURE(text);
    CHECK(read_pair("plain_tps = 20.0\n" + std::string(text)).drafting.empty());
  }
  CHECK(read_pair("plain_tps = 20.0, draft_tps = 300.0, spec_tps = 40.0").drafting.size() == 1);
  CHECK(read_pair("plain_tps = 20.0, expected_spec_tps = 60.0, spec_tps_max = 44.0, spec_tps = 40.0").drafting.size() ==
        1);
}

TEST_CASE("a spread is no speed") {
  check_pairs(
      {
          "baseline 20.0 \u00b1 0.5 tok/s, MTP K=3 40.0 \u00b1 7.6 tok/s",
          "Without MTP: 20 +/- 3 t/s. With MTP K=3: 40 +/- 2 t/s",
          "no spec 20 tok/s \u00b1 15 tok/s, MTP n=3 40 tok/s \u00b1 25 tok/s",
          "20 tok/s \u00b1 15 tok/s without MTP, 40 tok/s \u00b1 25 tok/s with MTP K=3",
          "20.0+-0.5 tok/s plain, 40.0+-0.8 tok/s with MTP K=3",
          "TPOT drops from 50 \u00b1 2 ms to 25 \u00b1 1 ms with EAGLE3 (3 draft tokens)",
          "baseline 20 tok/s (std 12 tok/s), MTP K=3 40 tok/s (stdev 22 tok/s)",
      },
      3);
}

TEST_CASE("differences, maxima and numbers of other units are no speeds of an arm") {
  CHECK(problem("MTP is 20 tok/s faster and K=3 gives +1.6 tok/s.\n").find("no line") != std::string::npos);
  const auto [plain, drafting] =
      read_pair("17 tok/s without speculation; 27 tok/s with MTP=2 on prose, and with MTP=2 up to 36 tok/s on code.");
  CHECK(plain.size() == 1);
  REQUIRE(drafting.size() == 1);
  CHECK(drafting[0].times.tpot_ms == near(1000.0 / 27.0));
  CHECK(warns(read_log("17 tok/s without MTP; 27 tok/s with MTP, up to 36 tok/s with MTP on code.\n"), "W18"));
  // The time is no speed, so that nothing is before the change.
  CHECK(problem("ITL went from 25 ms to 40 tok/s\n").find("and 40 tok/s") == std::string::npos);
  CHECK(read_pair("TPOT with MTP: 20 tok/s, 25 ms -> 40 tok/s").plain.empty());
  // A sentence that ends in brackets ends before the change behind them.
  CHECK(posted_runs("Without MTP 20 tok/s, 30 tok/s (ours; one card) -> 60 tok/s\n", "prose").size() == 1);
  CHECK(posted_runs("Plain 40 tok/s, with MTP 60 tok/s. All of it with k = 3.\n", "prose").at(1).gamma == 3);
  // A time beside speeds is of something else.
  const auto [fast, slow] = read_pair("Disabling MTP restores 50 ms/token and twice the throughput (40 vs 20 tok/s).");
  REQUIRE(fast.size() == 1);
  CHECK(fast[0].times.tpot_ms == near(25.0));
  CHECK(slow.size() == 1);
}

TEST_CASE("a number without a unit is a speed only as that of an arm") {
  CHECK(read_log("It does 40 tok/s with MTP, without MTP 128 layers fit.\n").observations.size() == 1);
  CHECK(read_log("With MTP 3, plain 20 tok/s.\n").observations.size() == 1);
  CHECK(read_log("baseline 20 tok/s, MTP 900\n").observations.size() == 1);
}

TEST_CASE("the last speed of a list of several things is not used") {
  for (const std::string text : {"no drafter: 20 tok/s; MTP: code 80.1 / 80.2, prose 40.1 / 40.2 tok/s",
                                 "no drafter: 20 tok/s; MTP: 80 / 60 / 40 tok/s"}) {
    CAPTURE(text);
    const LogContents read = read_log(text + "\n");
    REQUIRE(read.observations.size() == 1);
    CHECK(read.observations[0].decoding == Decoding::plain);
    CHECK(warns(read, "W18"));
  }
}

TEST_CASE("several changes of a sentence are setups of their own, of one drafter") {
  for (const std::string text : {"Code: 20 -> 40 and prose: 10 -> 15 tok/s with MTP.",
                                 "With MTP it goes 20 -> 40 tok/s here; 10 -> 15 tok/s on the old card."}) {
    CAPTURE(text);
    const auto [plain, drafting] = read_pair(text);
    REQUIRE(plain.size() == 2);
    REQUIRE(drafting.size() == 2);
    CHECK(drafting[1].times.tpot_ms == near(1000.0 / 15.0));
    CHECK(plain[0].stratum.category != plain[1].stratum.category);
    CHECK(plain[1].stratum.category == drafting[1].stratum.category);
  }
  const auto same = read_pair("20 -> 40 tok/s for code, 20 -> 30 tok/s for chat with MTP.").drafting;
  REQUIRE(same.size() == 2);
  CHECK(same[0].stratum.category != same[1].stratum.category);
  CHECK(problem("MTP: 20 -> 40 tok/s with K=3\n").find("20 and 40 tok/s") != std::string::npos);  // of another K?
}

TEST_CASE("what stands beside the one speed that drafts is its own") {
  const auto length = read_pair("MTP K=4: 40 tok/s, mean acceptance length 2.9; baseline: 20 tok/s").drafting;
  REQUIRE(length.size() == 1);
  CHECK(length[0].acceptance_length == near(2.9));
  const auto counts =
      read_pair("Acceptance of the warmed run was 30/60; 10 tok/s vs 20 tok/s without MTP, n_max=4.").drafting;
  REQUIRE(counts.size() == 1);
  CHECK(counts[0].acceptance_length == near(3.0));
}

TEST_CASE("a ratio without its speeds is named") {
  CHECK(problem("The throughput with MTP is about 70% of what I get without it.\n").find("0.7x") != std::string::npos);
  const LogContents read = read_log("Speedup over regular decoding with EAGLE3: 1.42x, acceptance length 2.31.\n");
  REQUIRE(read.observations.size() == 1);
  CHECK(read.observations[0].acceptance_length == near(2.31));
  CHECK(warns(read, "W18"));
}

TEST_CASE("lengths of a list are told apart, and ratios beside them are named") {
  const LogContents models = read_log(
      "Measured with EAGLE3:\n"
      "- **Small one** with EAGLE3: mean acceptance length 2.1, speedup over decoding without it 1.4x\n"
      "- **Large one** with EAGLE3: mean acceptance length 3.2, speedup over decoding without it 1.7x\n");
  REQUIRE(models.observations.size() == 2);
  CHECK(models.observations[0].stratum.category == "Small one with EAGLE3");
  CHECK(models.observations[1].acceptance_length == near(3.2));
  CHECK(warns(models, "W18"));

  const auto arms = posted_runs("MTP K=1: acceptance length 1.8\nMTP K=3: acceptance length 2.7\n", "prose");
  REQUIRE(arms.size() == 2);
  CHECK(arms[1].gamma == 3);
  CHECK_FALSE(arms[1].stratum.category);
  // Of one thing, or no list: which is it?
  for (const char* other : {"MTP: acceptance length 1.8\nMTP: acceptance length 2.7\n",
                            "Here MTP has an acceptance length of 1.8.\n\nThe paper: acceptance length 2.7\n"}) {
    CAPTURE(other);
    CHECK_FALSE(problem(other).empty());
  }
}

TEST_CASE("the middle of a range of acceptance is an estimate") {
  CHECK(warns(read_log("MTP K=3: acceptance length 2.1-2.5 here.\n"), "W20"));
  CHECK_FALSE(warns(read_log("MTP K=3: acceptance length 2.1 here.\n"), "W20"));
  const std::string head = "| K | Acceptance | tok/s |\n|---|---|---|\n| 0 | - | 20-24 |\n";
  CHECK(warns(read_log(head + "| 2 | 0.6-0.8 | 40 |\n"), "W20"));
  CHECK(warns(read_log(head + "| 2 | 60 to 80 % | 40 |\n"), "W20"));
  CHECK_FALSE(warns(read_log(head + "| 2 | 0.4-0.8 | 40 |\n"), "W20"));  // too wide for one: not read
  CHECK_FALSE(warns(read_log(head + "| 2 | 2.4 | 40 |\n"), "W20"));
}

TEST_CASE("each load of a sentence has its arms") {
  const auto [plain, drafting] =
      read_pair("At concurrency 1 EAGLE gives 2x (20 -> 40 tok/s); at concurrency 32 it's 0.9x (1000 -> 900 tok/s).");
  REQUIRE(plain.size() == 2);
  REQUIRE(drafting.size() == 2);
  CHECK(drafting[0].concurrency == 1.0);
  CHECK(plain[1].stratum.category == "32 requests");
  CHECK(drafting[1].times.tpot_ms == near(1000.0 / 900.0));
}

TEST_CASE("a load holds for the sentences behind it, and models tell the same loads of lines apart") {
  const auto [plain, drafting] = read_pair(
      "- Small 9B: MTP was 2x faster at concurrency 1. Baseline hit 50 tok/s, MTP hit 100 tok/s. At concurrency 8, "
      "baseline reached 200 tok/s, MTP reached 300 tok/s.\n"
      "- Large 70B: the same at concurrency 1. Baseline hit 10 tok/s, MTP hit 25 tok/s. At concurrency 8, baseline "
      "reached 80 tok/s, MTP reached 90 tok/s.\n"
      "- MTP used num_speculative_tokens=4\n");
  REQUIRE(plain.size() == 4);
  REQUIRE(drafting.size() == 4);
  CHECK(plain[0].concurrency == 1.0);
  CHECK(plain[0].stratum.category == "9b");
  CHECK(drafting[1].stratum.category == "9b, 8 requests");
  CHECK(drafting[1].times.tpot_ms == near(1000.0 / 300.0));
  CHECK_FALSE(plain[1].concurrency);
  CHECK(plain[2].stratum.category == "70b");
  CHECK(drafting[3].gamma == 4);

  // Pairs of a line of which not all loads are named.
  const auto unnamed = read_pair(
      "Baseline made 50 tok/s, MTP made 100 tok/s. With 8 concurrent requests baseline made 200 tok/s, MTP made 300 "
      "tok/s. With a single user, baseline made 70 tok/s, MTP made 90 tok/s.");
  REQUIRE(unnamed.plain.size() == 3);
  CHECK(unnamed.plain[0].stratum.category == "line 1");
  CHECK(unnamed.plain[1].stratum.category == "line 1, plain 200 tok/s");
  CHECK(unnamed.drafting[2].stratum.category == unnamed.plain[2].stratum.category);
  const auto one_user = read_pair(
      "At concurrency 8 it is like this. With a single user, baseline made 70 tok/s, MTP made 90 tok/s. With 16 "
      "concurrent requests baseline made 200 tok/s, MTP made 300 tok/s.");
  REQUIRE(one_user.plain.size() == 2);
  CHECK(one_user.plain[0].stratum.category == "line 1");
}

TEST_CASE("draft lengths of which each is said of one drafter are those of its speeds") {
  const std::string speeds = "Baseline gets 20 tok/s, MTP gets 40 tok/s, and DFlash gets 50 tok/s.\n";
  const std::string mtp = "- MTP: n_max=5\n", dflash = "Our DFlash model ran with num_speculative_tokens = 12\n";
  const auto [plain, drafting] = read_pair(mtp + dflash + speeds);  // the line above is of one of both
  REQUIRE(drafting.size() == 2);
  CHECK(drafting[0].gamma == 5);
  CHECK(drafting[1].gamma == 12);
  for (const char* other :
       {"- DFlash: n_max=8\n", "- MTP and EAGLE: n_max=8\n", "- n_max=8\n", "- no MTP: n_max=8\n"}) {
    CAPTURE(other);
    CHECK_FALSE(read_pair(speeds + mtp + dflash + other).drafting.at(0).gamma);
  }
}

TEST_CASE("drafters of several sizes are several arms") {
  const auto [plain, drafting] =
      read_pair("20 tok/s (no draft), 40 tok/s (draft 1.7B, n=4), 36 tok/s (draft 0.6B, n=4)");
  CHECK(plain.size() == 1);
  REQUIRE(drafting.size() == 2);
  CHECK(drafting[0].drafter == "1.7b");
  CHECK(drafting[1].drafter == "0.6b");
  CHECK(drafting[1].gamma == 4);
}

TEST_CASE("of a chain of comparisons only what brackets name is read") {
  const LogContents read = read_log("Decoding took 150 tok/s vs 110 (MTP) vs 40 (AR) here.\n");
  REQUIRE(read.observations.size() == 2);
  CHECK(warns(read, "W18"));  // of 150
  CHECK(read.observations[0].drafter == "mtp");
  CHECK(read.observations[1].decoding == Decoding::plain);
  CHECK(read.observations[1].times.tpot_ms == near(25.0));
}

TEST_CASE("a rate in the sentence behind is that of the one speed that drafts") {
  const auto [plain, drafting] = read_pair("20 tok/s without draft, 40 tok/s with draft K=3. 50 % accepted tokens.");
  REQUIRE(drafting.size() == 1);
  CHECK(drafting[0].acceptance_length.value() == near(2.5));
  // Accepted tokens a step, of which the share is not known.
  const auto tokens = read_pair("20 tok/s without draft, 40 tok/s with draft K=3, mean_accept=0.4.");
  REQUIRE(tokens.drafting.size() == 1);
  CHECK_FALSE(tokens.drafting[0].acceptance_length);
  const auto both = read_pair("20 tok/s without draft, 40 tok/s with draft K=3, mean_accept=1.5, acceptance 50 %.");
  REQUIRE(both.drafting.size() == 1);
  CHECK(both.drafting[0].acceptance_length.value() == near(2.5));
}

TEST_CASE("models of other families are not compared, a drafter's name is not its target's") {
  CHECK(problem("Qwen at 20 tok/s without MTP, and Gemma with MTP at 40 tok/s\n").find("speeds with and without") !=
        std::string::npos);
  CHECK(read_pair("Big-32B: without SD 20 t/s. With SD (Small-0.6B) as draft I get 40 t/s").drafting.size() == 1);
  CHECK(read_pair("A 32B model: 20 t/s normal, 40 t/s with 0.6B draft.").drafting.size() == 1);
}

TEST_CASE("speeds of one arm that differ much are those of other setups") {
  const auto [plain, drafting] = read_pair("- 73 tok/s baseline, 270 tok/s with MTP\n- Small model: 80 tok/s with MTP");
  CHECK(plain.size() == 1);
  REQUIRE(drafting.size() == 1);
  CHECK(drafting[0].times.tpot_ms == near(1000.0 / 270.0));
  CHECK(problem("MTP: 40 tok/s\nbaseline: 20 tok/s\nMTP: 80 tok/s\n").find("speeds of one arm") != std::string::npos);
}

}  // namespace

TEST_CASE("a dash between a draft length and a speed makes no range") {
  for (const std::string name : {"MTP K=3", "EAGLE 3", "MTP (K=3)", "DFlash n=12", "MTP K=16"}) {
    CAPTURE(name);
    const auto [plain, drafting] = read_pair("Speculation disabled - 20 tok/s\n" + name + " - 30 tok/s\n");
    REQUIRE(plain.size() == 1);
    REQUIRE(drafting.size() == 1);
    CHECK(plain[0].times.tpot_ms == near(50.0));
    CHECK(drafting[0].times.tpot_ms == near(1000.0 / 30.0));
  }
  const auto ranges = read_pair("no MTP: 20 - 22 tok/s\nMTP: 30 - 34 tok/s\n");
  REQUIRE(ranges.drafting.size() == 1);
  CHECK(ranges.drafting[0].times.tpot_ms == near(1000.0 / 32.0));
}

TEST_CASE("speeds beside a load are a request's only if words say so") {
  const auto warned = [](const std::string& text) { return warns(read_log(text), "W12"); };
  CHECK(warned("At concurrency 8: 400 tok/s without MTP, 600 tok/s with MTP K=3.\n"));
  CHECK(warned("With 8-way batching 400 tok/s without MTP, 600 tok/s with MTP K=3.\n"));
  CHECK(warned("With 8-way concurrency 400 tok/s without MTP, 600 tok/s with MTP K=3.\n"));
  CHECK_FALSE(warned("At concurrency 1: 40 tok/s without MTP, 60 tok/s with MTP K=3.\n"));
  CHECK_FALSE(warned("At concurrency 8: 40 tok/s per user without MTP, 60 tok/s with MTP K=3.\n"));
}

TEST_CASE("a change of the draft length, or of more than speculation, is no gain over plain decoding") {
  for (const char* text :
       {"Going from MTP2 to MTP5: 40 -> 52 tok/s\n", "40 \xE2\x86\x92 52 tok/s (MTP2 \xE2\x86\x92 MTP5)\n",
        "40 -> 52 tok/s by raising num_speculative_tokens from 2 to 5\n", "With MTP5 instead of MTP2: 40 -> 52 tok/s\n",
        "40 -> 52 tok/s after tuning MTP\n", "40 -> 52 tok/s with MTP + FP8 KV cache\n",
        "40 -> 52 tok/s (EAGLE3 & graphs)\n"})
    CHECK(problem(text) == "some.log:1: 40 and 52 tok/s");
  for (const char* text : {"K=2: 40 -> 52 tok/s, K=4: 40 -> 55 tok/s\n", "MTP K=2: 40 -> 52 tok/s (n=5)\n",
                           "Gemma-9B + MTP: 40 -> 52 tok/s\n", "MTP with n-max from 0 to 2: 40 -> 52 tok/s\n"})
    CHECK(posted_runs(text, "prose").at(0).decoding == Decoding::plain);
}

TEST_CASE("a sentence with both arms is read beside a log of one of them") {
  const std::string words = "Speed rose from 21 tok/s (MTP off) to 33 tok/s (MTP on).\n\nThe log:\n";
  const auto decode = [](const std::string& accepts, int tokens) {
    return fmt::format(
        "[2026-02-03 04:05:{}] Decode batch, #running-req: 1, #token: {}, token usage: 0.00, {}cuda graph: True, gen "
        "throughput (token/s): 61.50, #queue-req: 0\n",
        tokens / 10, tokens, accepts);
  };
  const std::string drafts = "accept len: 2.40, accept rate: 0.60, ";
  for (const std::string& accepts : {std::string(), drafts}) {
    const std::string log = decode(accepts, 140) + decode(accepts, 180);
    const LogContents contents = read_log(words + "Baseline:\n\n" + log);
    std::vector<Observation> said;
    for (const Observation& run : contents.observations) {
      if (run.stratum.category == "line 1") said.push_back(run);
    }
    REQUIRE(said.size() == 2);
    CHECK(said[0].times.tpot_ms == near(1000.0 / 21.0));
    CHECK(said[1].times.tpot_ms == near(1000.0 / 33.0));
    CHECK(contents.observations.size() > 2);
  }
  const LogContents both = read_log(words + "Baseline:\n\n" + decode("", 140) + decode("", 180) + "\nMTP:\n\n" +
                                    decode(drafts, 220) + decode(drafts, 260));
  for (const Observation& run : both.observations) CHECK(run.stratum.category != "line 1");
}

TEST_CASE("a label holds for the speed below the list or the command that follows it") {
  check_pairs(
      {
          "Baseline without MTP:\n\n-ngl 99 -fa 1\n~20 tok/s\n\nBest MTP run:\n\n-ngl 99 --draft-max 3\n39.0-41.0 "
          "tok/s\n",
          "Plain:\n```\nserve big-model\n```\n20 tok/s\n\nMTP:\n```\nserve big-model --draft-max 3\n```\n40 tok/s\n",
          "No speculation:\n- requests: 1\n- ~20 output tok/s\n\nEAGLE setting:\n- num_speculative_tokens=3\n- "
          "other=8\n- ~40 output "
          "tok/s\n",
      },
      3);
  // Behind other text it holds no longer.
  CHECK(read_pair("Plain:\n- 20 tok/s\n\nMTP:\n- fast\n\nOther words.\n\n~40 tok/s").drafting.empty());
}

TEST_CASE("counters in a list are of the setup of the words beside them") {
  const LogContents contents =
      read_log("Plain: 21 tok/s\nMTP: 33 tok/s\n\nnum_drafts: 100\nnum_draft_tokens: 300\nnum_accepted_tokens: 150\n");
  CHECK(contents.observations.size() == 3);
  for (const Observation& run : contents.observations) CHECK_FALSE(run.stratum.category);
}

TEST_CASE("a number of sampled tokens is no draft length") {
  CHECK(read_pair("Sampling: top-k 20 / seed 42. Plain: 28 tok/s decode.").drafting.empty());
  check_pairs({"Seed 8, top-k 33, 20 tok/s plain, 40 tok/s with MTP", "20 tok/s plain, 40 tok/s with MTP (top_k 30)"});
}

}  // namespace foredraft::tests
