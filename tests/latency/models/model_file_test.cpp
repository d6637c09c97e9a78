// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <set>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"

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
  try {
    static_cast<void>(parse_models(text, "mine.toml"));
  } catch (const DomainError& error) {
    return error.what();
  }
  return "";
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
      "mine.toml:2: mine.summary: wrong type (must be a string, is integer)\n"
      "mine.toml:4: mine.layers: wrong type (must be a whole number, is floating-point)\n"
      "mine.toml:5: mine.d_modle: unknown key - did you mean d_model?\n"
      "mine.toml:11: mine.norm: unknown norm \"rsm\" - did you mean rms?");
  CHECK(problems_of_models("[\"mine\"\n") != "");
  CHECK(problems_of_models("") == "mine.toml: no models (a model is a table)");
  CHECK(problems_of_models("mine = 3\n") == "mine.toml:1: mine: unknown key (a model is a table) - write [\"mine\"]");
}

TEST_CASE("numbers that no model has are refused where they stand") {
  std::string text = sound;
  text.replace(text.find("kv_heads = 2"), 12, "kv_heads = 3");
  text.replace(text.find("head_dim = 2"), 12, "head_dim = 5");
  text.replace(text.find("d_ff = 12"), 9, "d_ff = -1");
  CHECK(problems_of_models(text + "learned_positions = 4\nsource_length = 7\n") ==
        "mine.toml:7: mine.kv_heads: is 3 (must divide heads, 4)\n"
        "mine.toml:8: mine.head_dim: is 5 (rotary positions turn pairs, it must be even)\n"
        "mine.toml:9: mine.d_ff: is -1 (must be 1 to 10000000)\n"
        "mine.toml:15: mine.learned_positions: is 4 (only with positions = \"learned\")\n"
        "mine.toml:16: mine.source_length: is 7 (only with architecture = \"encoder_decoder\")");
}

TEST_CASE("what is not supported is named as such") {
  CHECK(problems_of_models(sound + "quantization = \"fp8\"\nexperts = 8\ntensor_parallel = 2\n") ==
        "mine.toml:15: mine.quantization: not supported (quantised weights are not measured)\n"
        "mine.toml:16: mine.experts: not supported (mixtures of experts are not measured)\n"
        "mine.toml:17: mine.tensor_parallel: not supported (tensor parallelism is not measured)");
}

TEST_CASE("a shape is checked wherever it comes from") {
  ModelShape shape = tests::tiny_encoder_decoder();
  CHECK_NOTHROW(check_shape(shape));
  shape.encoder_layers = 0;
  shape.layers = 0;
  CHECK_THROWS_WITH(check_shape(shape),
                    "tiny encoder_decoder: layers is 0 (must be 1 to 10000000)\n"
                    "tiny encoder_decoder: encoder_layers is 0 (an encoder_decoder has an encoder)");
}

TEST_CASE("the shipped models are sound, have unique names and stand in order") {
  std::string last;
  for (const ModelShape& shape : model_registry()) {
    INFO(shape.name);
    CHECK(last < shape.name);
    CHECK(shape_problems(shape).empty());
    last = shape.name;
  }
  CHECK(model_registry().size() == 29);
}

TEST_CASE("an unknown model is answered with the nearest one") {
  CHECK(find_model(model_registry(), "t5-xxl").layers == 24);
  CHECK_THROWS_WITH(find_model(model_registry(), "t5-xll"), "unknown model \"t5-xll\" - did you mean t5-xxl?");
}

TEST_CASE("a file that is not there is an error that names it") {
  CHECK_THROWS_WITH(read_models("no/such/file.toml"), "no/such/file.toml: cannot be read (No such file or directory)");
}

}  // namespace foredraft::latency
