// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/program.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "latency/operations/counts.hpp"
#include "latency/operations/forward_passes.hpp"
#include "latency/operations/model_bytes.hpp"
#include "latency/operations/reference.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"

namespace foredraft::latency {
namespace {

std::vector<Program> programs_to_take_apart() {
  const ForwardPassRequest one{.tokens = 1, .batch = 2, .context = 3};
  return {decoder_pass(tests::tiny_decoder(), {.tokens = 3, .batch = 2, .context = 4}),
          decoder_pass(tests::tiny_encoder_decoder(), {.tokens = 3, .batch = 2, .context = 4}),
          encoder_pass(tests::tiny_encoder_decoder(), one),
          decoder_pass(tests::tiny_head(), one),
          decoder_pass(tests::tiny_normed_decoder(), one),
          block_drafting(tests::tiny_decoder(), one, 3),
          autoregressive_drafting(tests::tiny_decoder(), one, 2),
          head_drafting(tests::tiny_decoder(), one, 2)};
}

}  // namespace

TEST_CASE("a decoder's layers are one set of operations, each as often as there are layers") {
  const Program program = decoder_pass(tests::tiny_decoder(), {.tokens = 3, .batch = 2, .context = 4});
  std::map<std::string, std::int64_t> counts;
  for (const auto& [operation, count] : distinct_operations(program)) {
    counts[std::string(name_of(operation)) + " " + shape_text(operation)] = count;
  }
  // Two layers: d_model 8, 4 heads and 2 of keys and values of size 2, d_ff 12; norms after the first add to the
  // stream.
  CHECK(counts ==
        std::map<std::string, std::int64_t>{
            {"embed rows 6 width 8 vocabulary 10", 1},
            {"add_normalise rows 6 width 8 rms", 1},
            {"add_normalise rows 6 width 8 rms sum", 4},
            {"project rows 6 outputs 16 inputs 8", 2},
            {"store_keys_values batch 2 tokens 3 context 4 capacity 7 heads 4 kv_heads 2 head_dim 2 rotary", 2},
            {"attend batch 2 tokens 3 length 7 capacity 7 heads 4 kv_heads 2 head_dim 2 stride 16 causal", 2},
            {"project rows 6 outputs 8 inputs 8", 2},
            {"project rows 6 outputs 24 inputs 8", 2},
            {"activate rows 6 width 12 silu gated", 2},
            {"project rows 6 outputs 8 inputs 12", 2},
            {"project rows 6 outputs 10 inputs 8", 1}});
}

TEST_CASE("operations of one shape cost the same, and counts times costs add up to the pass") {
  for (const Program& program : programs_to_take_apart()) {
    std::map<std::pair<std::string_view, std::string>, Work> works;
    for (const Operation& operation : program.operations) {
      const Work work = work_of(operation, DataType::fp16);
      const auto [known, is_new] = works.try_emplace({name_of(operation), shape_text(operation)}, work);
      CAPTURE(name_of(operation), shape_text(operation));
      CHECK(known->second == work);
    }
    Work sum;
    std::size_t operations = 0;
    for (const auto& [operation, count] : distinct_operations(program)) {
      for (std::int64_t i = 0; i < count; ++i) sum += work_of(operation, DataType::fp16);
      operations += static_cast<std::size_t>(count);
    }
    CHECK(sum == work_of(program, DataType::fp16));  // whole numbers: exact
    CHECK(operations == program.operations.size());
  }
}

TEST_CASE("optional operands are part of a shape") {
  std::set<std::string> norms;
  for (const auto& [operation, count] :
       distinct_operations(decoder_pass(tests::tiny_encoder_decoder(), {.tokens = 1, .batch = 1, .context = 4}))) {
    if (std::holds_alternative<Embed>(operation))
      CHECK(shape_text(operation) == "rows 1 width 8 vocabulary 10 positions");
    if (std::holds_alternative<AddNormalise>(operation)) norms.insert(shape_text(operation));
  }
  CHECK(norms == std::set<std::string>{"rows 1 width 8 layer bias", "rows 1 width 8 layer sum bias"});
  Project project{.in = 0, .weight = 1, .bias = 2, .out = 3, .rows = 1, .outputs = 2, .inputs = 3, .accumulate = true};
  CHECK(shape_text(project) == "rows 1 outputs 2 inputs 3 bias sum");
  project.bias = no_buffer;
  project.accumulate = false;
  CHECK(shape_text(project) == "rows 1 outputs 2 inputs 3");
  CHECK(shape_text(NormaliseHeads{0, 1, 2, 6, 4, 2, 2}) == "rows 6 heads 4 kv_heads 2 head_dim 2");
  CHECK(shape_text(PickToken{.logits = 0, .out = 1, .rows = 4, .vocabulary = 10}) == "rows 4 vocabulary 10");
}

TEST_CASE("an operation alone is a valid program over its own buffers, with the same work, and computes numbers") {
  for (const Program& program : programs_to_take_apart()) {
    for (const Operation& operation : program.operations) {
      const Program alone = operation_alone(program, operation);
      CAPTURE(name_of(operation), shape_text(operation));
      REQUIRE(alone.operations.size() == 1);
      CHECK(shape_text(alone.operations.front()) == shape_text(operation));
      CHECK(work_of(alone, DataType::fp16) == work_of(operation, DataType::fp16));
      CHECK(alone.buffers.size() == accesses(operation).size());
      BufferContents contents = initial_contents(alone, DataType::fp16, 1);
      run_reference(alone, contents);
      for (const double value : contents[static_cast<std::size_t>(alone.output)]) CHECK_FALSE(std::isnan(value));
    }
  }
}

TEST_CASE(
    "a pass reads each weight once, only the used rows of an embedding, the filled part of KV caches, and no "
    "activations") {
  const ModelShape shape = tests::tiny_decoder();
  const Program plain = decoder_pass(shape, {.tokens = 1, .batch = 1, .context = 4});
  const double caches = 2.0 * 2 * 2 * (2 * 2) * 5;  // fp16, keys and values, layers, heads times size, 5 positions
  const double embedding_row = 2.0 * 8;
  CHECK(streamed_bytes(plain, DataType::fp16) == 2 * step_parameters(shape) + embedding_row + caches);
  // Drafting 2 tokens reads the same weights twice, and caches that are one entry longer.
  const Program drafting = autoregressive_drafting(shape, {.tokens = 1, .batch = 1, .context = 4}, 2);
  CHECK(streamed_bytes(drafting, DataType::fp16) == streamed_bytes(plain, DataType::fp16) + caches / 5.0);
  const Program norm = operation_alone(plain, plain.operations[1]);
  REQUIRE(std::holds_alternative<AddNormalise>(norm.operations.front()));
  CHECK(streamed_bytes(norm, DataType::fp32) == 4.0 * 8);  // its gain
}

}  // namespace foredraft::latency
