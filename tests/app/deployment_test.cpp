// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "answers/profile_prediction.hpp"
#include "app/texts/texts.hpp"
#include "inputs/devices.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace foredraft::app {
namespace {

using Json = nlohmann::json;

/// The answer of `foredraft predict` for a pair on a data sheet.
Json predicted(const tests::TemporaryFolder& folder, const std::string& arguments, int wanted_code = 0) {
  const tests::Outcome result = tests::foredraft(folder, "predict --alpha 0.8 --json " + arguments);
  CAPTURE(arguments, result.err);
  CHECK(result.code == wanted_code);
  return Json::parse(result.out);
}

const std::string llama_on_h100 = "--device h100 --target llama-3.1-8b --draft llama-3.2-1b ";

/// The keys of a checkpoint's config.json, with a quarter of the size of Llama 3.1 8B.
const std::string small_config = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192,
  "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256,
  "hidden_act": "silu", "tie_word_embeddings": true, "max_position_embeddings": 131072, "torch_dtype": "bfloat16"})";

}  // namespace

TEST_CASE("a data sheet answers with the attainable speed of engines, its interval and the floor") {
  answers::ProfileQuestion question{.target = "llama-3.1-8b", .draft = "llama-3.2-1b"};
  question.acceptance = Iid{0.8};
  question.batches = {1, 64};
  const latency::Profile h100 = inputs::read_profile("h100").profile;
  const answers::ProfilePrediction attainable = answers::predict(question, h100);
  question.floor = true;
  const answers::ProfilePrediction floor = answers::predict(question, h100);
  for (std::size_t i = 0; i < attainable.cells.size(); ++i) {
    const answers::AtBatch& at = attainable.cells[i];
    CHECK(at.floor_plain_us == floor.cells[i].plain.time_us);
    CHECK(at.plain.time_us > *at.floor_plain_us);
    REQUIRE(at.plain.spread);
    CHECK_FALSE(floor.cells[i].plain.spread);
    CHECK_FALSE(floor.cells[i].floor_plain_us);
    for (std::size_t k = 0; k < at.lengths.size(); ++k) {
      const answers::AtDraftLength& length = at.lengths[k];
      REQUIRE(length.interval);
      CHECK(length.interval->low <= length.speedup);
      CHECK(length.speedup <= length.interval->high);
      CHECK(length.interval->high <= 1.8 * length.interval->low);
      const latency::Attainable& known = *attainable.attainable;
      CHECK(length.interval->low == Approx(length.tokens * at.plain.time_us /
                                           (known.verification.high * length.times.verify.time_us +
                                            length.times.drafting.time_us + known.iteration_us.high)));
      CHECK(length.iteration.overhead == known.iteration_us.value);
      CHECK(length.floor_speedup == floor.cells[i].lengths[k].speedup);
    }
  }
  const std::string text = to_text(attainable);
  CHECK_THAT(text, Catch::Contains("floor       batch 1: plain"));
  CHECK_THAT(text, Catch::Contains("attained    "));
  CHECK_THAT(text, !Catch::Contains("at every batch"));
}

TEST_CASE("a gain whose interval contains 1 is reported as within the error of the profile") {
  answers::AtBatch at;
  answers::AtDraftLength& length = at.lengths.emplace_back();
  length.interval = Interval{0.9, 1.4};
  at.use = 1;
  CHECK(answers::payoff_of(at) == answers::Payoff::within_error);
  length.interval = Interval{1.01, 1.4};
  CHECK(answers::payoff_of(at) == answers::Payoff::pays);
  at.use = 0;
  CHECK(answers::payoff_of(at) == answers::Payoff::within_error);
  length.interval = Interval{0.7, 0.95};
  CHECK(answers::payoff_of(at) == answers::Payoff::does_not_pay);
}

TEST_CASE("the JSON of models has parameters, bytes, formats and whether they fit") {
  const tests::TemporaryFolder folder;
  const Json fits = predicted(folder, llama_on_h100 + "--batch 1,8 --target-format fp8 --context 4096");
  const Json& target = fits["models"]["target"];
  CHECK(target["layers"] == 32);
  CHECK(target["d_model"] == 4096);
  CHECK(target["experts"] == 0);
  CHECK(target["experts_per_token"] == 0);
  CHECK(target["parameters"] == 8030261248.0);
  CHECK(target["active_parameters"] == target["parameters"]);
  CHECK(target["format"] == "fp8");
  CHECK(target["kv_format"] == "bf16");
  CHECK(target["kv_bytes_per_token"] == 131072.0);
  // Embedding and vocabulary projection stay in 16 bits.
  CHECK(target["weight_bytes"].get<double>() > 8.03e9);
  CHECK(target["weight_bytes"].get<double>() < 10.2e9);
  CHECK(target["step_bytes"].get<double>() < target["weight_bytes"].get<double>());
  CHECK(fits["models"]["draft"]["format"] == "fp16");
  CHECK(fits["cells"][1]["fits"] == true);
  CHECK(fits["cells"][1]["max_batch"].get<int>() > 8);
  CHECK(fits["schedules"][0]["max_batch"] == fits["cells"][1]["max_batch"]);
  CHECK(fits["cells"][0]["gammas"][0]["speedup_ci95"].size() == 2);
}

