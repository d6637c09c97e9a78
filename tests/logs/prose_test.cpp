// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <string>

#include "logs/arms.hpp"
#include "tests/logs/logs_testing.hpp"

/// Speeds in the words of a text.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;

}  // namespace

TEST_CASE("text that names arms and their speeds is read where a file has nothing else") {
  for (const std::string text :
       {"On my machine:\n- **Baseline**: 25.0 t/s (peak 30)\n- MTP n=2: `40.0` tok/s, 70% acceptance\n",
        "I get 40.0 tokens/second with MTP n=2 (acceptance 0.7), and 25.0 tokens/second without it.\n",
        "speed, -SD: 25.0 tokens/second\nspeed, +SD K=2: 40.0 tokens/second, accept 70 %\n",
        "engine 1.0  q4  14.39 GB    25 tok/s     (no MTP)\nengine 1.0  q4  16.10 GB    40 tok/s     (MTP n=2, accept "
        "70-75%)\n"}) {
    CAPTURE(text);
    const auto runs = posted_runs(text, "prose");
    REQUIRE(runs.size() == 2);
    const std::size_t plain = runs[0].decoding == Decoding::plain ? 0 : 1;
    CHECK(runs[plain].decoding == Decoding::plain);
    CHECK(runs[plain].times.tpot_ms == near(40.0));
    CHECK(runs[1 - plain].decoding == Decoding::speculative);
    CHECK(runs[1 - plain].times.tpot_ms == near(25.0));
    CHECK(warns(read_log(text), "W22"));
  }
  const auto tuned = posted_runs("AR     10.0 tok/s   1.00x\nD1     20.0 tok/s   2.00x\n", "prose");
  REQUIRE(tuned.size() == 2);
  CHECK(tuned[1].gamma == 1);
  const auto unnamed =
      posted_runs("model-7b   base  50.0 tokens/s\nmodel-7b   Speculative Sampling  60.0 tokens/s\n", "prose");
  REQUIRE(unnamed.size() == 2);
  CHECK_FALSE(unnamed[1].drafter);
}

TEST_CASE("tokens of an answer are no draft length") {
  const auto runs = posted_runs(
      "- mtp_off: 64 tokens, 3.2s, 20 tok/s\n- mtp_draft_1: 65 tokens, 2.6s, 25 tok/s\n"
      "- medusa: 12 tokens in 0.4 s, 30 tok/s\n",
      "prose");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].gamma == 1);
  CHECK_FALSE(runs[2].gamma);
}

TEST_CASE("a label counts behind a comma too, and words of the next sentence do not") {
  for (const char* plain : {"Without SD, 25 t/s. With SD K=2 I get 40 t/s.",
                            "without a draft: 25 t/s, with K=2: 40 t/s", "Ohne MTP: 25 tok/s, mit MTP K=2: 40 tok/s"}) {
    CAPTURE(plain);
    const auto runs = posted_runs(std::string(plain) + "\n", "prose");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(40.0));
    CHECK(runs[1].gamma == 2);
  }
  CHECK(posted_runs("Using MTP was worse, 31 t/s without it\n", "prose").at(0).decoding == Decoding::plain);
}

TEST_CASE("of two speeds of which only the second has a unit, the first is that of the words before them") {
  for (const std::string text :
       {"Turning off MTP restores the throughput at once (40 vs 25 tok/s)",
        "disabling speculative decoding and the cache helps: 40 vs. 25 tok/s", "Baseline vs MTP: ~40 versus ~25 t/s"}) {
    CAPTURE(text);
    const auto runs = posted_runs(text + "\n", "prose");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(25.0));
    CHECK(runs[1].decoding == Decoding::speculative);
    CHECK(runs[1].times.tpot_ms == near(40.0));
  }
  const auto drafts = posted_runs("With EAGLE3 enabled I see 40 vs 25 tok/s\n", "prose");
  REQUIRE(drafts.size() == 2);
  CHECK(drafts[0].drafter == "eagle3");
  CHECK(drafts[1].decoding == Decoding::plain);
  for (const std::string text : {"MTP is slower than expected, MTP over baseline 40 vs 25 tok/s",
                                 "EAGLE3 vs MTP: 40 vs 25 tok/s", "MTP and EAGLE3: 40 vs 25 tok/s"}) {
    CAPTURE(text);
    CHECK(problem(text + "\n").find("40 and 25 tok/s") != std::string::npos);
  }
}

