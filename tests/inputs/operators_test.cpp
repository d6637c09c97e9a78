// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "foredraft/errors.hpp"
#include "foredraft/profile.hpp"
#include "inputs/devices.hpp"
#include "latency/profile/profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_program.hpp"

/// Operators of engines, without the package: documents in the format of its script.
namespace foredraft::tests {
namespace {

namespace fs = std::filesystem;
using inputs::parse_operators;

/// A target t whose passes take 10, 12 and 13 ms and a head h whose drafts take 1 ms each, at two batches.
const std::string document = R"({
 "schema": "foredraft.operators/1",
 "package": {"name": "aisimulate", "version": "0.13.0"},
 "tables": {"system": "h100_sxm", "engine": "vllm", "version": "0.24.0", "sha256": "ab12"},
 "request": {"target": "t", "draft": "h", "target_format": "fp8", "draft_format": null, "batches": [1, 8]},
 "notes": ["does not fit into memory, left out: t, batch 16, context 512"],
 "rows": [
  {"model": "t", "role": "decoder_pass", "batch": 1, "context": 512, "tokens": [1, 3, 4], "ms": [10.0, 12, 13]},
  {"model": "t", "role": "decoder_pass", "batch": 8, "context": 512, "tokens": [1, 3, 4], "ms": [11.0, 14.0, 15.0]},
  {"model": "h", "role": "autoregressive_drafting", "batch": 1, "context": 512,
   "tokens": [1, 2, 3], "ms": [1.0, 2.0, 3.0]},
  {"model": "h", "role": "autoregressive_drafting", "batch": 8, "context": 512,
   "tokens": [1, 2, 3], "ms": [1.5, 3.0, 4.5]}
 ]
})";

std::string replaced(const std::string& find, const std::string& by) {
  std::string text = document;
  text.replace(text.find(find), find.size(), by);
  return text;
}

std::string operators_problem(const std::string& text) {
  return rejection([&] { return parse_operators(text, "o.json"); });
}

}  // namespace

