// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/step_operations.hpp"
#include "latency/operations/model_bytes.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <limits>
#include <map>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/forward_passes.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::latency {
namespace {

using foredraft::tests::few_ulp;

struct Sum {
  double operators = 0.0, bytes = 0.0, flop = 0.0;
  bool operator==(const Sum&) const = default;
};

std::map<OperatorKind, Sum> sums_by_kind(const std::vector<StepOperator>& operators) {
  std::map<OperatorKind, Sum> sums;
  for (const StepOperator& one : operators) {
    Sum& sum = sums[one.kind];
    sum.operators += one.count;
    sum.bytes += one.count * one.bytes;
    sum.flop += one.count * one.flop;
  }
  return sums;
}

std::map<OperatorKind, Sum> sums_by_kind(const Program& program, DataType type) {
  std::map<OperatorKind, Sum> sums;
  for (const Operation& operation : program.operations) {
    const OperatorKind kind = std::holds_alternative<Project>(operation)  ? OperatorKind::product
                              : std::holds_alternative<Attend>(operation) ? OperatorKind::attention
                                                                          : OperatorKind::other;
    const Work work = work_of(operation, type);
    Sum& sum = sums[kind];
    sum.operators += 1.0;
    sum.bytes += work.read_bytes + work.written_bytes;
    sum.flop += work.flop;
  }
  return sums;
}

std::vector<StepOperator> step_operations(const ModelShape& shape, const Deployment& deployment,
                                          const ForwardPassPoint& point) {
  return ForwardPassOperations(shape, Role::decoder_pass, deployment).operators(point);
}

/// The operator with this name; all zeros if there is none.
StepOperator named(const std::vector<StepOperator>& operators, std::string_view name) {
  for (const StepOperator& one : operators) {
    if (one.name == name) return one;
  }
  return {.name = name, .count = 0.0};
}

/// tests::tiny_decoder with four experts of width 6, two a token, and one shared of 5; its first layer is dense.
ModelShape tiny_mixture() {
  ModelShape shape = tests::tiny_decoder();
  shape.experts = {.count = 4, .per_token = 2, .d_ff = 6, .shared_d_ff = 5, .dense_layers = 1};
  return shape;
}

/// DeepSeek-V3's attention: 61 layers, 128 heads, 512 + 64 values per token. [DeepSeek2024]
ModelShape latent_shape() {
  ModelShape shape = tests::tiny_decoder();
  shape.layers = 61;
  shape.d_model = 7168;
  shape.heads = 128;
  shape.kv_heads = 128;
  shape.head_dim = 192;
  shape.latent = {.kv_rank = 512, .query_rank = 1536, .rope_dim = 64, .nope_dim = 128, .value_dim = 128};
  return shape;
}

}  // namespace

TEST_CASE("the operators of every shipped decoder and head add up to the counts of its program") {
  int models = 0;
  for (const ModelShape& shape : model_registry()) {
    if (shape.architecture == Architecture::encoder_decoder || why_not_runnable(shape)) continue;
    ++models;
    for (const auto& [type, format] :
         {std::pair{DataType::fp16, NumberFormat::fp16}, {DataType::fp32, NumberFormat::fp32}}) {
      for (const ForwardPassPoint& point :
           {ForwardPassPoint{1, 1, 0}, {1, 5, 513}, {8, 1, 513}, {8, 5, 0}, {8, 5, 513}}) {
        const Program program =
            decoder_pass(shape, {.tokens = point.tokens, .batch = point.batch, .context = point.context});
        const Deployment deployment{.weights = format, .kv_cache = format};
        INFO(shape.name << " batch " << point.batch << " tokens " << point.tokens << " context " << point.context);
        CHECK(sums_by_kind(step_operations(shape, deployment, point)) == sums_by_kind(program, type));
      }
    }
  }
  CHECK(models >= 20);
}

