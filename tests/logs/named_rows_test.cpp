// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "logs/arms.hpp"
#include "tests/logs/logs_testing.hpp"

/// Rows of tables whose names say more than their arm: the engine, the hardware, a code.
namespace foredraft::tests {
namespace {

using logs::arm_named;
using logs::Decoding;
using logs::LogContents;

}  // namespace

TEST_CASE("names that begin with an engine and say inside that nothing drafts are plain") {
  for (const char* const plain :
       {"SGLang (w/o speculation, 2x A100)", "TRT-LLM without EAGLE (B200)", "llama.cpp, no draft model, Q5_K_M",
        "vLLM (speculation off; TP2)", "vLLM baseline, TP4", "MLX autoregressive (M4 Max)",
        "vLLM, spec decode disabled (fp8)"}) {
    CAPTURE(plain);
    CHECK(arm_named(plain).plain);
  }
  for (const char* const other : {"EAGLE-3 (no MTP, 2x A100)", "MTP (no EAGLE)", "vLLM (no prefix cache, EAGLE-3)",
                                  "FooRT (spec off, as reported)", "v3 (baseline, tuned)"}) {
    CAPTURE(other);
    CHECK_FALSE(arm_named(other).plain);
  }
  CHECK(arm_named("EAGLE heads, no MTP").plain);
  CHECK(arm_named("Foo-MTP-9B, no MTP").plain);
}

TEST_CASE("numbers of devices, requests and bits beside a drafter are no draft length") {
  for (const char* const name : {"EAGLE-3 (1 A100)", "MTP (2 GPUs)", "MTP (4 users)", "n-gram (8 streams)", "MTP 4-bit",
                                 "vLLM + MTP (2 x RTX 3090)", "medusa (2 cards)"}) {
    CAPTURE(name);
    CHECK_FALSE(arm_named(name).gamma);
  }
  CHECK(arm_named("MTP (3, 2 GPUs)").gamma == 3.0);
  CHECK(arm_named("EAGLE-3 K=4 (1 A100)").gamma == 4.0);
  CHECK(arm_named("MTP K=3 A100").gamma == 3.0);
  CHECK(arm_named("MTP-2 H200").gamma == 2.0);
}

TEST_CASE("a setup beside itself with a drafter is the run without it") {
  const std::string head = "| setup | tok/s |\n|---|---|\n", drafts = "| vLLM + EAGLE-3 (1 H200) | 120 |\n";
  const LogContents read = read_log(head + "| vLLM (1 H200) | 60 |\n" + drafts + "| HF Transformers | 12 |\n");
  REQUIRE(read.observations.size() == 3);
  CHECK(read.observations[0].decoding == Decoding::plain);
  CHECK(read.observations[1].decoding == Decoding::speculative);
  CHECK(read.observations[2].decoding == Decoding::unknown);
  CHECK(read_log(head + "| plain | 50 |\n| vLLM | 60 |\n" + drafts).observations[1].decoding == Decoding::unknown);
  CHECK(read_log(head + "| fp8 | 60 |\n| fp8 + graphs | 70 |\n| fp8 + MTP | 99 |\n").observations[0].decoding ==
        Decoding::unknown);
  CHECK(read_log(head + "| MTP | 60 |\n| MTP + EAGLE | 70 |\n").observations[0].decoding != Decoding::plain);
  const LogContents models = read_log(
      "| model | tok/s |\n|---|---|\n| Foo-8B | 60 |\n| Foo-8B + MTP | 90 |\n| Bar-4B | 80 |\n| Bar-4B + MTP | 99 |\n");
  REQUIRE(models.observations.size() == 4);
  CHECK(models.observations[2].decoding == Decoding::plain);
  CHECK(models.observations[2].stratum.category == "Bar-4B");
  CHECK(models.observations[1].stratum.category == "Foo-8B");
}

TEST_CASE("a first column of tests is that of prompts, or of runs if it names arms") {
  const LogContents prompts = read_log(
      "| Test | Sampling | Decode | Accept | Mean accepted len |\n|---|---|---|---|---|\n"
      "| Plain, no draft | temp=0.6 | ~20.5 t/s | - | - |\n| "
      "\"Letters a\xE2\x86\x92z\" | temp=0.6 top_p=1 | 41.0 t/s | 90% | 4.6 |\n"
      "| Poem | temp=0 | 30.0 t/s | 50% | 3.0 |\n");
  REQUIRE(prompts.observations.size() == 4);
  const auto& of = prompts.observations;  // in the order of their lines
  CHECK(of[0].decoding == Decoding::plain);
  CHECK(of[1].decoding == Decoding::plain);
  CHECK(of[0].stratum.temperature == 0.6);
  CHECK(of[2].stratum.category == "\"Letters a\xE2\x86\x92z\"");
  CHECK(of[0].stratum.category == of[2].stratum.category);
  CHECK(of[1].stratum.category == of[3].stratum.category);
  CHECK(of[2].gamma == 4);
  CHECK(of[3].stratum.temperature == 0.0);
  CHECK(prompts.warnings.front().message == "the only plain run is taken for all kinds of prompts");
  const LogContents runs =
      read_log("| Test | tok/s | Acceptance |\n|---|---|---|\n| base | 20 | |\n| MTP n=2 | 31 | 80% |\n");
  REQUIRE(runs.observations.size() == 2);
  CHECK(runs.observations[0].decoding == Decoding::plain);
  CHECK(runs.observations[1].gamma == 2);
  CHECK(read_log("| Test | Baseline tok/s | MTP tok/s |\n|---|---|---|\n| Poem | 20 | 31 |\n| Sums | 20 | 44 |\n")
            .observations.size() == 4);
  CHECK(read_log("Test\tSpeed (t/s)\tAccept rate\nNo speculation\t30\t-\nPoem\t41\t55%\n").observations.size() == 2);
  // A test of llama-benchy, whatever column it is in.
  CHECK(read_log("| test | t/s | ttfr (ms) |\n|---|---|---|\n| pp512 | 900 | 500 |\n| tg64 | 30 | |\n")
            .observations.size() == 1);
}

TEST_CASE("a column of prompts whose cells all name arms is that of the runs") {
  const std::string head = "| workload | tok/s | emitted per verify |\n|---|---|---|\n";
  const std::string plain = "| short stories, no speculation | 80 | - |\n",
                    ngram = "| short stories, n-gram | 79 | - |\n";
  const std::string mtp = "| short stories, MTP k=2 | 100 | 2.2 |\n";
  auto runs = posted_runs("One stream\n\n" + head + plain + ngram + mtp, "table");
  REQUIRE(runs.size() == 3);
  std::ranges::stable_sort(runs, {}, [](const auto& one) { return *one.times.tpot_ms; });
  CHECK(runs[0].gamma == 2);
  CHECK(runs[1].decoding == Decoding::plain);
  CHECK(runs[2].drafter == "n-gram");
  CHECK(runs[2].stratum.category == runs[0].stratum.category);
  // With one of no arm, the only plain run is that of all prompts.
  CHECK(posted_runs("One stream\n\n" + head + plain + "| code | 110 | 2.6 |\n" + mtp, "table").size() == 4);
}

TEST_CASE("an arrow in the name of prompts is no pair of speeds") {
  const LogContents read =
      read_log("| prompt | K | tok/s |\n|---|---|---|\n| count 1->40 | 0 | 20 |\n| count 1->40 | 3 | 50 |\n");
  REQUIRE(read.observations.size() == 2);
  CHECK(read.observations[1].stratum.category == "count 1->40");
}

TEST_CASE("a sign heads metrics whose columns are arms") {
  for (const std::string sign : {"_", "-", "."}) {
    CAPTURE(sign);
    const LogContents read =
        read_log(sign +
                 " | MTP | DFlash Q5 | Base (no spec.)\n--|--|--|--\n"
                 "VRAM | 20 GB | 21 GB | **18** GB\nDraft acceptance | **0.8** | 0.5 | N/A\n"
                 "Mean len | 2.6 | 3.0 | N/A\nTG 256 (d=0) | **44** tok/sec | 33 tok/sec | 22 tok/sec\n");
    REQUIRE(read.observations.size() == 3);
    CHECK(read.observations[0].drafter == "mtp");
    CHECK(read.observations[0].gamma == 2);
    CHECK(read.observations[1].acceptance_length == 3.0);
    CHECK(read.observations[2].decoding == Decoding::plain);
    CHECK(read.observations[2].times.tpot_ms == near(1000.0 / 22.0));
  }
  const LogContents few =
      read_log("_ | MTP | Plain\n--|--|--\nTG 256 (d=0) | **44** tok/sec | 22 tok/sec\nAccept | 0.8 | -\n");
  REQUIRE(few.observations.size() == 2);
  CHECK(few.observations[0].times.tpot_ms == near(1000.0 / 44.0));
  const LogContents several = read_log(
      "| _ | MTP | Plain |\n|--|--|--|\n| Decode | **44** tok/s | 22 tok/s |\n| Reload | 9 tok/s | 8 tok/s |\n");
  REQUIRE(several.observations.size() == 2);
  CHECK(several.observations[0].times.tpot_ms == near(1000.0 / 44.0));
}

TEST_CASE("rows with other names are no repetitions, however many tokens they generate") {
  const std::string head = "| run | gen tokens | tok/s |\n|---|---|---|\n| plain | 300 | 20 |\n";
  const LogContents read = read_log(head + "| B-1 | 300 | 30 |\n| B-2 | 298 | 40 |\n| B-2 | **298** | 41 |\n");
  REQUIRE(read.observations.size() == 4);
  CHECK(read.observations[1].drafter == "B-1");
  CHECK(read.observations[2].drafter == "B-2");
  CHECK(read.observations[3].drafter == "B-2");
  const LogContents same = read_log(head + "| MTP run 1 | 300 | 30 |\n| MTP run 2 | 298 | 31 |\n");
  CHECK(same.observations[1].drafter == same.observations[2].drafter);
}

TEST_CASE("a few tokens of which the plain run has none are the draft length") {
  const std::string head = "| run | tokens | shape | tok/s |\n|---|---|---|---|\n";
  const LogContents read = read_log(head +
                                    "| plain | 0 | - | 20 |\n| C-w1d2 | 2 | 1x2 | 30 |\n"
                                    "| **C-w1d4** | **4** | 1x4 | 36 |\n| C-w2d2 | 4 | 2x2 | 33 |\n");
  REQUIRE(read.observations.size() == 4);
  CHECK(read.observations[1].gamma == 2);
  CHECK(read.observations[1].drafter == "C-w1d2");
  CHECK(read.observations[2].gamma == 4);
  CHECK(read.observations[2].drafter == "C-w1d4");
  CHECK(read.observations[3].drafter == "C-w2d2");
  CHECK(read_log(head + "| plain | - | | 20 |\n| MTP | 3 | | 30 |\n").observations[1].gamma == 3);
  for (const char* const rows :
       {"| plain | 8 | | 20 |\n| MTP | 8 | | 30 |\n", "| plain | 0 | | 20 |\n| MTP | 128 | | 30 |\n",
        "| plain | 0 | | 20 |\n| MTP | 2.5 | | 30 |\n"}) {
    CAPTURE(rows);
    CHECK_FALSE(read_log(head + rows).observations[1].gamma);
  }
  const LogContents several = read_log(head +
                                       "| plain | 0 | | 20 |\n| MTP | 2 | | 30 |\n| MTP tuned | 3 | | 33 |\n"
                                       "| MTP first | 3 | | 31 |\n");
  CHECK(several.observations[1].drafter == "mtp");  // a drafter's own name, beside those of its versions
}

TEST_CASE("headings say in their words which arm of a pair is the first") {
  for (const std::string heading : {"TPOT p50 (ms) b->d", "TPOT (ms): base \xE2\x86\x92 MTP", "off -> on TPOT (ms)",
                                    "TPOT no spec -> EAGLE-3 (ms)", "TPOT (ms) p->s"}) {
    CAPTURE(heading);
    const LogContents read = read_log("| Workload | Concurrency | " + heading +
                                      " | ratio |\n|---|---|---|---|\n| chat | 1 | 20.0 \xE2\x86\x92 25.0 | 0.8 |\n"
                                      "| code | 4 | 22.0 -> 20.0 | 1.1 |\n");
    REQUIRE(read.observations.size() == 4);
    CHECK(read.observations[0].decoding == Decoding::plain);
    CHECK(read.observations[0].times.tpot_ms == 20.0);
    CHECK(read.observations[1].decoding == Decoding::speculative);
    CHECK(read.observations[1].times.tpot_ms == 25.0);
    CHECK(read.observations[2].stratum.category == "code");
    CHECK(read.warnings.front().message.starts_with("pairs are"));
  }
  const LogContents slashes =
      read_log("| Prompt | off/on (tok/s) |\n|---|---|\n| chat | 30 / 45 |\n| code | 30 -> 60 |\n");
  REQUIRE(slashes.observations.size() == 4);
  CHECK(slashes.observations[1].times.tpot_ms == near(1000.0 / 45.0));
  CHECK(slashes.observations[3].times.tpot_ms == near(1000.0 / 60.0));
  const LogContents short_times = read_log("| Prompt | TPOT off/on (ms) |\n|---|---|\n| chat | 0.9 / 0.7 |\n");
  CHECK(short_times.observations[1].times.tpot_ms == 0.7);
  for (const std::string heading : {"tok/s before -> after", "tok/s MTP -> EAGLE", "tok/s a -> d", "tok/s d -> b"}) {
    CAPTURE(heading);
    CHECK_FALSE(problem("| Prompt | " + heading + " |\n|---|---|\n| chat | 30 -> 45 |\n").empty());
  }
  CHECK_FALSE(problem("| Prompt | off/on accept |\n|---|---|\n| chat | 30 / 45 |\n").empty());
}

TEST_CASE("a wide range is no value, a narrow one is its middle") {
  const std::string head = "| n-max | tok/s | Acceptance |\n|---|---|---|\n| 0 | 20 | - |\n";
  CHECK_FALSE(read_log(head + "| 2 | 30 | 0.40-0.90 |\n").observations[1].acceptance_length);
  CHECK(read_log(head + "| 2 | 30 | 0.70-0.80 |\n").observations[1].acceptance_length == Approx(2.5));
  const LogContents ranges =
      read_log("| n-max | Acceptance | AL |\n|---|---|---|\n| 2 | 0.40-0.90 | - |\n| 3 | - | 2.5 |\n");
  REQUIRE(ranges.observations.size() == 1);
  CHECK(warns(ranges, "W18"));
}

}  // namespace foredraft::tests