TEST_CASE("a prediction prints a line for each model that it read, so that a wrong one is noticed") {
  const tests::TemporaryFolder folder;
  const std::string text = tests::foredraft(folder, "predict --alpha 0.8 " + llama_on_h100).out;
  CHECK_THAT(
      text, Catch::Contains(
                "\n\n"
                "target      llama-3.1-8b: 32 layers x 4096, 8.03 G parameters, fp16, reads 15 GB of 16.1 GB a step\n"
                "draft       llama-3.2-1b: 16 layers x 2048, 1.24 G parameters, fp16, reads 2.47 GB of 2.47 GB a step\n"
                "schedule "));
  const std::string mixture =
      tests::foredraft(folder,
                       "predict --alpha 0.8 --device h200 --target deepseek-v3 --target-format fp8 "
                       "--target-tp 8 --draft mtp-deepseek-v3 --kv-format fp8")
          .out;
  CHECK_THAT(mixture,
             Catch::Contains("target      deepseek-v3: 61 layers x 7168, 8 of 256 experts, 671 G parameters ("));
  CHECK_THAT(mixture, Catch::Contains("draft       mtp-deepseek-v3: 1 layer x 7168, "));
  CHECK_THAT(mixture,
             Catch::Contains(" active), fp8,\n            fp8 KV cache, ") && Catch::Contains(" on 8 devices\n"));
  std::istringstream lines(mixture);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
}

TEST_CASE("what does not fit is reported first, has no speedup, and is computed only if memory is ignored") {
  const tests::TemporaryFolder folder;
  const std::string pair = "--device h100 --target llama-3.3-70b --draft llama-3.2-1b ";
  const Json rejected = predicted(folder, pair);
  CHECK(rejected["cells"][0]["fits"] == false);
  CHECK(rejected["cells"][0]["max_batch"] == 0);
  CHECK(rejected["speedup"].is_null());
  CHECK(rejected["best_gamma"].is_null());
  CHECK(rejected["schedules"][0]["schedule"].empty());
  const auto text = tests::foredraft(folder, "predict --alpha 0.8 " + pair);
  CHECK(text.code == 0);
  CHECK_THAT(text.out, Catch::StartsWith("Does not fit: batch 1, context 512 needs 1"));
  const auto written = tests::foredraft(folder, "predict --alpha 0.8 " + pair + "--batch 1,2 --context 8,9 --out none");
  CHECK(written.code == 0);
  CHECK(std::filesystem::exists(folder / "none/prediction.csv"));
  CHECK_FALSE(std::filesystem::exists(folder / "none/decision-map.csv"));
  CHECK(predicted(folder, pair + "--ignore-memory")["speedup"].get<double>() > 1.0);
  const Json split = predicted(folder, pair + "--target-tp 4 --batch 1,4096");
  CHECK(split["cells"][0]["fits"] == true);
  CHECK(split["cells"][1]["fits"] == false);
  CHECK(split["schedules"][0]["schedule"].back()[1] == split["schedules"][0]["max_batch"]);
}

TEST_CASE("a config.json is a model, its formats are those of the checkpoint") {
  const tests::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "mine");
  tests::write_text(folder / "mine/config.json", small_config);
  const Json json = predicted(folder, "--device h100 --target llama-3.1-8b --draft mine --batch 4");
  CHECK(json["draft"] == "mine");
  CHECK(json["models"]["draft"]["format"] == "bf16");
  CHECK(json["models"]["draft"]["parameters"] == 1235814400.0);
  const Json shipped = predicted(folder, llama_on_h100 + "--batch 4 --draft-format bf16");
  CHECK(json["cells"][0]["one_draft"]["ms"] == shipped["cells"][0]["one_draft"]["ms"]);
}