TEST_CASE("the load of a line is that of its speeds, if they are those of all requests together") {
  const auto load = [](const std::string& words) {
    return posted_runs("without MTP 100 tok/s, with MTP 60 tok/s " + words + "\n", "prose")[1].concurrency;
  };
  CHECK(load("aggregate throughput at c=16") == 16.0);
  CHECK(load("in total with 8 concurrent users") == 8.0);
  CHECK(load("at batch size 1") == 1.0);
  CHECK_FALSE(load("at c=16"));
  CHECK_FALSE(load("aggregate throughput at c=16 and c=32"));
  const auto runs = posted_runs("aggregate at c=16: without MTP 100 tok/s, with MTP 60 tok/s\n", "prose");
  CHECK(runs[1].times.output_tokens_per_s == 60.0);
}

TEST_CASE("a model's arrow to its drafting variant is speculation, other arrows are not") {
  const auto runs = posted_runs("7B -> 7B MTP: 10.0 -> 20.0 t/s\n9B A1B -> 9B A1B MTP: 40.0 -> 50.0 t/s\n", "prose");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].drafter == "mtp");
  CHECK(runs[1].stratum.category != runs[3].stratum.category);
  for (const std::string text : {"7B -> 9B MTP: 10.0 -> 20.0 t/s", "MTP K=1 -> MTP K=3: 10.0 -> 20.0 t/s"}) {
    CAPTURE(text);
    CHECK(problem(text + "\n").find("10 and 20 tok/s") != std::string::npos);
  }
}

TEST_CASE("a drafter that is off or inactive is none") {
  const auto off = posted_runs("It fell from ~40 tokens/s (DFlash OFF) to ~25 tokens/s (DFlash ON)\n", "prose");
  REQUIRE(off.size() == 2);
  CHECK(off[0].decoding == Decoding::plain);
  CHECK(off[1].drafter == "dflash");
  const auto table = posted_runs("| Mode | tok/s |\n|---|---|\n| MTP inactive | 25 |\n| MTP active | 40 |\n", "table");
  REQUIRE(table.size() == 2);
  CHECK(table[0].decoding == Decoding::plain);
  CHECK(table[1].drafter == "mtp");
}

TEST_CASE("numbers of names are no speeds of a text") {
  for (const char* text : {"cap Baseline tok/s EAGLE3 tok/s", "no-spec tok/s EAGLE-3 tok/s"}) {
    CAPTURE(text);
    CHECK(problem(std::string(text) + "\n").find("no line of a known format") != std::string::npos);
  }
  CHECK_FALSE(logs::arm_named("MTP: 11.7").gamma);
  CHECK(logs::arm_named("MTP:3").gamma == 3.0);
}

TEST_CASE("words beside a log of both arms add nothing to it, and speeds of prompts or of other things are no arms") {
  const std::string words = "With MTP I see 40 tok/s, without MTP 25 tok/s.\n";
  CHECK(posted_runs(words + sample("table.md"), "table").size() == 2);
  CHECK(posted_runs(words + sample("local_prompts.txt"), "prose local-prompts").size() == 3);
  CHECK(problem("prompt processing with MTP: 500 tok/s\nit writes 20 tok/s\n").find("no line") != std::string::npos);
}

