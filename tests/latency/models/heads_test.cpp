// SPDX-License-Identifier: Apache-2.0
#include "latency/models/heads.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "foredraft/errors.hpp"
#include "latency/models/hugging_face.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/model_bytes.hpp"
#include "latency/operations/step_operations.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::latency {
namespace {

/// Two layers of width 16 with norms of queries and keys: 16 x (16 + 8 + 8) + 16 x 16 + 3 x 16 x 24 + 8 + 32 = 1960
/// parameters each.
const std::string layers = R"("model_type": "qwen3", "hidden_act": "silu", "attention_bias": false, "hidden_size": 16,
  "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4,
  "vocab_size": 50, "max_position_embeddings": 4096, "tie_word_embeddings": true)";
constexpr double layer = 1960;

HuggingFaceModel head_of(const std::string& own, const std::string& more = layers) {
  return parse_hugging_face("{" + own + ", " + more + "}", "config.json");
}

TEST_CASE("a block drafter is recognized by its architecture, its type or its keys") {
  const std::string keys = R"("block_size": 8, "dflash_config": {"target_layer_ids": [1, 5, 9]})";
  const ModelShape dflash = head_of(R"("architectures": ["DFlashDraftModel"], )" + keys).shape;
  CHECK(dflash.architecture == Architecture::head);
  CHECK(dflash.head == HeadInputs{.hidden_states = 3, .block_size = 8});
  CHECK(dflash.query_key_norm);
  CHECK(dflash.max_context == 0);
  CHECK(max_drafts(dflash) == 7);
  // The projection of three hidden states, their norm and the last one. Embedding and vocabulary are the target's.
  CHECK(parameters(dflash) == 3 * 16 * 16 + 16 + 2 * layer + 16);
  // A pass reads keys' and values' weights twice: of the block and of the hidden states; and the target's projection.
  CHECK(step_bytes(dflash, {}) == 2 * (parameters(dflash) + 2 * 16 * 16 + 50 * 16));

  CHECK(head_of(keys).shape.head == dflash.head);
  CHECK(head_of(R"("speculators_model_type": "dflash", "block_size": 8, "aux_hidden_state_layer_ids": [1, 5, 9])")
            .shape.head == dflash.head);
  const ModelShape windows = head_of(keys + R"(, "use_sliding_window": true, "sliding_window": 2048,
      "layer_types": ["sliding_attention", "full_attention"])")
                                 .shape;
  CHECK(windows.window.layers == 1);
  CHECK(windows.window.tokens == 2048);
  CHECK_THROWS_MATCHES(head_of(R"("architectures": ["DFlashDraftModel"])"), DomainError,
                       Says("config.json: block_size: missing"));
}

TEST_CASE("per-draft corrections of a block are counted in addition to its pass") {
  const std::string states = R"("block_size": 7, "dflash_config": {"target_layer_ids": [1, 5], )";
  const double plain = 2 * 16 * 16 + 16 + 2 * layer + 16;
  const auto dspark = [&](const std::string& type) {
    return head_of(R"("architectures": ["DSparkDraftModel"], )" + states +
                   R"("markov_rank": 4, "markov_head_type": ")" + type +
                   R"(", "enable_confidence_head": true, "confidence_head_with_markov": true})")
        .shape;
  };
  // Of rank 4: 4 x 50, and the same for the table of previous tokens. Confidence: 16 + 4 weights and a bias.
  CHECK(dspark("vanilla").head.correction_parameters == 200);
  CHECK(max_drafts(dspark("vanilla")) == 7);
  CHECK(parameters(dspark("vanilla")) == plain + 200 + 200 + 21);
  CHECK(dspark("gated").head.correction_parameters == 200 + 20 * 4 + 4);
  CHECK(dspark("rnn").head.correction_parameters == 200 + 24 * 12 + 12);

  const auto domino = [&](const std::string& shift) {
    return head_of(R"("architectures": ["DominoDraftModel"], )" + states +
                   R"("emb_dim": 3, "gru_hidden_dim": 5, "shift_label": )" + shift + "}")
        .shape;
  };
  CHECK(domino("true").head.correction_parameters == 3 * 5 * (16 + 5) + (16 + 5) * 3 + 3 * 50);
  CHECK(max_drafts(domino("true")) == 7);
  CHECK(max_drafts(domino("false")) == 6);
  CHECK(parameters(domino("false")) == plain + 3 * 5 * 21 + 21 * 3 + 150);
}

TEST_CASE("P-EAGLE has one wide layer and its own vocabulary, and says if its block is assumed") {
  const HuggingFaceModel peagle = head_of(R"("architectures": ["PEagleDraftModel"], "draft_vocab_size": 20)");
  CHECK(peagle.shape.head == HeadInputs{.hidden_states = 3,
                                        .wide_attention = true,
                                        .draft_vocabulary = 20,
                                        .own_vocabulary = true,
                                        .block_size = 8,
                                        .anchor_drafts = true});
  CHECK(peagle.notes == std::vector<std::string>{"P-EAGLE without block_size: at most 8 drafts a pass are assumed"});
  // Also the norm of the hidden state and the three states of a token that is not verified.
  CHECK(parameters(peagle.shape) == 3 * 16 * 16 + 2 * layer + 16 * 32 + 16 + 16 + 20 * 16 + 3 * 16);
  CHECK(max_drafts(head_of(R"("architectures": ["PEagleDraftModel"], "block_size": 5)").shape) == 5);
}

