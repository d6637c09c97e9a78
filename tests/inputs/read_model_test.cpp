// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "inputs/devices.hpp"
#include "inputs/inputs.hpp"
#include "inputs/read_model.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/model_bytes.hpp"
#include "latency/profile/profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace foredraft::inputs {
namespace {

using tests::TemporaryFolder;
using tests::write_text;

const std::string llama_config = R"({"model_type": "llama", "hidden_act": "silu", "hidden_size": 2048,
  "head_dim": 64, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
  "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": true, "max_position_embeddings": 131072,
  "torch_dtype": "bfloat16"})";

const std::string own_model = R"(summary = "a model"
source = "a test"
layers = 2
d_model = 8
heads = 4
kv_heads = 2
head_dim = 2
d_ff = 12
vocabulary = 10
norm = "rms"
activation = "silu"
positions = "rotary"
)";

latency::Profile data_sheet() {
  latency::Profile profile;
  profile.source = latency::Source::datasheet;
  return profile;
}

latency::ModelShape shipped(const char* name) { return latency::find_model(latency::model_registry(), name); }

}  // namespace

TEST_CASE("a shipped model is found in any case, and has neither file nor formats") {
  const ReadModel model = read_model("Qwen3-30B-A3B");
  CHECK(model.shape.name == "qwen3-30b-a3b");
  CHECK_FALSE(model.weights);
  CHECK(model.digests.empty());
  CHECK(model.notes.empty());
}

TEST_CASE("a config.json is read by its path or its folder, named after the folder, with its digest") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "My-1B");
  const std::string file = folder / "My-1B/config.json";
  write_text(folder / "My-1B/config.json", llama_config);
  for (const std::string& what : {file, folder / "My-1B"}) {
    INFO(what);
    const ReadModel model = read_model(what);
    CHECK(model.shape.name == "My-1B");
    CHECK(latency::parameters(model.shape) == latency::parameters(shipped("llama-3.2-1b")));
    CHECK(model.weights == latency::NumberFormat::bf16);
    CHECK(model.digests == std::vector<FileDigest>{digest_text(file, llama_config)});
  }
  write_text(folder / "other_config.json", llama_config);
  CHECK(read_model(folder / "other_config.json").shape.name == "other_config");
  const std::string quantization = R"({"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}})";
  write_text(folder / "My-1B/hf_quant_config.json", quantization);
  const ReadModel quantized = read_model(file);
  CHECK(quantized.weights == latency::NumberFormat::nvfp4);
  CHECK(quantized.kv_cache == latency::NumberFormat::fp8);
  CHECK(quantized.digests == std::vector<FileDigest>{digest_text(file, llama_config),
                                                     digest_text(folder / "My-1B/hf_quant_config.json", quantization)});
}

TEST_CASE("a model file is read by its path if it holds one model, and by the name of one if it holds more") {
  const TemporaryFolder folder;
  write_text(folder / "one.toml", "[\"mine\"]\n" + own_model);
  write_text(folder / "two.toml", "[\"mine\"]\n" + own_model + "[\"other\"]\n" + own_model);
  const std::string one = folder / "one.toml";
  const std::string two = folder / "two.toml";
  CHECK(read_model(one).shape.name == "mine");
  CHECK(read_model(one).digests == std::vector<FileDigest>{digest_text(one, "[\"mine\"]\n" + own_model)});
  CHECK(read_model(one + ":mine").shape.name == "mine");
  CHECK(read_model(two + ":other").shape.name == "other");
  CHECK_THROWS_MATCHES(read_model(two), InputError, Says(two + ": holds 2 models"));
  CHECK_THROWS_MATCHES(read_model(two + ":othr"), InputError, Says(two + ": no model \"othr\""));
}