TEST_CASE("the operators of every kind of pass add up to the counts of its program") {
  const auto check = [](const ModelShape& shape, Role role, const ForwardPassPoint& point) {
    CAPTURE(shape.name, to_string(role), point.batch, point.tokens, point.context);
    const Program program = program_of(shape, {.model = shape.name,
                                               .role = role,
                                               .dtype = "bf16",
                                               .batch = point.batch,
                                               .tokens = point.tokens,
                                               .context = point.context});
    const ForwardPassOperations operations(shape, role, {});
    std::vector<StepOperator> operators;
    for (std::int64_t pass = 0; pass < operations.passes(point); ++pass) {
      const auto one = operations.operators(point, pass);
      operators.insert(operators.end(), one.begin(), one.end());
    }
    // Whole numbers below 2^53: exactly equal.
    CHECK(sums_by_kind(operators) == sums_by_kind(program, DataType::bf16));
    double inputs = 0.0, expected_inputs = 0.0;
    for (const StepOperator& one : operators) inputs += one.count * one.inputs;
    for (const Operation& operation : program.operations) {
      if (const auto* product = std::get_if<Project>(&operation)) {
        expected_inputs += static_cast<double>(product->inputs);
      }
    }
    CHECK(inputs == expected_inputs);
  };
  for (const ForwardPassPoint& point :
       {ForwardPassPoint{1, 1, 0}, ForwardPassPoint{3, 5, 7}, ForwardPassPoint{2, 4, 1}, ForwardPassPoint{64, 2, 9}}) {
    for (const Role role : {Role::decoder_pass, Role::autoregressive_drafting, Role::block_drafting}) {
      check(tests::tiny_decoder(), role, point);
      check(tests::tiny_normed_decoder(), role, point);
      check(tests::tiny_encoder_decoder(), role, point);
      check(tests::tiny_head(), role, point);
    }
    check(tests::tiny_decoder(), Role::head_drafting, point);
    check(tests::tiny_encoder_decoder(), Role::head_drafting, point);
    check(tests::tiny_encoder_decoder(), Role::encoder_pass, point);
  }
  int shapes = 0;
  for (const ModelShape& shape : model_registry()) {
    if (why_not_runnable(shape)) continue;
    ++shapes;
    for (const Role role : {Role::decoder_pass, Role::autoregressive_drafting, Role::block_drafting}) {
      check(shape, role, {8, 4, 100});
    }
    if (shape.architecture == Architecture::encoder_decoder) check(shape, Role::encoder_pass, {8, 0, 0});
    if (shape.architecture == Architecture::decoder) check(shape, Role::head_drafting, {8, 4, 100});
  }
  CHECK(shapes >= 20);
}

TEST_CASE("rows of products are new tokens, or sequences when tokens are drafted one by one") {
  const ForwardPassPoint point{4, 6, 10};
  const auto operations = [](Role role) { return ForwardPassOperations(tests::tiny_decoder(), role, {}); };
  CHECK(operations(Role::decoder_pass).rows(point) == 24.0);
  CHECK(operations(Role::block_drafting).rows(point) == 24.0);
  CHECK(operations(Role::autoregressive_drafting).rows(point) == 4.0);
  CHECK(operations(Role::autoregressive_drafting).passes(point) == 6);
  CHECK(operations(Role::block_drafting).passes(point) == 1);
  // Attention's output: 8 x 8 weights, 8 in, 8 out; gate and input: 24 x 8, 8 in, 24 out. Two bytes each.
  CHECK(operations(Role::decoder_pass).product_bytes().low == 2.0 * (64 + 8 + 8));
  CHECK(operations(Role::decoder_pass).product_bytes().high == 2.0 * (192 + 8 + 24));
}

TEST_CASE("block and head drafting have operators in every format, with windows, mixtures and on several devices") {
  const ForwardPassPoint point{2, 4, 7};
  const auto of = [&](const ModelShape& shape, Role role, const Deployment& deployment) {
    return ForwardPassOperations(shape, role, deployment).operators(point);
  };
  const auto block = of(tiny_mixture(), Role::block_drafting, {.weights = NumberFormat::int4});
  // Four queries see all 11 positions, in a pass of a decoder 8 to 11 of them.
  CHECK(named(block, "attention").flop == 4.0 * 2 * 4 * 11 * 4 * 2);
  CHECK(named(of(tiny_mixture(), Role::decoder_pass, {.weights = NumberFormat::int4}), "attention").flop ==
        4.0 * 2 * (8 + 9 + 10 + 11) * 4 * 2);
  CHECK(named(block, "choose token").bytes == 2 * 4 * (2.0 * 10 + 4));
  CHECK(named(block, "experts down").count == 1.0);
  ModelShape windowed = tests::tiny_decoder();
  windowed.window = {.tokens = 3, .layers = 1};
  // A query sees the last 3 positions up to its own and the tokens of the block after it.
  CHECK(named(of(windowed, Role::block_drafting, {}), "attention in window").flop ==
        4.0 * 2 * (4 * 3 + 3 + 2 + 1) * 4 * 2);
  const auto split = of(tests::tiny_decoder(), Role::head_drafting, {.tensor_parallel = 2});
  const auto whole = of(tests::tiny_decoder(), Role::head_drafting, {});
  CHECK(named(whole, "head").count == 4.0);
  CHECK(named(split, "head").bytes == named(whole, "head").bytes);
  CHECK(named(split, "vocabulary").flop == named(whole, "vocabulary").flop / 2);
  CHECK(named(split, "gather logits").bytes == 2.0 * 2 * 10);
}

