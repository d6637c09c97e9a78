// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "answers/engine_settings.hpp"

namespace foredraft::tests {
namespace {

using answers::SettingsQuestion;

std::string setting(std::string_view engine, const SettingsQuestion& question) {
  for (const answers::EngineExport& one : answers::engine_exports()) {
    if (one.name == engine) return one.text(question);
  }
  return "no such export";
}

SettingsQuestion scheduled() {
  return {.method = "eagle3",
          .draft = "org/head",
          .gamma = 5,
          .schedule = {{1, 8, 5}, {9, 64, 1}},
          .replayed_gamma = 2,
          .tokens = 2.25,
          .marginal = {0.75, 0.5},
          .break_even = {{1.0, 1.25}, {64.0, 2.5}}};
}

}  // namespace

TEST_CASE("settings of engines hold the draft length and the schedule") {
  const std::string vllm = setting("vllm", scheduled());
  const auto config = nlohmann::json::parse(vllm.substr(vllm.find('{'), vllm.rfind('}') - vllm.find('{') + 1));
  CHECK(config.at("method") == "eagle3");
  CHECK(config.at("num_speculative_tokens") == 5);
  CHECK(config.at("num_speculative_tokens_per_batch_size") == nlohmann::json::parse("[[1, 8, 5], [9, 64, 1]]"));
  const std::string sglang = setting("sglang", scheduled());
  CHECK(sglang.find("--speculative-num-steps 5 --speculative-eagle-topk 1 --speculative-num-draft-tokens 6") == 0);
  CHECK(sglang.find(R"({"1":{"candidate_steps":[5]},"9":{"candidate_steps":[1]}})") != std::string::npos);
  CHECK(setting("llama.cpp", {.gamma = 4}).find("--spec-draft-n-max 4") == 0);
  CHECK(setting("vllm", {.method = "our fork, MTP head", .gamma = 4}).find("\"method\"") == std::string::npos);
  CHECK(setting("vllm", {.method = "TP1", .gamma = 4}).find("\"method\"") == std::string::npos);
  CHECK(setting("vllm", {.method = "TP1", .gamma = 4}) ==
        "--speculative-config '{\"num_speculative_tokens\":4}'  (beside your method or model)");
  CHECK(setting("vllm", {.method = "ngram", .gamma = 4}) ==
        "--speculative-config '{\"method\":\"ngram\",\"num_speculative_tokens\":4}'");
  CHECK(setting("vllm", {.method = "ngram-tuned", .gamma = 4}).find("\"method\"") == std::string::npos);
}

TEST_CASE("keys of a TensorRT-LLM schedule are lower bounds up to 1.2 and upper bounds from 1.3 on") {
  SettingsQuestion question = scheduled();
  CHECK(setting("trtllm", question).empty());
  question.version = "1.2.0rc3";
  CHECK(setting("trtllm", question).find("draft_len_schedule: {1: 5, 9: 1}") != std::string::npos);
  question.version = "v1.3.0";
  CHECK(setting("trtllm", question).find("draft_len_schedule: {8: 5, 64: 1}") != std::string::npos);
  question.version = "main";
  CHECK(setting("trtllm", question).empty());
  CHECK(answers::needs_version("trtllm"));
}

TEST_CASE("without a recommendation no setting is written, but acceptance can still be replayed") {
  SettingsQuestion question = scheduled();
  question.gamma.reset();
  for (const std::string_view engine : {"vllm", "sglang", "trtllm", "llama.cpp"}) {
    CHECK(setting(engine, question).empty());
  }
  CHECK(setting("aiconfigurator", question) == "--nextn 2 --nextn-accepted 1.250");
  CHECK(setting("vllm-synthetic", question).find("\"synthetic_acceptance_rates\": [0.7500, 0.5000]") !=
        std::string::npos);
  CHECK(setting("sglang-synthetic", question).find("SGLANG_SIMULATE_ACC_LEN=2.250 ") == 0);
  CHECK(setting("trtllm-synthetic", question) == "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=1.250");
}

TEST_CASE("LMDeploy has a draft length of its own option, and no schedule") {
  CHECK(setting("lmdeploy", {.draft = "org/head", .gamma = 4}) ==
        "--speculative-num-draft-tokens 4 --speculative-draft-model org/head");
  CHECK(setting("lmdeploy", scheduled()).ends_with("(LMDeploy has one draft length for all loads)"));
  CHECK(setting("lmdeploy", {}).empty());
}

TEST_CASE("off removes the options of speculation and does not set a draft length of 0") {
  CHECK(setting("lmdeploy", {.gamma = 0}) == "remove --speculative-algorithm");
  CHECK(setting("vllm", {.gamma = 0}) == "remove --speculative-config");
  CHECK(setting("sglang", {.gamma = 0}) == "remove --speculative-algorithm");
}

TEST_CASE("engines that cannot turn speculation off by load name their alternative") {
  SettingsQuestion question = scheduled();
  question.schedule = {{1, 8, 5}, {9, 64, 0}};
  const std::string sglang = setting("sglang", question);
  CHECK(sglang.find(R"({"1":{"candidate_steps":[5]},"9":{"candidate_steps":[1]}})") != std::string::npos);
  CHECK(sglang.ends_with("(SGLang cannot turn speculation off by load: one draft at 9 to 64 requests)"));
  CHECK(setting("llama.cpp", question).starts_with("--spec-draft-n-max 5 "));
  CHECK(setting("llama.cpp", question).ends_with("(llama-server has one draft length for all loads)"));
  question.gamma = 0;
  CHECK(setting("llama.cpp", question) == "--spec-type none  (llama-server has one draft length for all loads)");
  // The other engines can.
  CHECK(setting("vllm", question).find("[9,64,0]") != std::string::npos);
  question.version = "1.3.0";
  CHECK(setting("trtllm", question).find("draft_len_schedule: {8: 5, 64: 0}") != std::string::npos);
}

TEST_CASE("alerts hold the break-even acceptance length of each load, with boundaries between loads") {
  const std::string rules = setting("prometheus", scheduled());
  CHECK(rules.find("spec_decode:acceptance_length < 1.250") != std::string::npos);
  CHECK(rules.find("sum(vllm:num_requests_running) <= 8)") != std::string::npos);
  CHECK(rules.find("spec_decode:acceptance_length < 2.500") != std::string::npos);
}

TEST_CASE("alerts name the metrics of the engine whose log it was") {
  SettingsQuestion question = scheduled();
  const auto names = [&](const std::string& engine, const std::string& metric) {
    question.engine = engine;
    return setting("prometheus", question).find(metric) != std::string::npos;
  };
  CHECK(names("sglang", "sglang:spec_accept_length"));
  CHECK(names("sglang", "(sglang:num_running_reqs{engine_type!=\"draft\"})) <= 8)"));
  CHECK_FALSE(names("sglang", "vllm:"));
  CHECK(names("llama.cpp", "llamacpp:spec_decode_num_accepted_tokens_total"));
  CHECK(names("llama.cpp", "sum(llamacpp:requests_processing) <= 8)"));
  CHECK(names("tensorrt-llm", "trtllm_spec_decode_acceptance_length"));
  CHECK(names("tensorrt-llm", "sum(trtllm_num_requests_running) <= 8)"));
  CHECK(names("", "vllm:num_requests_running"));
}

TEST_CASE("llama-server's drafter is set with its draft length") {
  SettingsQuestion question = scheduled();
  question.gamma = 2;
  question.method = "draft-mtp";
  CHECK(setting("llama.cpp", question).starts_with("--spec-type draft-mtp --spec-draft-n-max 2"));
  question.method = "ngram_simple";
  CHECK(setting("llama.cpp", question).starts_with("--spec-type ngram-simple --spec-draft-n-max 2"));
  question.method = "eagle3";
  CHECK(setting("llama.cpp", question).starts_with("--spec-draft-n-max 2"));
}

TEST_CASE("an invented name in a log does not get into a command line") {
  SettingsQuestion question = scheduled();
  question.draft = "x; rm -rf /";
  question.version = "1.3.0";
  CHECK(setting("sglang", question).find("rm") == std::string::npos);
  CHECK(setting("trtllm", question).find("rm") == std::string::npos);
  question.draft = "x' ; rm '";
  const std::string vllm = setting("vllm", question);
  CHECK(std::count(vllm.begin(), vllm.end(), '\'') == 2);
}

}  // namespace foredraft::tests
