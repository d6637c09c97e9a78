// SPDX-License-Identifier: Apache-2.0
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

}  // namespace foredraft::tests
