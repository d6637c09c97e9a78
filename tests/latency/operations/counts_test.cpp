// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "latency/models/model_registry.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/forward_passes.hpp"
#include "latency/operations/model_bytes.hpp"
#include "latency/operations/step_operations.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"

namespace foredraft::latency {
namespace {

constexpr BufferId some = 0;  // counts do not read buffers

/// Elements of the weights of both passes of a model, each buffer once, by name.
std::map<std::string, std::int64_t> weight_elements(const ModelShape& shape, bool encoder) {
  std::map<std::string, std::int64_t> elements;
  const ForwardPassRequest request{.tokens = 1, .batch = 1, .context = 4};
  std::vector<Program> programs{decoder_pass(shape, request)};
  if (encoder && shape.encoder_layers > 0) programs.push_back(encoder_pass(shape, request));
  for (const Program& program : programs) {
    for (const Buffer& buffer : program.buffers) {
      if (buffer.kind == BufferKind::weight) elements[buffer.name] = buffer.elements;
    }
  }
  return elements;
}

double sum_of(const std::map<std::string, std::int64_t>& elements) {
  double sum = 0.0;
  for (const auto& [name, count] : elements) sum += static_cast<double>(count);
  return sum;
}

}  // namespace

TEST_CASE("bytes and operations of each operation, counted by hand") {
  // fp16; 6 rows: 2 sequences of 3 tokens; width 8; 4 heads of 2, keys and values of 2 heads.
  const DataType type = DataType::fp16;
  SECTION("embed: 6 ids of 4 bytes, 6 rows of the table") {
    CHECK(work_of(Embed{some, some, no_buffer, some, 6, 8, 10, 3, 4}, type) == Work{24 + 96, 96, 0});
    CHECK(work_of(Embed{some, some, some, some, 6, 8, 10, 3, 4}, type) == Work{24 + 96 + 48, 96, 48});
  }
  SECTION("add_normalize: the stream changes only if something is added to it") {
    CHECK(work_of(AddNormalise{some, some, some, no_buffer, some, 6, 8, Norm::rms}, type) ==
          Work{96 + 96 + 16, 96 + 96, 5 * 48});
    CHECK(work_of(AddNormalise{some, no_buffer, some, some, some, 6, 8, Norm::layer}, type) ==
          Work{96 + 16 + 16, 96, 8 * 48});
  }
  SECTION("project: 6 x 8 times 8 x 16") {
    CHECK(work_of(Project{some, some, some, some, 6, 16, 8, false}, type) == Work{96 + 256 + 32, 192, 1536 + 96});
    CHECK(work_of(Project{some, some, no_buffer, some, 6, 16, 8, true}, type) == Work{96 + 256 + 192, 192, 1536});
  }
  SECTION("normalise_heads: queries and keys, and two gains of 2") {
    CHECK(work_of(NormaliseHeads{some, some, some, 6, 4, 2, 2}, type) == Work{144 + 8, 144, 4 * 72});
  }
  SECTION("store_keys_values: queries only if they are rotated") {
    CHECK(work_of(StoreKeysValues{some, some, some, 2, 3, 4, 9, 4, 2, 2, true}, type) ==
          Work{96 + 96, 96 + 48 + 48, 3 * 72});
    CHECK(work_of(StoreKeysValues{some, some, some, 2, 3, 4, 9, 4, 2, 2, false}, type) == Work{96, 48 + 48, 0});
  }
  SECTION("attend: 7 entries of a KV cache of 9; queries see 5, 6 and 7 of them, or all") {
    CHECK(work_of(Attend{some, some, some, some, 2, 3, 7, 9, 4, 2, 2, 16, true}, type) ==
          Work{96 + 112 + 112, 96, 4 * 2 * 144});
    CHECK(work_of(Attend{some, some, some, some, 2, 3, 7, 9, 4, 2, 2, 16, false}, type) ==
          Work{96 + 112 + 112, 96, 4 * 2 * 168});
  }
  SECTION("activate and pick_token") {
    CHECK(work_of(Activate{some, some, 6, 12, Activation::silu, true}, type) == Work{288, 144, 144});
    CHECK(work_of(Activate{some, some, 6, 12, Activation::relu, false}, type) == Work{144, 144, 72});
    CHECK(work_of(PickToken{some, some, 6, 10}, type) == Work{120, 24, 0});
  }
  SECTION("fp32 doubles the values and not the ids") {
    CHECK(work_of(PickToken{some, some, 6, 10}, DataType::fp32) == Work{240, 24, 0});
  }
}

TEST_CASE("parameters and step weights of tiny models, counted by hand") {
  // Layer: norms 16, queries keys values 8 x 16, output 8 x 8, gate and up 8 x 24, down 12 x 8: 496. Norm 8, tables 2
  // x 80.
  CHECK(parameters(tests::tiny_decoder()) == 2 * 496 + 8 + 160);
  CHECK(step_parameters(tests::tiny_decoder()) == 2 * 496 + 8 + 80);
  // Layer: norms 32, 8 x 24 + 24, 8 x 8 + 8, 8 x 12 + 12, 12 x 8 + 8: 532. Cross: norm 16, twice 8 x 8 + 8: 160; its
  // keys and values 8 x 16 + 16. Norm 16 for each stack, 16 positions, one table of 80.
  CHECK(parameters(tests::tiny_encoder_decoder()) == 2 * (532 + 160 + 144) + 16 + 532 + 16 + 128 + 80);
  CHECK(step_parameters(tests::tiny_encoder_decoder()) == 2 * (532 + 160) + 16 + 80);
  // Two inputs of 8 x 8, a layer, a norm; it reads the target's vocabulary and has none itself.
  CHECK(parameters(tests::tiny_head()) == 128 + 496 + 8);
  CHECK(step_parameters(tests::tiny_head()) == 128 + 496 + 8 + 80);
}

TEST_CASE("work of a whole pass, counted by hand") {
  const Program program = decoder_pass(tests::tiny_decoder(), {.tokens = 3, .batch = 2, .context = 4});
  const double projections = 2.0 * 6 * (2 * 480 + 80);
  const double attention = 2 * 1152;
  const double norms = 192 + 4 * 240;
  CHECK(work_of(program, DataType::bf16).flop == projections + attention + norms + 2 * 216 + 2 * 144);
  // Weights 1080 and the rows of the embedding, 48; caches of 7 entries, two of them a layer.
  double elements = 0.0;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind != BufferKind::tokens) elements += static_cast<double>(buffer.elements);
  }
  const double working_space = 48 + 48 + 96 + 48 + 48 + 6 * 24 + 6 * 12 + 60;
  CHECK(elements == 1080 + 80 + 2 * 2 * 2 * 7 * 4 + working_space);
  CHECK(memory_bytes(program, DataType::bf16) == 2 * elements + 6 * 4);
}