TEST_CASE("a file that is no model is an InputError that says what to do") {
  const TemporaryFolder folder;
  CHECK_THROWS_MATCHES(read_model("qwen3-8"), InputError, Says("qwen3-8: neither a shipped model nor a file"));
  CHECK_THROWS_MATCHES(read_model("no/such/thing"), InputError,
                       Says("no/such/thing: neither a shipped model nor a file"));
  CHECK_THROWS_AS(read_model(""), InputError);
  CHECK_THROWS_WITH(read_model("pearl"), Catch::EndsWith("predict --overlap (docs/methods.md)"));
  CHECK_THROWS_WITH(read_model("LayerSkip"), Catch::EndsWith("or --marginal (docs/methods.md)"));
  CHECK_THROWS_AS(read_model("no.toml:such"), InputError);
  CHECK_THROWS_WITH(read_model(folder.path()), Catch::Contains("a folder without a config.json"));
  write_text(folder / "config.json", "{\"model_type\": \"lama\"}");
  const std::string file = folder / "config.json";
  CHECK_THROWS_AS(read_model(file), InputError);
  CHECK_THROWS_MATCHES(read_model(file), InputError, Says(file + ": model_type: unknown architecture \"lama\""));
  write_text(folder / "broken.toml", "mine = 3\n");
  CHECK_THROWS_AS(read_model(folder / "broken.toml"), InputError);
}

TEST_CASE("a pair's notes name the rows of its profile that are ignored") {
  const auto notes_of = [](const std::string& profile) {
    return read_pair({.target = "llama-3.1-8b", .draft = "eagle-llama-3.1-8b"},
                     read_profile(FOREDRAFT_SOURCE "/gpu_bench/data/" + profile).profile)
        .notes;
  };
  CHECK(notes_of("h100/batches/llama-3.1-8b/profile.json").empty());
  const std::vector<std::string> notes = notes_of("h200/batches/llama-3.1-8b/profile.json");
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes.front(), Catch::Contains("24 of 32 rows") && Catch::Contains("gamma 1, 4, 8:"));
}

TEST_CASE("deployments of a sweep share one reading of a model's file, whose digest is certified") {
  const TemporaryFolder folder;
  const std::string file = folder / "mine.json";
  write_text(file, llama_config);
  Roofline cost;
  cost.source = "h100";
  cost.target = file;
  cost.draft = "llama-3.2-1b";
  Inputs inputs;
  for (const std::int64_t devices : {1, 2}) {
    cost.target_tp = devices;
    Scenario scenario{.fidelity = ProcessFidelity{.acceptance = Iid{0.7}}, .cost = cost};
    inputs.attach(scenario);
    CHECK(inputs.files() == std::vector<FileDigest>{digest_text(file, llama_config)});
    write_text(file, "{}");
  }
}

TEST_CASE("a config.json of an unknown architecture is read as the one that is assumed, and nothing else is") {
  const TemporaryFolder folder;
  const std::string file = folder / "config.json", models = folder / "mine.toml";
  std::string unknown = llama_config;
  unknown.replace(unknown.find("llama"), 5, "alpaca");
  write_text(file, unknown);
  write_text(models, "[\"mine\"]\n" + own_model);
  CHECK_THROWS_WITH(read_model(file), Catch::Contains("--assume llama"));
  const ReadModel read = read_model(file, "llama");
  CHECK(read.shape.d_model == 2048);
  CHECK(read.notes == std::vector<std::string>{"model_type: \"alpaca\" is read as llama, which is assumed"});
  for (const std::string& other : {std::string("qwen3-8b"), std::string("Qwen/Qwen3-8B"), models}) {
    CHECK_THROWS_WITH(read_model(other, "llama"), Catch::Contains("is no config.json"));
  }
}