TEST_CASE("a head fills a block in one pass: verified tokens as keys and values, logits of its drafts") {
  ModelShape shape = tests::tiny_head();
  shape.head = {.hidden_states = 3, .block_size = 8};
  const auto block = [&shape](const ForwardPassPoint& point, const Deployment& deployment = {}) {
    return ForwardPassOperations(shape, Role::block_drafting, deployment).operators(point);
  };
  // Four drafts of two sequences: five verified tokens of 3 x 8 values each, five queries after ten positions.
  const auto four = block({2, 4, 10});
  CHECK(named(four, "input from hidden states").flop == 2.0 * 2 * 5 * 24 * 8);
  CHECK(named(four, "keys and values of hidden states").flop == 2.0 * 2 * 5 * 8 * 8);
  CHECK(named(four, "qkv").flop == 2.0 * 2 * 5 * 8 * 16);
  CHECK(named(four, "attention").flop == 4.0 * 2 * 5 * 15 * 4 * 2);
  CHECK(named(four, "vocabulary").flop == 2.0 * 2 * 4 * 8 * 10);
  CHECK(named(four, "choose token").bytes == 2 * 4 * (2.0 * 10 + 4));
  CHECK(named(four, "vocabulary").part == StepPart::vocabulary);
  CHECK(named(four, "input from hidden states").part == StepPart::inputs);
  CHECK(named(four, "qkv").part == StepPart::layers);
  CHECK(named(block({2, 4, 10}, {.weights = NumberFormat::int4, .tensor_parallel = 2}), "qkv").flop ==
        named(four, "qkv").flop / 2);
  CHECK_NOTHROW(block({1, 7, 0}));
  CHECK_THROWS_MATCHES(block({1, 8, 0}), DomainError, Says("drafts at most 7 tokens, not 8"));

  // If the position of the known token also drafts, there is one query fewer; corrections are read for each draft.
  shape.head.anchor_drafts = true;
  shape.head.correction_parameters = 30;
  CHECK(named(block({2, 4, 10}), "qkv").flop == 2.0 * 2 * 4 * 8 * 16);
  CHECK(named(block({2, 4, 10}), "correction of logits").count == 4.0);
  CHECK(named(block({2, 4, 10}), "correction of logits").bytes == 2.0 * 30 + 2.0 * 2 * 10 * 2);
  CHECK(named(block({2, 4, 10}), "choose token").count == 4.0);
  CHECK_NOTHROW(block({1, 8, 0}));

  // Prompts: only keys and values.
  const auto prompt = ForwardPassOperations(shape, Role::decoder_pass, {}).operators({1, 100, 0});
  CHECK(named(prompt, "keys and values of hidden states").flop == 2.0 * 100 * 8 * 8);
  CHECK(named(prompt, "vocabulary").count == 0.0);

  // P-EAGLE: five verified tokens and three masks through all layers, of which the first is wide.
  shape.head = {.wide_attention = true, .block_size = 8, .anchor_drafts = true};
  shape.layers = 2;
  CHECK(named(block({2, 4, 10}), "qkv").flop == 2.0 * 2 * 8 * 16 * 16);
  CHECK(named(block({2, 4, 10}), "down").flop == 2.0 * 2 * 8 * 12 * 8);
}

TEST_CASE("learned positions, layer norms and biases count as in the program") {
  ModelShape shape = tests::tiny_encoder_decoder();
  shape.architecture = Architecture::decoder;
  shape.encoder_layers = 0;
  shape.source_length = 0;
  for (const Positions positions : {Positions::learned, Positions::sinusoidal}) {
    shape.positions = positions;
    shape.learned_positions = positions == Positions::learned ? 16 : 0;
    const Program program = decoder_pass(shape, {.tokens = 3, .batch = 2, .context = 4});
    CHECK(sums_by_kind(step_operations(shape, {}, {2, 3, 4})) == sums_by_kind(program, DataType::bf16));
  }
}