TEST_CASE("the published number of parameters of every shipped model is matched within its rounding") {
  int published = 0;
  for (const ModelShape& shape : model_registry()) {
    if (!shape.published_parameters) continue;
    ++published;
    INFO(shape.name << ": " << parameters(shape) << " against " << *shape.published_parameters);
    CHECK(std::abs(parameters(shape) - *shape.published_parameters) <= shape.published_rounding);
  }
  CHECK(published == 74);
}

TEST_CASE("parameters of parts that no pass runs, counted by hand") {
  // The decoder: 496 a layer, of it 16 of norms, 192 of attention and 288 of the block of 12; 8 + 160 beside the
  // layers.
  const double rest = 168;
  SECTION("experts: the router, those of a layer, the shared one; a dense layer stays") {
    ModelShape shape = tests::tiny_decoder();
    shape.experts = {.count = 5, .per_token = 2, .d_ff = 3, .shared_d_ff = 4, .dense_layers = 1};
    CHECK(parameters(shape) == 496 + 208 + (5 * 8 + 5 * 72 + 96) + rest);
    CHECK(active_parameters(shape) == 496 + 208 + (5 * 8 + 2 * 72 + 96) + rest);
    CHECK(step_parameters(shape) == active_parameters(shape) - 80);
    shape.bias = true;  // output 8, block 24 + 8, router 5, experts 6 + 8, shared 8 + 8
    CHECK(parameters(shape) == 496 + 208 + (5 * 8 + 5 * 72 + 96) + rest + 2 * 8 + 32 + 5 + 5 * 14 + 16);
  }
  SECTION("latent attention: down to the ranks, their norms, up to the heads, the output") {
    ModelShape shape = tests::tiny_decoder();
    shape.latent = {.kv_rank = 3, .query_rank = 5, .rope_dim = 2, .nope_dim = 4, .value_dim = 7};
    const double shared = (3 + 2) * 8 + 3 + 4 * (4 + 7) * 3 + 8 * 4 * 7;
    CHECK(parameters(shape) == 2 * (304 + 5 * 8 + 5 + 4 * 6 * 5 + shared) + rest);
    shape.latent.query_rank = 0;
    CHECK(parameters(shape) == 2 * (304 + 4 * 6 * 8 + shared) + rest);
  }
  SECTION("norms of queries and keys, four norms a layer, gates") {
    ModelShape shape = tests::tiny_decoder();
    shape.query_key_norm = true;
    shape.norms_per_layer = 4;
    shape.attention_gate = true;
    CHECK(parameters(shape) == 2 * (496 + 2 * 2 + 2 * 8 + 8 * 8) + rest);
  }
  SECTION("layers with a window may have other heads, and the others no value projection") {
    ModelShape shape = tests::tiny_decoder();
    shape.window = {.tokens = 4, .layers = 1, .kv_heads = 4, .head_dim = 1};
    CHECK(parameters(shape) == 496 + (304 + 12 * 8 + 8 * 4) + rest);
    shape.values_are_keys = true;
    CHECK(parameters(shape) == 496 - 4 * 8 + (304 + 12 * 8 + 8 * 4) + rest);
  }
  SECTION("linear attention in place of softmax; layers of one block") {
    ModelShape shape = tests::tiny_decoder();
    shape.linear = {.layers = 1, .layer_parameters = 77, .state_elements = 9};
    CHECK(parameters(shape) == 496 + 304 + 77 + rest);
    shape.layers = 4;
    shape.norms_per_layer = 1;
    shape.attention_layers = 1;
    shape.feed_forward_layers = 2;
    CHECK(parameters(shape) == 4 * 8 + 192 + 2 * 288 + 77 + rest);
  }
  SECTION("EAGLE-3: three states to one, a norm of it, queries, keys and values twice as wide, its own vocabulary") {
    ModelShape shape = tests::tiny_head();
    shape.head = {.hidden_states = 3, .wide_attention = true, .draft_vocabulary = 5, .own_vocabulary = true};
    CHECK(parameters(shape) == 3 * 64 + 8 + 496 + 8 * 16 + 8 + 5 * 8);
    CHECK(step_parameters(shape) == parameters(shape));
    shape.head.hidden_width = 4;
    CHECK(parameters(shape) == 3 * 32 + 8 + 496 + 8 * 16 + 8 + 5 * 8);
    shape.head = {.hidden_width = 4};
    CHECK(parameters(shape) == 8 * 12 + 496 + 8);
  }
}