TEST_CASE("operators of an engine become a profile that states their source and their error") {
  const latency::Profile profile = parse_operators(document, "o.json");
  CHECK(profile.source == latency::Source::operators);
  CHECK(profile.device.name == "h100_sxm under vllm 0.24.0");
  CHECK(profile.identity.tool_version == "aisimulate 0.13.0");
  REQUIRE(profile.steps.size() == 12);
  CHECK(profile.steps[1].cell.tokens == 3);
  CHECK(profile.steps[1].timing.summary.median_us == 12'000.0);
  CHECK(profile.steps[6].cell.role == latency::Role::autoregressive_drafting);
  CHECK(profile.step_error.value.value() == 0.26);
  REQUIRE(profile.notes.size() == 3);
  CHECK(profile.notes[0].text == "h100_sxm under vllm 0.24.0, tables of aisimulate 0.13.0, sha256 ab12");
  CHECK(profile.notes[1].text == "target t, draft h, target_format fp8");
  CHECK(parse_operators(replaced("\"vllm\"", "\"sglang\""), "o.json").step_error.value.value() == 0.28);
  CHECK(latency::from_json(latency::to_json(profile), "p").steps.size() == 12);
}

TEST_CASE("operators state how their models were stored and split, and a data sheet the memory") {
  CHECK(parse_operators(document, "o.json").deployments.empty());  // the draft's format was left to the package
  const std::string request = R"("target_format": "fp8", "draft_format": null,)";
  const std::string stated =
      R"("target_format": "fp8_block", "draft_format": "bf16", "kv_format": null, "target_tp": 4, "draft_tp": 2,)";
  const latency::Profile profile = parse_operators(replaced(request, stated), "o.json");
  REQUIRE(profile.deployments.size() == 2);
  CHECK(profile.deployments[0].model == "t");
  CHECK(profile.deployments[0].weights == "fp8");
  CHECK(profile.deployments[0].kv_cache == "bf16");
  CHECK(profile.deployments[0].tensor_parallel == 4);
  CHECK(profile.deployments[1].weights == "bf16");
  CHECK(profile.deployments[1].tensor_parallel == 2);
  CHECK(profile.device.memory_bytes.value.value() == 80e9);
  const latency::Profile again = latency::from_json(latency::to_json(profile), "p");
  CHECK(again.deployments.size() == 2);
  CHECK(again.deployments[1].kv_cache == "bf16");
  const std::string copies = stated + R"( "attention_dp": 2,)";
  CHECK(parse_operators(replaced(request, copies), "o.json").deployments.empty());
  latency::Profile wrong = profile;
  wrong.deployments[1].model = "t";
  CHECK_THROWS_AS(latency::check_profile(wrong), DomainError);
  wrong = profile;
  wrong.deployments[0].tensor_parallel = 0;
  CHECK_THROWS_AS(latency::check_profile(wrong), DomainError);
  wrong = profile;
  wrong.source = latency::Source::engine;
  CHECK_THROWS_AS(latency::check_profile(wrong), DomainError);
}

TEST_CASE("a head with only its drafting timed can draft, though neither it nor its target is a known shape") {
  const TemporaryFolder folder;
  write_text(folder / "p.json", latency::to_json(parse_operators(document, "o.json")));
  const PairTimes times = Profile::read(folder / "p.json").times("t", "h");
  CHECK(times.drafting(2, 8, 512).time_us == Approx(3'000.0));
  CHECK(times.verify(2, 8, 512).time_us == Approx(14'000.0));
  CHECK(times.plain(1, 512).spread.value() == 0.26);
}

TEST_CASE("a document of operators is rejected by key, and an error of its script is passed on") {
  CHECK(operators_problem(R"({"error": "no operator times of vllm on h1 - there are those of b60"})") ==
        "no operator times of vllm on h1");
  CHECK(operators_problem("[]") == "o.json: schema: missing");
  CHECK(operators_problem(replaced("operators/1", "operators/2")) ==
        "o.json: schema: must be \"foredraft.operators/1\"");
  CHECK(operators_problem(replaced("\"sha256\"", "\"sha1\"")) == "o.json: tables.sha256: missing");
  CHECK(operators_problem(replaced("decoder_pass", "decoder")) ==
        "o.json: rows[0].role: must be decoder_pass or autoregressive_drafting");
  CHECK(operators_problem(replaced("\"batch\": 1,", "\"batch\": 0,")) ==
        "o.json: rows[0].batch: must be a whole number from 1 to 1000000");
  CHECK(operators_problem(replaced("[10.0, 12, 13]", "[10.0]")) == "o.json: rows[0]: tokens and ms differ in length");
  CHECK(operators_problem(replaced("[10.0, 12, 13]", "[10.0, \"12\", 13]")) ==
        "o.json: rows[0].ms[1]: must be a number");
  CHECK_THAT(operators_problem(replaced("[10.0, 12, 13]", "[10.0, -1, 13]")), Catch::Contains("median_us"));
  CHECK_THAT(operators_problem("{"), Catch::StartsWith("o.json"));
}

TEST_CASE("every shipped document of operators is read, found by its name and answers for its pair") {
  REQUIRE(inputs::operators_texts().size() >= 8);
  for (const inputs::OperatorsText& one : inputs::operators_texts()) {
    INFO(one.name);
    const auto request = nlohmann::json::parse(one.text).at("request");
    const Profile profile = Profile::read(std::string(one.name));
    CHECK(profile.source() == ProfileSource::operators);
    const latency::Profile parsed = parse_operators(one.text, std::string(one.name));
    CHECK(parsed.deployments.size() == 2);
    CHECK(parsed.device.memory_bytes.value);
    const PairTimes times = profile.times(request.at("target"), request.at("draft"));
    CHECK(times.verify(4, 8, 1024).time_us > times.plain(8, 1024).time_us * 0.9);
    CHECK(times.drafting(4, 8, 1024).time_us < times.plain(8, 1024).time_us * 2.0);
  }
}

TEST_CASE("calibrate asks the script for operators and writes its answer as a profile that predict takes") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "operators");
  write_text(folder / "operators/aisimulate_steps.py",
             "import json, sys\nasked = json.load(sys.stdin)\nassert asked['device'] == 'h100', asked\n"
             "assert asked['draft_tp'] == 2 and 'engine' not in asked, asked\n"
             "assert asked['batches'] == [1, 8], asked\n"
             "print(open(__file__.replace('aisimulate_steps.py', 'answer.json')).read())\n");
  write_text(folder / "operators/answer.json", document);
  const std::string question =
      "calibrate --backend aisimulate --device h100 --target t --draft h --draft-tp 2 --batch 8,1 --out p.json";
  const Outcome made = foredraft(folder, question, "FOREDRAFT_OPERATORS=operators");
  INFO(made.err);
  CHECK(made.code == 0);
  CHECK_THAT(made.out, Catch::Contains("target") && Catch::Contains("11.000") && Catch::Contains("sha256 ab12"));
  const Outcome predicted =
      foredraft(folder, "predict --profile p.json --target t --draft h --marginal 0.8,0.6 --batch 8 --json");
  INFO(predicted.err);
  CHECK(predicted.code == 0);
  CHECK_THAT(predicted.out, Catch::Contains("operators"));
  CHECK_THAT(foredraft(folder, question, "FOREDRAFT_OPERATORS=operators").err, Catch::Contains("holds a finished"));
}

TEST_CASE("calibrate says which operators are missing, and which options belong to another backend") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "operators");
  write_text(folder / "operators/aisimulate_steps.py",
             "print('{\"error\": \"it is not installed - pip install it\"}')\n");
  const std::string question = "calibrate --backend aisimulate --device h100 --target t --out p.json";
  const Outcome missing = foredraft(folder, question, "FOREDRAFT_OPERATORS=operators");
  CHECK(missing.code == 2);
  CHECK_THAT(missing.err, Catch::Contains("--backend aisimulate: it is not installed - pip install it"));
  CHECK(!fs::exists(folder / "p.json"));
  CHECK_THAT(foredraft(folder, question, "FOREDRAFT_OPERATORS=nowhere").err,
             Catch::Contains("set FOREDRAFT_OPERATORS"));
  write_text(folder / "operators/aisimulate_steps.py", "raise SystemExit(3)\n");
  CHECK_THAT(foredraft(folder, question, "FOREDRAFT_OPERATORS=operators").err,
             Catch::Contains("ended without an answer"));
  const Outcome other = foredraft(folder, "calibrate --device h100 --out p.json");
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Catch::Contains("--device") && Catch::Contains("--backend aisimulate"));
  CHECK_THAT(foredraft(folder, question + " --minutes 3").err, Catch::Contains("nothing is measured here"));
  CHECK_THAT(foredraft(folder, "calibrate --backend aisimulate --target t --out p.json").err,
             Catch::Contains("--device"));
}

}  // namespace foredraft::tests