TEST_CASE("weights as stored are the parameters, and those of a step are the ones that a program reads") {
  const Deployment fp16{.weights = NumberFormat::fp16};
  for (const ModelShape& shape : model_registry()) {
    if (shape.architecture == Architecture::encoder_decoder) continue;
    INFO(shape.name);
    // Weights that mix residual streams stay in fp32: of 2 blocks per layer.
    const auto streams = static_cast<double>(shape.residual_streams);
    const double mixing =
        streams == 1.0 ? 0.0
                       : 2.0 * static_cast<double>(shape.layers * shape.d_model) * streams * streams * (streams + 2.0);
    CHECK(weight_bytes(shape, fp16) == 2.0 * (parameters(shape) + mixing));
    CHECK(step_bytes(shape, fp16) == 2 * (step_parameters(shape) + mixing));
  }
  // 32 layers of 218,103,808 matrix elements in 4.125 bits; 65 norms of 4096 and both tables in 16.
  const ModelShape& llama = find_model(model_registry(), "llama-3.1-8b");
  const double matrices = 32.0 * 218'103'808, rest = 65.0 * 4096 + 2.0 * 128256 * 4096;
  CHECK(weight_bytes(llama, {.weights = NumberFormat::int4}) == matrices * 4.125 / 8 + rest * 2);
  CHECK(weight_bytes(llama, {.weights = NumberFormat::fp8}) == matrices + rest * 2);
}

TEST_CASE("experts read: those of a token at one row or when all share them, eventually all of them") {
  for (const Experts& experts :
       {Experts{.count = 8, .per_token = 2}, {.count = 256, .per_token = 8}, {.count = 4, .per_token = 4}}) {
    const auto count = static_cast<double>(experts.count), used = static_cast<double>(experts.per_token);
    for (const double skew : {0.0, 0.25, 1.0}) {
      CHECK(experts_read(experts, 1.0, skew) == used);
      CHECK(experts_read(experts, std::numeric_limits<double>::infinity(), skew) ==
            used + (1.0 - skew) * (count - used));
      for (double rows = 1.0; rows < 200.0; rows += 1.0) {
        const double one = experts_read(experts, rows, skew), next = experts_read(experts, rows + 1.0, skew);
        CHECK(one <= next);
        CHECK(next <= count);
      }
    }
    CHECK(experts_read(experts, 1000.0, 1.0) == used);
  }
  // Two tokens that draw 2 of 8 experts each: for the second, 6 of 8 are not yet read.
  CHECK(experts_read({.count = 8, .per_token = 2}, 2.0, 0.0) == Approx(2 + 2 * 6 / 8.0).epsilon(few_ulp));
  CHECK_THROWS_AS(experts_read({.count = 8, .per_token = 2}, 0.5, 0.0), DomainError);
  CHECK_THROWS_AS(experts_read({.count = 8, .per_token = 2}, 2.0, 1.5), DomainError);
}

TEST_CASE("a mixture of experts, counted by hand") {
  const ModelShape shape = tiny_mixture();
  const Deployment fp16{.weights = NumberFormat::fp16};
  // One layer: router 8 x 4, four experts 8 x 12 and 6 x 8, shared 8 x 10 and 5 x 8.
  const double dense = weight_bytes(tests::tiny_decoder(), fp16) - 2.0 * (8 * 24 + 12 * 8);
  CHECK(weight_bytes(shape, fp16) == dense + 2.0 * (32 + 4 * (96 + 48) + 80 + 40));
  CHECK(step_bytes(shape, fp16) ==
        step_bytes(tests::tiny_decoder(), fp16) - 2.0 * (8 * 24 + 12 * 8) + 2.0 * (32 + 2 * (96 + 48) + 80 + 40));
  const auto operators = step_operations(shape, fp16, {.batch = 3, .tokens = 1, .context = 0});
  const double read = experts_read(shape.experts, 3.0, 0.0);
  CHECK(read > 2.0);
  CHECK(named(operators, "experts gate and up").bytes == Approx(2.0 * (read * 96 + 3 * (8 + 2 * 12))).epsilon(few_ulp));
  CHECK(named(operators, "experts gate and up").flop == 2.0 * 3 * 2 * 96);
  CHECK(named(operators, "experts down").bytes == Approx(2.0 * (read * 48 + 3 * 2 * (6 + 8))).epsilon(few_ulp));
  CHECK(named(operators, "shared experts down").flop == 2.0 * 3 * 40);
  CHECK(named(operators, "gate and up").count == 1.0);
  // If all tokens share experts, they read no more than one token.
  const auto shared = step_operations(shape, {.weights = NumberFormat::fp16, .expert_skew = 1.0}, {3, 1, 0});
  CHECK(named(shared, "experts down").bytes == 2.0 * (2 * 48 + 3 * 2 * (6 + 8)));
}