TEST_CASE("several setups of one text are not pooled") {
  const auto pairs = posted_runs(
      "Model a: 20 tok/s without draft, 30 tok/s with draft.\nModel b: 10 tok/s without draft, 12 tok/s with draft.\n",
      "prose");
  REQUIRE(pairs.size() == 4);
  CHECK(pairs[0].stratum.category == pairs[1].stratum.category);
  CHECK(pairs[0].stratum.category != pairs[2].stratum.category);
  CHECK(pairs[2].stratum.category == "line 2");
  // Repeated runs are of one.
  const auto repeated = posted_runs(
      "20.0 tok/s without draft, 30 tok/s with draft\n20.5 tok/s without draft, 31 tok/s with draft\n", "prose");
  CHECK_FALSE(repeated.at(0).stratum.category);
  CHECK(problem("20 tok/s without draft\n10 tok/s without draft\n30 tok/s with draft\n").find("speeds of one arm") !=
        std::string::npos);
}

TEST_CASE("words in brackets behind a speed name its arm") {
  const auto runs =
      posted_runs("big (main) + small (draft): from 38.0 t/s (without draft) to 33.0 t/s (with draft)\n", "prose");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(1000.0 / 38.0));
  CHECK(runs[1].decoding == Decoding::speculative);
}

TEST_CASE("words behind a speed are not those of the next one") {
  const auto runs = posted_runs("I get 20 t/s without MTP and 40 t/s with MTP K=2.\n", "prose");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].gamma == 2);
  CHECK(runs[1].times.tpot_ms == near(25.0));
}

TEST_CASE("a change of a speed is one to speculation where its words, or a comparison above it, say so") {
  for (const char* text :
       {"- with MTP: 20.0 -> 40.0 tok/s (2.00x, n=3)\n", "big + small (draft): 20.0 t/s to 40.0 t/s\n",
        "7B-MTP vs Base 7B (one turn): faster\n- Total: 9 s\n- Prompt Processing: 900 -> 800 t/s (-11.1 %)\n"
        "- Generation: 20.0 -> 40.0 t/s (+100% faster)\n"}) {
    CAPTURE(text);
    const auto runs = posted_runs(text, "prose");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(50.0));
    CHECK(runs[1].decoding == Decoding::speculative);
    CHECK(runs[1].times.tpot_ms == near(25.0));
  }
  for (const char* text : {"- Q4: 20.0 -> 40.0 tok/s (2.00x, n=3)\n", "MTP after the fix: 20.0 -> 40.0 tok/s\n",
                           "MTP K=1 -> K=3: 20.0 -> 40.0 tok/s\n", "big + small: 40.0 tok/s (+100% speedup, 9 GB)\n"}) {
    CAPTURE(text);
    CHECK(problem(text).find("20 and 40 tok/s") != std::string::npos);
  }
  CHECK(problem("MTP: 40.0 tok/s (85 % accepted)\n").empty());
  // Beside a log they say nothing.
  CHECK(posted_runs("20.0 -> 40.0 tok/s\n" + sample("table.md"), "table").size() == 2);
}

TEST_CASE("a gain beside the speed of a run that drafts tells the speed without speculation") {
  for (const char* gain : {"1.6x", "+60 %", "+60% speedup, 9 GB"}) {
    const auto runs = posted_runs(fmt::format("MTP K=2: 40.0 tok/s ({})\n", gain), "prose");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(40.0));
    CHECK(runs[1].gamma == 2);
  }
  CHECK(posted_runs("plain: 20 tok/s\nMTP K=2: 40.0 tok/s (1.6x)\n", "prose").size() == 2);
}

TEST_CASE("a range is read as its middle, and lines that hold both speeds are setups of their own") {
  const auto runs = posted_runs(
      "- a: Without SD, 2.0 t/s. With SD (small) as draft, I get 3-5 t/s\n- b: Without SD, 4.0 t/s. With SD as draft, "
      "I "
      "get 8 t/s\nSome call 2 t/s without SD too slow.\n",
      "prose");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].stratum.category == "line 1");
  CHECK(runs[1].times.tpot_ms == near(250.0));
  CHECK(runs[2].times.tpot_ms == near(250.0));
  CHECK(runs[3].stratum.category == "line 2");
}