TEST_CASE("quantized deployments fit if their weights do") {
  const tests::TemporaryFolder folder;
  // 29.3 GB: blocks of 4.5 bits, attention and tables in 16. All in 4 bits it would be 19 GB.
  std::filesystem::create_directory(folder / "int4");
  tests::write_text(folder / "int4/config.json", R"({"model_type": "qwen3", "hidden_size": 5120,
      "intermediate_size": 25600, "num_hidden_layers": 64, "num_attention_heads": 64, "num_key_value_heads": 8,
      "head_dim": 128, "vocab_size": 151936, "tie_word_embeddings": false, "hidden_act": "silu",
      "quantization_config": {"quant_method": "compressed-tensors", "ignore": ["lm_head", "re:.*self_attn.*"],
      "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int",
      "group_size": 32}}}}})");
  struct Case {
    const char* arguments;
    double weights_gb;  ///< of the target: by hand, or as published for files of llama.cpp
    bool fits;          ///< in 90 % of the devices
  };
  const std::array cases{
      Case{"h100 --target gpt-oss-120b", 65.2, true},
      Case{"a100-40gb --target gpt-oss-120b", 65.2, false},
      Case{"h100 --target gpt-oss-120b --target-format bf16", 233.7, false},
      Case{"rtx4090 --target gpt-oss-20b", 13.8, true},
      Case{"rtx4090 --target int4", 29.35, false},
      Case{"l40s --target int4", 29.35, true},
      Case{"rtx4090 --target llama-2-13b --target-format q4_k_m", 7.87, true},
      Case{"rtx4090 --target llama-2-13b", 26.0, false},
      Case{"rtx3090 --target llama-3.3-70b --target-format q4_k_m --target-pp 2", 42.5, true},
      Case{"rtx3090 --target llama-3.3-70b --target-format q5_k_m --target-pp 2", 49.9, false},
      Case{"l40s --target qwen3-32b --target-format fp8", 34.3, true},
      Case{"h200 --target deepseek-v3 --target-tp 8", 673.0, true},
      Case{"h100 --target deepseek-v3 --target-tp 8", 673.0, false},
      Case{"h100 --target minimax-m2 --target-tp 4", 230.0, true},
  };
  for (const Case& one : cases) {
    INFO(one.arguments);
    const Json answer = predicted(folder, std::string("--device ") + one.arguments +
                                              " --draft qwen3-0.6b --draft-format q4_k_m --allow-vocabulary-mismatch");
    CHECK(answer["cells"][0]["fits"] == one.fits);
    CHECK(answer["models"]["target"]["weight_bytes"].get<double>() / 1e9 == Approx(one.weights_gb).epsilon(0.02));
  }
}

TEST_CASE("devices in groups of pipeline stages share the weights, not the time of a step") {
  const tests::TemporaryFolder folder;
  const std::string pair = "--device h100 --target llama-3.3-70b --draft llama-3.2-1b ";
  const Json whole = predicted(folder, pair + "--ignore-memory");
  const Json layers = predicted(folder, pair + "--target-pp 2");
  CHECK(layers["cells"][0]["fits"] == true);
  CHECK(layers["models"]["target"]["pipeline_parallel"] == 2);
  CHECK_FALSE(whole["models"]["target"].contains("pipeline_parallel"));
  const double step_ms = whole["cells"][0]["plain"]["ms"].get<double>();
  CHECK(layers["cells"][0]["plain"]["ms"].get<double>() == Approx(step_ms).epsilon(0.02));
  CHECK(predicted(folder, pair + "--target-tp 2")["cells"][0]["plain"]["ms"].get<double>() < 0.7 * step_ms);
  CHECK(predicted(folder, pair + "--target-pp 2 --kv-format q8_0")["models"]["target"]["kv_bytes_per_token"] ==
        8.5 / 16.0 * layers["models"]["target"]["kv_bytes_per_token"].get<double>());
}

TEST_CASE("impossible pairs, formats and splits are rejected with what to do") {
  const tests::TemporaryFolder folder;
  const auto rejected = [&](const std::string& arguments) {
    const auto result = tests::foredraft(folder, "predict --alpha 0.8 " + arguments);
    CHECK(result.code == 2);
    return result.err;
  };
  CHECK_THAT(rejected("--device h100 --target llama-3.1-8b --draft qwen3-0.6b"),
             Catch::Contains("--draft: ") && Catch::Contains("--allow-vocabulary-mismatch"));
  CHECK(predicted(folder, "--device h100 --target llama-3.1-8b --draft qwen3-0.6b --allow-vocabulary-mismatch")
            .contains("speedup"));
  CHECK_THAT(rejected(llama_on_h100 + "--target-format fp9"), Catch::Contains("unknown format \"fp9\""));
  CHECK_THAT(rejected("--device jetson-thor --target llama-3.1-8b --draft llama-3.2-1b --target-format fp32"),
             Catch::Contains("fp32") && Catch::Contains("Thor"));
  CHECK(predicted(folder, "--device a100 --target llama-3.1-8b --draft llama-3.2-1b --target-format fp8")["notes"][0] ==
        "fp8 products are computed in bf16 (no matrix peak of fp8 is known of NVIDIA A100 SXM4 80GB)");
  CHECK_THAT(rejected(llama_on_h100 + "--target-tp 3"), Catch::Contains("3") && Catch::Contains("heads"));
  CHECK_THAT(rejected(llama_on_h100 + "--context 900000"), Catch::Contains("131072"));
  CHECK_THAT(rejected("--c 0.1 --target-format fp8"), Catch::Contains("--target-format: given without --device"));
  tests::write_text(folder / "s.csv", "model,role,batch,tokens,context,ms\nbig,decoder_pass,1,1,0,2\n");
  CHECK_THAT(rejected("--steps-file s.csv --target big --draft big --target-tp 2"),
             Catch::Contains("--target-tp: not used with measured times"));
}

}  // namespace foredraft::app