TEST_CASE("weights of GGUF types are multiplied on vector units up to 8 tokens") {
  const ModelShape shape = tiny_mixture();
  Deployment deployment;
  deployment.weights.set(ModelPart::experts, weight_format(NumberFormat::q4_k));
  const auto operators = [&](const ForwardPassPoint& point) { return step_operations(shape, deployment, point); };
  const StepOperator few = named(operators({.batch = 2, .tokens = 4}), "experts down");
  CHECK(few.vector_flop == few.flop);
  CHECK(named(operators({.batch = 3, .tokens = 3}), "experts down").vector_flop == Approx(few.flop).epsilon(few_ulp));
  CHECK(named(operators({.batch = 2, .tokens = 4}), "qkv").vector_flop == 0.0);
}

TEST_CASE("attention counts the KV-cache bytes that each query reads by itself") {
  const ModelShape shape = tests::tiny_decoder();
  const auto attention = [&](const ForwardPassPoint& point) {
    return named(step_operations(shape, {.kv_cache = NumberFormat::fp8}, point), "attention");
  };
  CHECK(attention({.batch = 2, .tokens = 1, .context = 5}).reread_bytes == 0.0);
  // 3 queries after 5 entries see 6, 7 and 8 of 8: 13 more than are read once.
  const double entry = kv_bytes_per_token(shape, {.kv_cache = NumberFormat::fp8}) / static_cast<double>(shape.layers);
  CHECK(attention({.batch = 2, .tokens = 3, .context = 5}).reread_bytes == 2.0 * 13.0 * entry);
}

TEST_CASE("a tensor-parallel pass halves the sharded parts and nothing else") {
  const ModelShape shape = tiny_mixture();
  const ForwardPassPoint point{.batch = 3, .tokens = 2, .context = 9};
  const Deployment one_device{}, two_devices{.tensor_parallel = 2};
  const auto whole = step_operations(shape, one_device, point), half = step_operations(shape, two_devices, point);
  for (const std::string_view name : {"qkv", "attention", "attention output", "gate and up", "down",
                                      "experts gate and up", "experts down", "shared experts down", "vocabulary"}) {
    INFO(name);
    CHECK(named(half, name).flop == named(whole, name).flop / 2);
    CHECK(named(half, name).bytes < named(whole, name).bytes);
  }
  CHECK(named(half, "attention").bytes == named(whole, "attention").bytes / 2);
  for (const std::string_view name : {"first norm", "norm", "router", "final norm"}) {
    INFO(name);
    CHECK(named(half, name).flop == named(whole, name).flop);
    CHECK(named(half, name).bytes == named(whole, name).bytes);
  }
  // Two a layer, each over 6 rows of 8 values; logits of 10 once.
  CHECK(named(half, "all-reduce").count == 4.0);
  CHECK(named(half, "all-reduce").bytes == 2.0 * 6 * 8);
  CHECK(named(half, "gather logits").count == 1.0);
  CHECK(named(half, "gather logits").bytes == 2.0 * 6 * 10);
  CHECK(named(whole, "all-reduce").count == 0.0);
  CHECK(named(whole, "gather logits").count == 0.0);
  // All weights except norms and router are halved.
  const double copied = 2.0 * (5 * 8 + 32);
  CHECK(weight_bytes_per_device(shape, two_devices) == (weight_bytes(shape, one_device) - copied) / 2 + copied);
  CHECK(weight_bytes(shape, two_devices) == weight_bytes(shape, one_device));
}

TEST_CASE("each device has at least one key-value head") {
  ModelShape shape = tests::tiny_decoder();  // 4 heads, 2 of keys and values, of width 2
  const ForwardPassPoint point{.batch = 3, .tokens = 1, .context = 9};
  const auto cache_read = [&](std::int64_t devices) {
    const Deployment deployment{.tensor_parallel = devices};
    const double queries_and_results = 2.0 * 3 * 2 * (4.0 / static_cast<double>(devices)) * 2;
    return named(step_operations(shape, deployment, point), "attention").bytes - queries_and_results;
  };
  CHECK(cache_read(1) == 2.0 * 3 * 10 * 2 * 2 * 2);
  CHECK(cache_read(2) == cache_read(1) / 2);
  CHECK(cache_read(4) == cache_read(2));
  CHECK(sequence_bytes_per_device(shape, {}, 10) == 10 * kv_bytes_per_token(shape, {}));
  CHECK(sequence_bytes_per_device(shape, {.tensor_parallel = 2}, 10) == 5 * kv_bytes_per_token(shape, {}));
  CHECK(sequence_bytes_per_device(shape, {.tensor_parallel = 4}, 10) == 5 * kv_bytes_per_token(shape, {}));
}