TEST_CASE("published counts of other conventions are matched within their rounding") {
  const auto shape = [](const char* name) { return find_model(model_registry(), name); };
  const auto tables = [&shape](const char* name) {
    const ModelShape one = shape(name);
    return (one.tied ? 1.0 : 2.0) * static_cast<double>(one.vocabulary * one.d_model);
  };
  struct Row {
    const char* model;
    double published;  ///< without the tables of tokens
    double half_unit;
  };
  // Qwen3 Technical Report and model cards, "non-embedding"; Gemma 3 Technical Report, Table 1.
  for (const Row& row : {Row{"qwen3-0.6b", 0.44e9, 0.005e9},
                         {"qwen3-8b", 6.95e9, 0.005e9},
                         {"qwen3-32b", 31.2e9, 0.05e9},
                         {"qwen3-30b-a3b", 29.9e9, 0.05e9},
                         {"qwen3-235b-a22b", 234e9, 0.5e9},
                         {"gemma-3-4b", 3209e6, 0.5e6},
                         {"gemma-3-12b", 10759e6, 0.5e6},
                         {"gemma-3-27b", 25600e6, 0.5e6}}) {
    INFO(row.model << " " << parameters(shape(row.model)) - tables(row.model));
    CHECK(std::abs(parameters(shape(row.model)) - tables(row.model) - row.published) <= row.half_unit);
  }
  // Parameters of one token: Qwen3 and Kimi-K2 model cards, DeepSeek-V3 README, gpt-oss model card (whose count leaves
  // out the embedding), Mixtral (arXiv:2401.04088).
  CHECK(active_parameters(shape("qwen3-235b-a22b")) == Approx(22e9).margin(0.5e9));
  CHECK(active_parameters(shape("mixtral-8x7b")) == Approx(13e9).margin(0.5e9));
  CHECK(active_parameters(shape("gpt-oss-20b")) - 201088 * 2880 == Approx(3.61e9).margin(0.005e9));
  CHECK(active_parameters(shape("gpt-oss-120b")) - 201088 * 2880 == Approx(5.13e9).margin(0.005e9));
  // GLM-4.5 (arXiv:2508.06471, Table 1): with the MTP layer, without the tables of tokens.
  CHECK(parameters(shape("glm-4.5")) + parameters(shape("mtp-glm-4.5")) - tables("glm-4.5") ==
        Approx(355e9).margin(0.5e9));
  // DeepSeek-V3's README_WEIGHTS prints 11.5 B for the MTP module: all except its input projection.
  CHECK(parameters(shape("mtp-deepseek-v3")) - 2.0 * 7168 * 7168 == Approx(11.5e9).margin(0.05e9));
}

