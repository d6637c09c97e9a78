// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <set>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::latency {
namespace {

const std::string sound = R"(["mine"]
summary = "a model"
source = "a test"
layers = 2
d_model = 8
heads = 4
kv_heads = 2
head_dim = 2
d_ff = 12
gated = true
vocabulary = 10
norm = "rms"
activation = "silu"
positions = "rotary"
)";

std::string problems_of_models(const std::string& text) {
  return rejection<DomainError>([&] { return parse_models(text, "mine.toml"); });
}

}  // namespace

TEST_CASE("a model file is read key by key") {
  const std::vector<ModelShape> models = parse_models(
      sound + "tied = true\nattention_bias = true\npublished_parameters = 1.5e3\npublished_rounding = 50\n",
      "mine.toml");
  REQUIRE(models.size() == 1);
  const ModelShape& shape = models.front();
  CHECK(shape.name == "mine");
  CHECK(shape.summary == "a model");
  CHECK(shape.architecture == Architecture::decoder);
  CHECK(shape.layers == 2);
  CHECK(shape.d_model == 8);
  CHECK(shape.heads == 4);
  CHECK(shape.kv_heads == 2);
  CHECK(shape.head_dim == 2);
  CHECK(shape.d_ff == 12);
  CHECK(shape.vocabulary == 10);
  CHECK(shape.gated);
  CHECK(shape.tied);
  CHECK(shape.attention_bias);
  CHECK_FALSE(shape.bias);
  CHECK(shape.published_parameters == 1500.0);
  CHECK(shape.published_rounding == 50.0);
}

TEST_CASE("all problems of a model file are reported at once, with line, reason and suggestion") {
  CHECK(
      problems_of_models("[\"mine\"]\nsummary = 3\nsource = \"s\"\nlayers = 2.5\nd_modle = 8\nheads = 4\nkv_heads = 2\n"
                         "head_dim = 2\nd_ff = 12\nvocabulary = 10\nnorm = \"rsm\"\nactivation = \"silu\"\n"
                         "positions = \"rotary\"\n") ==
      "mine.toml:1: mine.d_model: missing\n"
      "mine.toml:2: mine.summary: wrong type\n"
      "mine.toml:4: mine.layers: wrong type\n"
      "mine.toml:5: mine.d_modle: unknown key\n"
      "mine.toml:11: mine.norm: unknown norm \"rsm\"");
  CHECK(problems_of_models("[\"mine\"\n") != "");
  CHECK(problems_of_models("") == "mine.toml: no models");
  CHECK(problems_of_models("mine = 3\n") == "mine.toml:1: mine: unknown key");
}

TEST_CASE("impossible numbers of a model are rejected with their line") {
  std::string text = sound;
  text.replace(text.find("kv_heads = 2"), 12, "kv_heads = 3");
  text.replace(text.find("head_dim = 2"), 12, "head_dim = 5");
  text.replace(text.find("d_ff = 12"), 9, "d_ff = -1");
  CHECK(problems_of_models(text + "learned_positions = 4\nsource_length = 7\n") ==
        "mine.toml:7: mine.kv_heads: is 3\n"
        "mine.toml:8: mine.head_dim: is 5\n"
        "mine.toml:9: mine.d_ff: is -1\n"
        "mine.toml:15: mine.learned_positions: is 4\n"
        "mine.toml:16: mine.source_length: is 7");
}

TEST_CASE("settings that are not part of a shape are named with their flag") {
  CHECK(problems_of_models(sound + "quantization = \"fp8\"\nexperts = 8\ntensor_parallel = 2\nnum_experts = 8\n") ==
        "mine.toml:15: mine.quantization: not a key of model files\n"
        "mine.toml:16: mine.experts: wrong type\n"
        "mine.toml:17: mine.tensor_parallel: not a key of model files\n"
        "mine.toml:18: mine.num_experts: not a key of model files");
  CHECK_THROWS_WITH(
      parse_models(sound + "quantization = \"fp8\"\ntensor_parallel = 2\nnum_experts = 8\n", "mine.toml"),
      Catch::Contains("--target-format") && Catch::Contains("--target-tp") && Catch::Contains("experts = {"));
}

TEST_CASE("the formats of the checkpoint are a word, or one for each part") {
  CHECK_FALSE(parse_models(sound, "mine.toml").front().native_formats);
  CHECK(parse_models(sound + "formats = \"fp8\"\n", "mine.toml").front().native_formats == NumberFormat::fp8);
  const auto mixed = parse_models(sound + "formats = {layers = \"bf16\", feed_forward = \"int4_g32\"}\n", "mine.toml");
  CHECK(to_text(mixed.front().native_formats.value()) == "bf16; feed-forward int4 of 4.5 bits");
  CHECK(problems_of_models(sound + "formats = {layers = \"fp9\", feed_forwrd = \"fp8\"}\n") ==
        "mine.toml:15: mine.formats.layers: unknown format \"fp9\"\n"
        "mine.toml:15: mine.formats.feed_forwrd: unknown key");
  CHECK(problems_of_models(sound + "formats = {experts = \"fp8\"}\n") == "mine.toml:15: mine.formats.layers: missing");
  CHECK(problems_of_models(sound + "formats = 8\n") == "mine.toml:15: mine.formats: wrong type");
}