TEST_CASE("the KV cache of a token has the published size") {
  const ModelShape& llama = find_model(model_registry(), "llama-3.1-8b");
  CHECK(kv_bytes_per_token(llama, {}) == 131072);
  CHECK(kv_bytes_per_token(llama, {.kv_cache = NumberFormat::fp8}) == 65536);
  CHECK(kv_bytes_per_token(llama, {.tensor_parallel = 16}) == 131072);
  CHECK(kv_bytes_per_token(latent_shape(), {}) == 70272);
  CHECK(sequence_bytes_per_device(latent_shape(), {.tensor_parallel = 8}, 1) == 70272);
}

TEST_CASE("latent attention in its absorbed form, counted by hand") {
  const ModelShape shape = latent_shape();
  const auto operators =
      step_operations(shape, {.weights = NumberFormat::fp8}, {.batch = 2, .tokens = 1, .context = 99});
  CHECK(named(operators, "attention").count == 61.0);
  // 128 heads, each a query of 576 values over 100 entries of 576, results of 512.
  CHECK(named(operators, "attention").bytes == 2.0 * 2 * 128 * (576 + 512) + 2.0 * 2 * 100 * 576);
  CHECK(named(operators, "attention").flop == 2.0 * 2 * 100 * 128 * (576 + 512));
  CHECK(named(operators, "query into latent").flop == 2.0 * 2 * 128 * 128 * 512);
  CHECK(named(operators, "query up").compute == NumberFormat::fp8);
  // Down to 1536 + 576, up to 128 heads of 192, key and value matrices of each head from 512 to 128 + 128, back to
  // 7168.
  const double matrices = 7168.0 * (1536 + 576) + 1536.0 * 128 * 192 + 512.0 * 128 * 256 + 128.0 * 128 * 7168;
  double read = 0.0;
  for (const std::string_view name :
       {"query and latent down", "query up", "query into latent", "value from latent", "attention output"}) {
    const StepOperator one = named(operators, name);
    const StepOperator two =
        named(step_operations(shape, {.weights = NumberFormat::fp8}, {.batch = 4, .tokens = 1, .context = 99}), name);
    read += 2.0 * one.bytes - two.bytes;  // the part that does not grow with rows
  }
  CHECK(read == matrices);
}

TEST_CASE("a window bounds what its layers read, cache and attend to") {
  ModelShape shape = tests::tiny_decoder();
  shape.window = {.tokens = 4, .layers = 1};
  const auto seen = [&](std::int64_t tokens, std::int64_t context) {
    const auto operators = step_operations(shape, {}, {.batch = 1, .tokens = tokens, .context = context});
    CHECK(named(operators, "attention").count == 1.0);
    // 4 heads of 2: 16 flop per position and query.
    return named(operators, "attention in window").flop / (4.0 * 4 * 2);
  };
  CHECK(seen(1, 0) == 1);
  CHECK(seen(1, 3) == 4);
  CHECK(seen(1, 9) == 4);
  CHECK(seen(3, 2) == 3 + 4 + 4);
  CHECK(seen(6, 0) == 1 + 2 + 3 + 4 + 4 + 4);
  CHECK(seen(3, 9) == 12);
  const auto entries = [&](std::int64_t tokens, std::int64_t context) {
    const StepOperator one =
        named(step_operations(shape, {}, {.batch = 1, .tokens = tokens, .context = context}), "attention in window");
    return (one.bytes - 2.0 * static_cast<double>(tokens) * 4 * 2 * 2) / (2.0 * 2 * 2 * 2);
  };
  CHECK(entries(1, 2) == 3);
  CHECK(entries(1, 9) == 4);
  CHECK(entries(3, 9) == 6);
  CHECK(kv_bytes_per_token(shape, {}) == 2.0 * 2 * 2 * 2);
  CHECK(sequence_bytes_per_device(shape, {}, 10) == (10 + 4) * 2.0 * 2 * 2 * 2);
}