TEST_CASE("a mean behind a range is read in place of its middle, which is an estimate") {
  for (const char* const mean : {"30-50 tok/s (avg 36)", "30-50 tok/s, on average 36 tok/s.",
                                 "30-50 t/s with an average of 36 t/s", "30-50 tok/s, typically 36"}) {
    CAPTURE(mean);
    const auto contents = read_log(std::string("baseline 20 tok/s\nMTP K=3: ") + mean + "\n");
    REQUIRE(contents.observations.size() == 2);
    CHECK(contents.observations[1].times.tpot_ms == near(1000.0 / 36.0));
    CHECK_FALSE(warns(contents, "W20"));
  }
  const auto warned = [](const std::string& drafting) {
    return warns(read_log("baseline 20 tok/s\nMTP K=3: " + drafting + "\n"), "W20");
  };
  CHECK(warned("30-50 tok/s"));
  CHECK(warned("30-50 tok/s, average 70"));  // of something else
  CHECK_FALSE(warned("30-32 tok/s"));
}

TEST_CASE("a line above speeds that name their arms does not change them") {
  const auto runs = posted_runs(
      "Big target + small draft\nPrompt 1: 20.0 tok/sec without draft, 16.0 tok/sec with draft.\nPrompt 2: 10.0 "
      "tok/sec "
      "without draft, 9.0 tok/sec with draft.\n",
      "prose");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[2].decoding == Decoding::plain);
  CHECK(runs[3].decoding == Decoding::speculative);
}

TEST_CASE("a line above speeds says what drafts, if they do not") {
  const auto runs = posted_runs(
      "vanilla: 40 tok/s\n\nEAGLE 1:\n* K=2: 50 tok/s\n* with speculation 55 tok/s\n\nMTP:\n* K=2: 60 tok/s\n",
      "prose");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].drafter == runs[2].drafter);
  CHECK(runs[1].drafter != runs[3].drafter);
  CHECK(runs[3].drafter == "mtp");
}

TEST_CASE("a speed of which no words say whether it is with speculation is named as not used") {
  const LogContents read = read_log("Without MTP: 40 tok/s. With MTP: 60 tok/s. My other card reaches 90 tok/s.\n");
  CHECK(read.observations.size() == 2);
  CHECK(warns(read, "W18"));
  CHECK_FALSE(warns(read_log("Without MTP: 40 tok/s. With MTP: 60 tok/s.\n"), "W18"));
}

TEST_CASE("words before a console's line name its arm") {
  const auto runs = posted_runs(
      "Without draft model: Generation: 256 tokens, 25.0 tokens-per-sec\n"
      "With draft model: Generation: 256 tokens, 40.0 tokens-per-sec\n",
      "mlx-lm");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].times.tpot_ms == near(25.0));
}

TEST_CASE("llama-cli beside llama-speculative is the run without speculation") {
  const LogContents contents = read_log(sample("local_prompts.txt") + "\n" + sample("llama_speculative.txt"));
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].decoding == Decoding::plain);
  CHECK(contents.observations[0].requests == 1.0);
  CHECK(contents.observations[1].decoding == Decoding::speculative);
}

TEST_CASE("a speed alone is of the arm that the line above it names") {
  for (const std::string& text :
       {std::string("## Without MTP\n\n20 tok/s\n\n## With MTP (K=3)\n\n30 tok/s\n"),
        std::string("baseline:\n  prompt: 900 tok/s\n  generation: 20 tok/s\nMTP K=3:\n  prompt: 900 tok/s\n  "
                    "generation: 30 tok/s\n"),
        std::string("w/o spec decoding:\n  20 tok/s\nwith spec decoding, 3 draft tokens:\n  30 tok/s\n"),
        std::string("without spec decoding:\n  20 tok/s\nwith spec decoding K=3:\n  30 tok/s\n")}) {
    CAPTURE(text);
    const auto runs = posted_runs(text, "prose");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == logs::Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(50.0));
    CHECK(runs[1].gamma == 3);
    CHECK(runs[1].times.tpot_ms == near(1000.0 / 30.0));
  }
  const auto other =
      posted_runs("## Without MTP\n20 tok/s\n\n## With MTP\n30 tok/s\n\nMy other card:\n\n90 tok/s\n", "prose");
  CHECK(other.size() == 2);
  // Not where other lines stand between them, or of a sentence.
  CHECK(problem("## Without MTP\n\nThe server ran.\n\n20 tok/s\n\n## With MTP\n\nIt ran too.\n\n30 tok/s\n")
            .find("no line of a known format") != std::string::npos);
}