TEST_CASE("parameters are the weights of both passes of every shipped model, and what the file says lies outside") {
  for (const ModelShape& shape : model_registry()) {
    if (why_not_runnable(shape)) continue;
    std::map<std::string, std::int64_t> elements = weight_elements(shape, true);
    // Positions are computed, or counted by the rows of the model's own table.
    elements.erase("positions");
    elements.erase("encoder positions");
    if (shape.architecture == Architecture::head) {
      elements.erase("embedding");
      elements.erase("vocabulary");
    }
    INFO(shape.name);
    CHECK(parameters(shape) ==
          sum_of(elements) + static_cast<double>(shape.learned_positions * shape.d_model + shape.further_parameters));
  }
}

TEST_CASE("step weights are the weights of the decoder pass, without tables that are looked up by row") {
  for (const ModelShape& shape : model_registry()) {
    if (why_not_runnable(shape)) continue;
    std::map<std::string, std::int64_t> elements = weight_elements(shape, false);
    elements.erase("positions");
    if (!shape.tied) elements.erase("embedding");
    INFO(shape.name);
    CHECK(step_parameters(shape) == sum_of(elements));
  }
}

TEST_CASE("step weights agree with an earlier table, to its printed digits") {
  // GB of fp16 and half a unit of the last digit. The table counts only matrices, so norms and biases are added.
  struct Row {
    const char* model;
    double gb;
    double half_unit;
  };
  for (const Row& row : {Row{"llama-2-7b", 13.21, 0.005},
                         {"llama-2-13b", 25.70, 0.005},
                         {"vicuna-33b", 64.63, 0.005},
                         {"sheared-llama-1.3b", 2.56, 0.005},
                         {"qwen1.5-7b", 14.20, 0.005},
                         {"qwen1.5-0.5b", 0.93, 0.005},
                         {"gemma-7b", 17.08, 0.005},
                         {"gemma-2b", 5.01, 0.005},
                         {"t5-xxl", 11.13, 0.005},
                         {"t5-large", 0.78, 0.005},
                         {"t5-base", 0.25, 0.005},
                         {"t5-small", 0.077, 0.0005},
                         {"whisper-large-v2", 1.60, 0.005},
                         {"distil-large-v2", 0.22, 0.005},
                         {"whisper-small.en", 0.28, 0.005},
                         {"distil-small.en", 0.15, 0.005},
                         {"transformer-base", 0.082, 0.0005}}) {
    const ModelShape& shape = find_model(model_registry(), row.model);
    double vectors = 0.0;
    for (const auto& [name, elements] : weight_elements(shape, false)) {
      if (name.ends_with(" gain") || name.ends_with(" bias")) vectors += 2.0 * static_cast<double>(elements);
    }
    const double matrices = 2 * step_parameters(shape) - vectors;
    INFO(row.model << " " << matrices);
    CHECK(std::abs(matrices / 1e9 - row.gb) <= row.half_unit);
  }
}

}  // namespace foredraft::latency