TEST_CASE("layers with a window may have heads of their own, others use keys as values, and all may have a gate") {
  ModelShape shape = tests::tiny_decoder();
  shape.window = {.tokens = 4, .layers = 1, .kv_heads = 4, .head_dim = 4};
  shape.values_are_keys = true;
  shape.attention_gate = true;
  const auto operators = step_operations(shape, {}, {.batch = 1, .tokens = 1, .context = 9});
  // Queries, gate and keys of the full layer; queries, gate, keys and values of the other, from 8 inputs.
  std::vector<double> projections;
  for (const StepOperator& one : operators) {
    if (one.name == "qkv") projections.push_back(one.flop);
  }
  CHECK(projections == std::vector<double>{2.0 * 8 * (8 + 8 + 4), 2.0 * 8 * (16 + 16 + 16 + 16)});
  CHECK(named(operators, "attention").flop == 4.0 * 10 * 4 * 2);
  CHECK(named(operators, "attention in window").flop == 4.0 * 4 * 4 * 4);
  CHECK(named(operators, "attention gate").bytes == 2.0 * 3 * 8);
  // Values are cached beside the keys that they equal.
  CHECK(kv_bytes_per_token(shape, {}) == 2.0 * 2 * 2 * 2);
  CHECK(sequence_bytes_per_device(shape, {.tensor_parallel = 4}, 10) == 2.0 * (10 * 2 * 2 + 4 * 2 * 4));
  const double gates = 8 * 8 + 8 * 16;
  const double heads = 8 * (16 + 2 * 16) + 16 * 8 - (8 * 16 + 8 * 8);
  CHECK(weight_bytes(shape, {}) == weight_bytes(tests::tiny_decoder(), {}) + 2.0 * (gates + heads - 4 * 8));
}

TEST_CASE("linear attention moves its state, once more for each token in a verification") {
  ModelShape shape = tests::tiny_decoder();
  shape.layers = 4;
  shape.linear = {.layers = 3, .layer_parameters = 100, .state_elements = 50};
  const auto operators = step_operations(shape, {}, {.batch = 2, .tokens = 3, .context = 7});
  CHECK(named(operators, "linear attention").count == 3.0);
  CHECK(named(operators, "linear attention").bytes == 4.0 * 50 * (2 + 6));
  CHECK(named(operators, "linear attention projections").bytes == 2.0 * (100 + 2 * 6 * 8));
  CHECK(named(operators, "linear attention projections").flop == 2.0 * 6 * 100);
  CHECK(named(operators, "attention").count == 1.0);
  CHECK(named(operators, "gate and up").count == 4.0);
  CHECK(named(operators, "norm").count == 7.0);
  CHECK(rollback_bytes(shape, 1) == 0.0);
  CHECK(rollback_bytes(shape, 4) == 3 * 3 * 50 * 4.0);
  CHECK(rollback_bytes(tests::tiny_decoder(), 4) == 0.0);
  CHECK(sequence_bytes_per_device(shape, {.tensor_parallel = 2}, 10) == 10 * 2.0 * 2 * 2 + 3 * 50 * 4.0 / 2);
}

TEST_CASE("an EAGLE-3 head reads the weights of its checkpoint") {
  ModelShape head = find_model(model_registry(), "eagle-llama-3.1-8b");
  head.head = {.hidden_states = 3, .wide_attention = true, .draft_vocabulary = 32000, .own_vocabulary = true};
  const auto operators = step_operations(head, {}, {});
  CHECK(named(operators, "input from hidden states").flop == 2.0 * 3 * 4096 * 4096);
  CHECK(named(operators, "qkv").flop == 2.0 * 8192 * (4096 + 2 * 1024));
  CHECK(named(operators, "vocabulary").flop == 2.0 * 32000 * 4096);
  // The matrices of its layer, 3 x 4096 x 4096, the projection of 32,000 tokens, four norms.
  const double matrices = 3.0 * 4096 * 4096 + 8192.0 * 6144 + 4096.0 * 4096 + 3.0 * 4096 * 14336 + 32000.0 * 4096;
  CHECK(weight_bytes(head, {}) == 2.0 * (matrices + 4 * 4096));
  const ForwardPassOperations drafting(head, Role::autoregressive_drafting, {});
  const auto first = drafting.operators({.tokens = 2}, 0), second = drafting.operators({.tokens = 2}, 1);
  CHECK(first.size() == operators.size() + 1);
  CHECK(second.size() == operators.size());
  CHECK(named(first, "input from hidden states").count == 1.0);
  CHECK(named(second, "input from hidden states").count == 0.0);
  CHECK(named(second, "choose token").bytes == 2.0 * 32000 + 4);
}