TEST_CASE("tables within a model are read key by key") {
  const ModelShape shape = parse_models(sound +
                                            "max_context = 4096\nnorms_per_layer = 4\nquery_key_norm = true\n"
                                            "attention_gate = true\nattention_layers = 1\nfeed_forward_layers = 2\n"
                                            "experts = {count = 8, per_token = 2, d_ff = 6, shared_d_ff = 3, "
                                            "dense_layers = 1}\nwindow = {tokens = 16, layers = 1, kv_heads = 4}\n"
                                            "linear = {layers = 1, layer_parameters = 70, state_elements = 9}\n",
                                        "mine.toml")
                               .front();
  CHECK(shape.max_context == 4096);
  CHECK(shape.norms_per_layer == 4);
  CHECK(shape.query_key_norm);
  CHECK(shape.attention_gate);
  CHECK(shape.attention_layers == 1);
  CHECK(shape.feed_forward_layers == 2);
  CHECK(shape.experts == Experts{.count = 8, .per_token = 2, .d_ff = 6, .shared_d_ff = 3, .dense_layers = 1});
  CHECK(shape.window == SlidingWindow{.tokens = 16, .layers = 1, .kv_heads = 4});
  CHECK(shape.linear == LinearAttention{.layers = 1, .layer_parameters = 70, .state_elements = 9});

  std::string latent = sound;
  latent.replace(latent.find("kv_heads = 2"), 12, "kv_heads = 4");
  latent.replace(latent.find("head_dim = 2"), 12, "head_dim = 6");
  latent += "latent = {kv_rank = 3, query_rank = 5, rope_dim = 2, nope_dim = 4, value_dim = 7}\n";
  CHECK(parse_models(latent, "mine.toml").front().latent ==
        LatentAttention{.kv_rank = 3, .query_rank = 5, .rope_dim = 2, .nope_dim = 4, .value_dim = 7});
  CHECK(parse_models(sound + "architecture = \"head\"\nhead = {hidden_states = 3, wide_attention = true, "
                             "draft_vocabulary = 5, own_vocabulary = true}\n",
                     "mine.toml")
            .front()
            .head ==
        HeadInputs{.hidden_states = 3, .wide_attention = true, .draft_vocabulary = 5, .own_vocabulary = true});
}

TEST_CASE("tables within a model are rejected with their line") {
  CHECK(problems_of_models(sound +
                           "experts = {count = 8, per_tokn = 2, d_ff = 6}\nwindow = {tokens = 4, layers = true}") ==
        "mine.toml:15: mine.experts.per_token: missing\n"
        "mine.toml:15: mine.experts.per_tokn: unknown key\n"
        "mine.toml:16: mine.window.layers: wrong type");
  CHECK(problems_of_models(sound +
                           "norms_per_layer = 3\nexperts = {count = 8, per_token = 9, d_ff = 6, dense_layers = 3}\n"
                           "window = {tokens = 0, layers = 3}\n"
                           "linear = {layers = 3, layer_parameters = 0, state_elements = 1}\n"
                           "head = {own_vocabulary = true}\n") ==
        "mine.toml:15: mine.norms_per_layer: is 3\n"
        "mine.toml:16: mine.experts.per_token: is 9\n"
        "mine.toml:16: mine.experts.dense_layers: is 3\n"
        "mine.toml:17: mine.window.layers: is 3\n"
        "mine.toml:17: mine.window.tokens: is 0\n"
        "mine.toml:18: mine.linear.layers: is 3\n"
        "mine.toml:18: mine.linear.layer_parameters: is 0\n"
        "mine.toml:19: mine.head: describes inputs");
  CHECK(problems_of_models(sound + "wide_query_key_norm = true\n") ==
        "mine.toml:15: mine.wide_query_key_norm: is true");
  CHECK(problems_of_models(sound + "latent = {kv_rank = 3, rope_dim = 3, nope_dim = 4, value_dim = 7}\n") ==
        "mine.toml:7: mine.kv_heads: is 2\n"
        "mine.toml:8: mine.head_dim: is 2\n"
        "mine.toml:15: mine.latent.rope_dim: is 3");
}

TEST_CASE("a shape is checked wherever it comes from") {
  ModelShape shape = tests::tiny_encoder_decoder();
  CHECK_NOTHROW(check_shape(shape));
  shape.encoder_layers = 0;
  shape.layers = 0;
  CHECK_THROWS_MATCHES(check_shape(shape), DomainError,
                       Says("tiny encoder_decoder: layers is 0\ntiny encoder_decoder: encoder_layers is 0"));
}

TEST_CASE("the shipped models are valid, have unique names and are sorted") {
  std::string last;
  for (const ModelShape& shape : model_registry()) {
    INFO(shape.name);
    CHECK(last < shape.name);
    CHECK(shape_problems(shape).empty());
    last = shape.name;
  }
  CHECK(model_registry().size() == 109);
  std::set<std::string> names;
  for (const ModelShape& shape : model_registry()) {
    CHECK(names.insert(shape.name).second);
    for (const std::string& alias : shape.aliases) CHECK(names.insert(alias).second);
  }
}

TEST_CASE("an unknown model is answered with the nearest one") {
  CHECK(find_model(model_registry(), "t5-xxl").layers == 24);
  CHECK_THROWS_MATCHES(find_model(model_registry(), "t5-xll"), DomainError, Says("unknown model \"t5-xll\""));
  CHECK_THROWS_WITH(find_model(model_registry(), "t5-xll"), Catch::Contains("t5-xxl"));
}

TEST_CASE("a missing file is an error that names it") {
  CHECK_THROWS_MATCHES(read_models("no/such/file.toml"), InputError, Says("no/such/file.toml: cannot be read"));
}

}  // namespace foredraft::latency