TEST_CASE("layers of an EAGLE-3 head follow its architecture, else its type") {
  const std::string eagle3 = R"("draft_vocab_size": 20, "num_hidden_layers": 1)";
  const auto shape_of = [&](const std::string& own) {
    return parse_hugging_face("{" + layers + ", " + eagle3 + ", " + own + "}", "config.json").shape;
  };
  CHECK_FALSE(shape_of(R"("architectures": ["LlamaForCausalLMEagle3"])").query_key_norm);
  CHECK_FALSE(shape_of(R"("architectures": ["LlamaForCausalLMEagle3"], "model_type": "phi3")").query_key_norm);
  CHECK(shape_of(R"("architectures": ["Qwen3Eagle3"])").query_key_norm);
  const ModelShape latent = shape_of(R"("architectures": ["Eagle3DeepseekV2ForCausalLM"], "model_type": "kimi_k2",
      "kv_lora_rank": 3, "q_lora_rank": 5, "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 4,
      "num_key_value_heads": 4)");
  CHECK(latent.latent.kv_rank == 3);
  CHECK(latent.head.wide_attention);
  const ModelShape normed = shape_of(R"("fc_norm": true, "target_hidden_size": 24)");
  CHECK(normed.head.hidden_width == 24);
  CHECK(normed.further_parameters == 3 * 24);
}

TEST_CASE("Medusa and MLP speculators have a stage a draft, each with a vocabulary projection") {
  const auto read = [](const std::string& config) { return parse_hugging_face(config, "config.json").shape; };
  const ModelShape medusa = read(R"({"medusa_num_heads": 4, "medusa_num_layers": 2, "hidden_size": 16,
      "vocab_size": 50})");
  CHECK(medusa.head == HeadInputs{.own_vocabulary = true, .stages = 4});
  CHECK(max_drafts(medusa) == 4);
  CHECK(parameters(medusa) == 4 * (2 * (16 * 16 + 16) + 50 * 16));
  CHECK(step_bytes(medusa, {}) == 2 * (2 * (16 * 16 + 16) + 50 * 16));
  CHECK(kv_bytes_per_token(medusa, {}) == 0.0);

  const std::string mlp = R"({"architectures": ["MLPSpeculatorPreTrainedModel"], "model_type": "mlp_speculator",
      "emb_dim": 24, "inner_dim": 16, "n_predict": 3, "vocab_size": 50, "tie_weights": )";
  // The first projects 24 to 16, the others 16 to 16; each has a table, a projection and a norm with bias.
  CHECK(parameters(read(mlp + "false}")) == 24 * 16 + 2 * 16 * 16 + 3 * (2 * 50 * 16 + 2 * 16));
  CHECK(parameters(read(mlp + "true}")) == 24 * 16 + 16 * 16 + 2 * 50 * 16 + 2 * 16);
  const ForwardPassOperations stages(read(mlp + "false}"), Role::autoregressive_drafting, {});
  const auto state_of = [&stages](std::int64_t pass) {
    for (const StepOperator& one : stages.operators({1, 3, 100}, pass)) {
      if (one.name == "state") return one.flop;
    }
    return 0.0;
  };
  CHECK(state_of(0) == 2.0 * 24 * 16);
  CHECK(state_of(1) == 2.0 * 16 * 16);
  CHECK_THROWS_MATCHES(stages.operators({1, 4, 100}), DomainError, Says("drafts at most 3 tokens, not 4"));
}

TEST_CASE("the head of a target's layers for drafting has its attention, its experts and its vocabulary") {
  const HuggingFaceModel target = head_of(R"("mtp_num_hidden_layers": 1, "attn_output_gate": true,
      "linear_num_value_heads": 2, "linear_num_key_heads": 2, "linear_key_head_dim": 4, "linear_value_head_dim": 4,
      "linear_conv_kernel_dim": 4)",
                                          layers + R"(, "model_type": "qwen3_5_text", "num_hidden_layers": 8)");
  CHECK(target.shape.drafting == DraftingLayers{.layers = 1});
  const ModelShape head = mtp_head(target.shape);
  CHECK(head.name == "mtp-config.json");
  CHECK(head.architecture == Architecture::head);
  CHECK(head.head == HeadInputs{});
  CHECK(head.linear == LinearAttention{});
  CHECK(shape_problems(head).empty());
  // As a layer above, with a gate as wide as the queries; 2 x 16 -> 16, its two norms and the last one.
  CHECK(parameters(head) == layer + 16 * 16 + 2 * 16 * 16 + 2 * 16 + 16);
  CHECK(step_parameters(head) == parameters(head) - 2 * 16 + 50 * 16);

  ModelShape deepseek = find_model(model_registry(), "deepseek-v3");
  deepseek.drafting.layers = 1;
  // Except the bias of its router.
  CHECK(parameters(mtp_head(deepseek)) == parameters(find_model(model_registry(), "mtp-deepseek-v3")) - 256);
  CHECK(parameters(deepseek) == parameters(find_model(model_registry(), "deepseek-v3")));

  ModelShape windowed = target.shape;
  windowed.linear = {};
  windowed.experts = {.count = 4, .per_token = 2, .d_ff = 8, .dense_layers = 1};
  windowed.window = {.tokens = 128, .layers = 6, .heads = 8, .kv_heads = 4};
  CHECK(mtp_head(windowed).window == SlidingWindow{});
  CHECK(mtp_head(windowed).experts == Experts{.count = 4, .per_token = 2, .d_ff = 8});
  windowed.drafting = {.layers = 3, .windowed = true, .dense = true};
  CHECK(mtp_head(windowed).window == SlidingWindow{.tokens = 128, .layers = 1, .heads = 8, .kv_heads = 4});
  CHECK(mtp_head(windowed).experts == Experts{});
  CHECK_THROWS_AS(mtp_head(find_model(model_registry(), "llama-3.1-8b")), DomainError);
}

}  // namespace
}  // namespace foredraft::latency