TEST_CASE("formats: what is quantized, what computes in what, and the words of checkpoints") {
  const ModelShape shape = tiny_mixture();
  for (const auto& [weights, matrices, rest] : {std::array{NumberFormat::fp8, NumberFormat::fp8, NumberFormat::bf16},
                                                {NumberFormat::int4, NumberFormat::bf16, NumberFormat::bf16},
                                                {NumberFormat::nvfp4, NumberFormat::nvfp4, NumberFormat::bf16},
                                                {NumberFormat::mxfp4, NumberFormat::bf16, NumberFormat::bf16},
                                                {NumberFormat::fp32, NumberFormat::fp32, NumberFormat::fp32},
                                                {NumberFormat::fp16, NumberFormat::fp16, NumberFormat::fp16}}) {
    const auto operators = step_operations(shape, {.weights = weights}, {});
    CHECK(named(operators, "experts down").compute == matrices);
    CHECK(named(operators, "qkv").compute == matrices);
    CHECK(named(operators, "vocabulary").compute == rest);
    CHECK(named(operators, "router").compute == rest);
    CHECK(named(operators, "attention").compute == rest);
  }
  for (const NumberFormat format : number_formats()) CHECK(number_format(to_string(format)) == format);
  CHECK(number_format("AWQ") == NumberFormat::int4);
  CHECK(number_format("Half") == NumberFormat::fp16);
  CHECK(number_format("bfloat16") == NumberFormat::bf16);
  CHECK_FALSE(number_format("fp7"));
  CHECK(bits_of(NumberFormat::int4) == 4.125);
  CHECK(bits_of(NumberFormat::nvfp4) == 4.5);
  CHECK(bits_of(NumberFormat::mxfp4) == 4.25);
}

TEST_CASE("passes that do not exist are errors that say why") {
  const ModelShape shape = tests::tiny_decoder();
  CHECK_THROWS_MATCHES(step_operations(shape, {.tensor_parallel = 3}, {}), DomainError,
                       Says("invalid tensor_parallel=3"));
  CHECK_THROWS_AS(weight_bytes(tests::tiny_encoder_decoder(), {}), DomainError);
  CHECK_THROWS_AS(step_operations(shape, {.tensor_parallel = 0}, {}), DomainError);
  CHECK_THROWS_AS(step_operations(shape, {.expert_skew = 1.5}, {}), DomainError);
  for (const ForwardPassPoint& point : {ForwardPassPoint{0, 1, 0}, {1, 0, 0}, {1, 1, -1}}) {
    CHECK_THROWS_AS(step_operations(shape, {}, point), DomainError);
  }
  ModelShape short_context = shape;
  short_context.max_context = 10;
  CHECK(step_operations(short_context, {}, {1, 3, 7}).size() == step_operations(shape, {}, {1, 3, 7}).size());
  CHECK_THROWS_MATCHES(step_operations(short_context, {}, {1, 3, 8}), DomainError, Says("context 8"));
  const auto operators = [](const ModelShape& of, Role role, const ForwardPassPoint& point, std::int64_t pass = 0) {
    return ForwardPassOperations(of, role, {}).operators(point, pass);
  };
  const ModelShape learned = tests::tiny_encoder_decoder();
  CHECK_NOTHROW(operators(learned, Role::decoder_pass, {1, 4, 12}));
  CHECK_THROWS_AS(operators(learned, Role::decoder_pass, {1, 5, 12}), DomainError);
  CHECK_NOTHROW(operators(learned, Role::encoder_pass, {1, 0, 99}));
  for (const Role role : {Role::decoder_pass, Role::autoregressive_drafting, Role::block_drafting}) {
    CHECK_THROWS_AS(operators(short_context, role, {1, 3, 8}), DomainError);
    CHECK_THROWS_AS(operators(shape, role, {0, 1, 0}), DomainError);
    CHECK_THROWS_AS(operators(shape, role, {1, 0, 0}), DomainError);
    CHECK_THROWS_AS(operators(shape, role, {1, 1, -1}), DomainError);
    CHECK_THROWS_AS(operators(shape, role, {1, 3, 1}, 3), DomainError);
  }
  CHECK_THROWS_AS(operators(shape, Role::encoder_pass, {}), DomainError);
  CHECK_THROWS_AS(ForwardPassOperations(shape, Role::decoder_pass, {}, 5), DomainError);
}

}  // namespace foredraft::latency