TEST_CASE("an acceptance length beside the only drafted speed of a line is of that speed") {
  const auto runs = posted_runs(
      "- plain: 24.8 tok/s\n- MTP K=2: 36.0 tok/s, acc len 2.51\n- MTP K=4: 41.3 tok/s (3.67 tokens per step)\n"
      "- MTP K=6: 40.0 tok/s, AL 3.9-4.3\n- MTP K=8: 37.2 tok/s, accept length 2.1 -> 4.56\n",
      "prose");
  REQUIRE(runs.size() == 5);
  CHECK_FALSE(runs[0].acceptance_length);
  CHECK(runs[1].acceptance_length == 2.51);
  CHECK(runs[2].acceptance_length == 3.67);
  CHECK_FALSE(runs[3].acceptance_length);  // a range
  CHECK_FALSE(runs[4].acceptance_length);  // of two runs
  // More than all drafts and the bonus token: not of this run.
  CHECK_FALSE(
      posted_runs("plain 20 tok/s\nMTP K=2: 30 tok/s, acceptance length 3.4\n", "prose").at(1).acceptance_length);
}

TEST_CASE("a list of runs names draft lengths and rates, and speeds outside of it are of other setups") {
  const std::string list =
      "Sweep:\n\n- spec off: 20 tok/s\n- n-max 1: 26 tok/s, 75% mean acceptance\n- n_max=4: 31 tok/s (45 % overall "
      "acceptance)\n";
  const LogContents contents =
      read_log(list + "\nThe old driver reached 28 tok/s at n-max 4, and 17 tok/s without MTP.\n");
  REQUIRE(contents.observations.size() == 3);
  CHECK(contents.observations[0].decoding == Decoding::plain);
  CHECK(contents.observations[1].gamma == 1);
  CHECK(contents.observations[1].acceptance_length == near(1.75));
  CHECK(contents.observations[2].gamma == 4);
  CHECK(contents.observations[2].acceptance_length == near(2.8));
  CHECK(warns(contents, "W18"));
  // One that the list has, too, is said again.
  CHECK_FALSE(warns(read_log(list + "\nSo 31 tok/s at n-max 4 is best.\n"), "W18"));
  // Two lists are two setups, and a pair is no list.
  CHECK(posted_runs(list + "\nOn the other card:\n\n- spec off: 21 tok/s\n- n-max 1: 27 tok/s\n- n-max 4: 30 tok/s\n",
                    "prose")
            .size() == 6);
  CHECK(posted_runs("MTP K=2: 30 tok/s\nbaseline: 20 tok/s\n\nMTP K=4: 33 tok/s\n", "prose").size() == 3);
}

TEST_CASE("a number with points between thousands has a decimal comma") {
  const auto runs = posted_runs("ohne MTP: 1.024,5 Token/s\nmit MTP: 1.536,75 Token/s\n", "prose");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].times.tpot_ms == near(1000.0 / 1024.5));
  CHECK(runs[1].times.tpot_ms == near(1000.0 / 1536.75));
  // No number has so many digits.
  std::string digits = "1";
  for (int i = 0; i < 200; ++i) digits += ".111";
  CHECK_NOTHROW(problem("ohne MTP: " + digits + ",5 Token/s\nmit MTP: 30,5 Token/s\n"));
}

}  // namespace foredraft::tests