TEST_CASE("a name of the Hugging Face hub means the shipped shape, with a note that names it") {
  const std::vector<std::pair<std::string, std::string>> names{
      {"Qwen/Qwen3-8B", "qwen3-8b"},
      {"Qwen/Qwen3-8B-Base", "qwen3-8b"},
      {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"},
      {"meta-llama/Meta-Llama-3.1-8B", "llama-3.1-8b"},
      {"meta-llama/Llama-2-7b-chat-hf", "llama-2-7b"},
      {"google/gemma-3-27b-it", "gemma-3-27b"},
      {"google-t5/t5-base", "t5-base"},
      {"yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "eagle3-llama-3.1-8b"},
      {"Llama-3.1-8B-Instruct", "llama-3.1-8b"},
      {"qwen3_8b", "qwen3-8b"},
      {"deepseek-ai/DeepSeek-R1-0528", "deepseek-v3"},
      {"meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama-4-scout"},
      {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
      {"Qwen/Qwen3-30B-A3B-Thinking-2507", "qwen3-30b-a3b"},
      {"deepseek-ai/DeepSeek-V4-Flash-0731", "deepseek-v4-flash"},
      {"nvidia/Llama-3.3-70B-Instruct-Eagle3", "eagle3-llama-3.3-70b"},
      {"RedHatAI/gpt-oss-20b-speculator.eagle3", "eagle3-gpt-oss-120b"},
  };
  for (const auto& [asked, shape] : names) {
    CAPTURE(asked);
    const ReadModel read = read_model(asked);
    CHECK(read.shape.name == shape);
    CHECK(read.notes == std::vector<std::string>{"taken for " + asked});
  }
  const ReadModel fp8 = read_model("RedHatAI/Qwen3-8B-FP8");
  CHECK(fp8.shape.name == "qwen3-8b");
  CHECK(fp8.weights == latency::WeightFormats(latency::NumberFormat::fp8));
  CHECK_THAT(fp8.notes.front(), Catch::Contains("all matrices of its layers in fp8"));
  const std::vector<std::pair<std::string, std::string>> formats{
      {"RedHatAI/Qwen3-8B-FP8-dynamic", "fp8"},
      {"hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4", "int4"},
      {"neuralmagic/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "int4"},
      {"unsloth/Qwen3-8B-GGUF:UD-Q4_K_XL", "ud-q4_k_xl"},
      {"models/Qwen3-8B-Q8_0.gguf", "q8_0"},
      {"unsloth/Qwen3-8B-GGUF", "q4_k_m"},
      {"ggml-org/gpt-oss-20b-GGUF", "mxfp4"},
      {"mlx-community/Qwen3-8B-4bit", "4bit"},
  };
  for (const auto& [asked, format] : formats) {
    CAPTURE(asked);
    CHECK_THAT(to_text(read_model(asked).weights.value()), Catch::StartsWith(format));
  }
  for (const char* other : {"Qwen/Qwen3-80B", "Qwen/Qwen2-57B", "Qwen/Qwen15-7B", "Qwen/Qwen3-80B-FP8"}) {
    CHECK_THROWS_AS(read_model(other), InputError);
  }
  CHECK_THROWS_WITH(
      read_model("Qwen/Qwen4-8B"),
      Catch::StartsWith("Qwen/Qwen4-8B: neither a shipped model nor a file - download its config.json") &&
          Catch::EndsWith("hf download Qwen/Qwen4-8B config.json --local-dir Qwen4-8B, and name Qwen4-8B/config.json"));
  for (const char* path : {"./Qwen4-8B", "a/b/c", "models/mine.toml", "a/", "/a", "a b/c", "a/.."}) {
    CAPTURE(path);
    CHECK_THROWS_WITH(read_model(path), !Catch::Contains("hf download"));
  }
}

TEST_CASE("a head that is not shipped has the widths of its dense target") {
  const latency::Profile profile = read_profile("h100").profile;
  for (const char* draft : {"eagle3", "AngelSlim/Qwen3-14B_eagle3"}) {
    CAPTURE(draft);
    const DeployedPair pair = read_pair({.target = "qwen3-14b", .draft = draft}, profile);
    CHECK(pair.draft == "eagle3-qwen3-14b");
    CHECK_FALSE(pair.head_problem);
    CHECK_THAT(pair.notes.back(), Catch::Contains("widths of qwen3-14b"));
  }
  CHECK(read_pair({.target = "qwen3-8b", .draft = "z-lab/Qwen3-8B-DFlash-b16"}, profile).max_drafts == 15);
  CHECK(read_pair({.target = "gpt-oss-20b", .draft = "eagle3"}, profile).draft == "eagle3-gpt-oss-120b");
  CHECK(read_pair({.target = "qwen3-next-80b-a3b", .draft = "qwen3_next_mtp"}, profile).draft ==
        "mtp-qwen3-next-80b-a3b");
  CHECK_THROWS_WITH(read_pair({.target = "mixtral-8x7b", .draft = "eagle3"}, profile),
                    Catch::Contains("no such head of mixtral-8x7b ships") && Catch::EndsWith("name its config.json"));
  CHECK_THROWS_AS(read_pair({.target = "qwen3-8b", .draft = "Qwen3-14B_eagle3"}, profile), InputError);
}

TEST_CASE("a profile of steps finds its models by names of the hub too") {
  const latency::Profile profile = read_profile("h100-vllm-llama-3.1-8b").profile;
  const DeployedPair pair =
      read_pair({.target = "meta-llama/Llama-3.1-8B-Instruct", .draft = "eagle3-llama-3.1-8b"}, profile);
  CHECK(pair.target == "llama-3.1-8b");
  CHECK(pair.notes == std::vector<std::string>{"llama-3.1-8b: taken for meta-llama/Llama-3.1-8B-Instruct"});
  CHECK(read_pair({.target = "Qwen/Qwen3-8B", .draft = "qwen3-0.6b"}, profile).target == "Qwen/Qwen3-8B");
}

TEST_CASE("vocabularies that differ by 1 % have other tokens, below that other padding") {
  latency::ModelShape target = shipped("qwen3-8b");
  latency::ModelShape draft = shipped("qwen3-0.6b");
  CHECK_FALSE(vocabulary_problem(target, draft));
  CHECK_FALSE(vocabulary_note(target, draft));
  target.vocabulary = 152064;
  CHECK_FALSE(vocabulary_problem(target, draft));
  CHECK(vocabulary_note(target, draft) ==
        "qwen3-8b has 152064 tokens and qwen3-0.6b has 151936: assumed to share a tokenizer, with tables padded "
        "differently");
  draft = shipped("llama-3.2-1b");
  CHECK_FALSE(vocabulary_note(target, draft));
  CHECK(vocabulary_problem(target, draft) ==
        "qwen3-8b has 152064 tokens and llama-3.2-1b has 128256: they have different tokenizers, so a draft of one is "
        "no token of the other");
  target.vocabulary = 10000;
  draft.vocabulary = 9901;
  CHECK_FALSE(vocabulary_problem(target, draft));
  draft.vocabulary = 9900;
  CHECK(vocabulary_problem(target, draft));
}

TEST_CASE("a head needs a target of its width") {
  CHECK_FALSE(head_problem(shipped("llama-3.1-8b"), shipped("eagle3-llama-3.1-8b")));
  CHECK_FALSE(head_problem(shipped("llama-3.3-70b"), shipped("llama-3.2-1b")));
  CHECK(head_problem(shipped("llama-3.3-70b"), shipped("eagle3-llama-3.1-8b")) ==
        "eagle3-llama-3.1-8b reads hidden states of width 4096, those of llama-3.3-70b have 8192 - use a head of "
        "this target");
}

TEST_CASE("the draft mtp is the head of the target's own layers, stored and split as the target") {
  tests::TemporaryFolder folder;
  const std::string text = R"({"model_type": "qwen3", "hidden_act": "silu", "hidden_size": 64, "intermediate_size": 96,
      "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 500,
      "quantization_config": {"quant_method": "fp8"}})";
  write_text(folder / "plain.json", text);
  const latency::Profile sheet = data_sheet();
  const DeployedPair without = read_pair({.target = folder / "plain.json", .draft = "mtp"}, sheet);
  REQUIRE(without.head_problem);
  CHECK(brief(*without.head_problem).starts_with("plain has no layers for drafting"));

  write_text(folder / "moe.json", R"({"model_type": "glm4_moe", "hidden_act": "silu", "hidden_size": 64,
      "intermediate_size": 96, "moe_intermediate_size": 32, "n_routed_experts": 8, "num_experts_per_tok": 2,
      "n_shared_experts": 1, "first_k_dense_replace": 1, "num_hidden_layers": 4, "num_attention_heads": 4,
      "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 500, "num_nextn_predict_layers": 1,
      "quantization_config": {"quant_method": "fp8"}})");
  const DeployedPair pair =
      read_pair({.target = folder / "moe.json", .draft = "mtp", .deployment = {.target_tp = 2}}, sheet);
  CHECK_FALSE(pair.head_problem);
  CHECK(pair.draft == "mtp-moe");
  // The projection of embedding and hidden state is in 16 bits.
  CHECK(to_text(pair.draft_deployment.weights) == "fp8; inputs bf16");
  latency::Deployment as_target = pair.draft_deployment;
  as_target.weights = pair.target_deployment.weights;
  CHECK(as_target == pair.target_deployment);
  CHECK(pair.draft_deployment.tensor_parallel == 2);
  CHECK(read_pair(
            {.target = folder / "moe.json",
             .draft = "mtp",
             .deployment = {.target_format = latency::NumberFormat::fp8, .draft_format = latency::NumberFormat::int4}},
            sheet)
            .draft_deployment.weights.layers() == latency::NumberFormat::int4);
  CHECK(pair.max_drafts == 0);
}

TEST_CASE("a block drafter has its number of drafts a pass, and reads the target's tables as they are stored") {
  tests::TemporaryFolder folder;
  write_text(folder / "block.json", R"({"architectures": ["DFlashDraftModel"], "block_size": 8,
      "dflash_config": {"target_layer_ids": [1, 17, 33]}, "model_type": "qwen3", "hidden_act": "silu",
      "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 3, "num_attention_heads": 32,
      "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "dtype": "bfloat16"})");
  const DeployedPair pair = read_pair({.target = "qwen3-8b",
                                       .draft = folder / "block.json",
                                       .deployment = {.target_format = latency::NumberFormat::int8}},
                                      data_sheet());
  CHECK(pair.max_drafts == 7);
  CHECK(pair.at_once);
  REQUIRE_FALSE(pair.notes.empty());
  CHECK(brief(pair.notes.back()) == "block: one pass drafts a block of up to 7 tokens");
  CHECK(pair.draft_deployment.weights.layers() == latency::NumberFormat::bf16);
  CHECK(pair.draft_deployment.weights.of(latency::ModelPart::vocabulary) ==
        pair.target_deployment.weights.of(latency::ModelPart::vocabulary));
}

TEST_CASE("a shipped name means the formats of its checkpoint, which a note says, unless others are stated") {
  const latency::Profile sheet = read_profile("h100").profile;
  AskedPair asked{.target = "gpt-oss-120b", .draft = "qwen3-0.6b"};
  const DeployedPair native = read_pair(asked, sheet);
  CHECK(to_text(native.target_deployment.weights) == "mxfp4; attention bf16");
  CHECK(native.draft_deployment.weights == latency::NumberFormat::fp16);
  CHECK(native.notes ==
        std::vector<std::string>{"gpt-oss-120b: in the formats of its checkpoint, mxfp4; attention bf16"});
  asked.deployment.target_format = latency::weight_formats("UD-Q4_K_XL");
  const DeployedPair stated = read_pair(asked, sheet);
  CHECK(to_text(stated.target_deployment.weights) == "ud-q4_k_xl");
  REQUIRE(stated.notes.size() == 1);
  CHECK_THAT(stated.notes.front(), Catch::StartsWith("ud-q4_k_xl: Unsloth chooses types"));
}

TEST_CASE("a head reads the target's vocabulary projection in the target's format") {
  const latency::Profile sheet = read_profile("h100").profile;
  const auto vocabulary = [&](const char* draft, const char* target_format) {
    const AskedPair asked{.target = "llama-3.1-8b",
                          .draft = draft,
                          .deployment = {.target_format = latency::weight_formats(target_format)}};
    return read_pair(asked, sheet).draft_deployment.weights.of(latency::ModelPart::vocabulary).bits;
  };
  CHECK(vocabulary("eagle-llama-3.1-8b", "q4_k_m") == 6.5625);
  CHECK(vocabulary("eagle-llama-3.1-8b", "fp8") == 16.0);      // which leaves it
  CHECK(vocabulary("eagle3-llama-3.1-8b", "q4_k_m") == 16.0);  // has one of its own
  CHECK(vocabulary("llama-3.2-1b", "q4_k_m") == 16.0);
}

}  // namespace foredraft::inputs
