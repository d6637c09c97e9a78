// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/forward_passes.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::latency {
namespace {

double elements_of(const Program& program, BufferKind kind) {
  double elements = 0.0;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind == kind) elements += static_cast<double>(buffer.elements);
  }
  return elements;
}

template <typename Kind>
std::int64_t number_of(const Program& program) {
  return std::count_if(program.operations.begin(), program.operations.end(),
                       [](const Operation& operation) { return std::holds_alternative<Kind>(operation); });
}

}  // namespace

TEST_CASE("every pass of every shipped model that can be run is a valid program") {
  for (const ModelShape& shape : model_registry()) {
    INFO(shape.name);
    if (why_not_runnable(shape)) {
      CHECK_THROWS_AS(decoder_pass(shape, {}), DomainError);
      continue;
    }
    const ForwardPassRequest request{.tokens = 1, .batch = 3, .context = 20};
    CHECK_NOTHROW(decoder_pass(shape, {.tokens = 6, .batch = 3, .context = 20}));
    CHECK_NOTHROW(autoregressive_drafting(shape, request, 4));
    CHECK_NOTHROW(block_drafting(shape, request, 4));
    CHECK_NOTHROW(head_drafting(shape, request, 4));
    if (shape.encoder_layers > 0) CHECK_NOTHROW(encoder_pass(shape, request));
  }
}

TEST_CASE("autoregressive drafting reads the weights of one pass gamma times and holds them once") {
  for (const ModelShape& shape : {tests::tiny_decoder(), tests::tiny_encoder_decoder(), tests::tiny_head()}) {
    INFO(shape.name);
    const ForwardPassRequest request{.tokens = 1, .batch = 2, .context = 4};
    const Program one = autoregressive_drafting(shape, request, 1);
    const Program three = autoregressive_drafting(shape, request, 3);
    CHECK(elements_of(three, BufferKind::weight) == elements_of(one, BufferKind::weight));
    CHECK(number_of<Project>(three) == 3 * number_of<Project>(one));
    CHECK(number_of<PickToken>(three) == 3);
    CHECK(elements_of(three, BufferKind::activation) == elements_of(one, BufferKind::activation));
  }
}

TEST_CASE("context grows by one with each draft") {
  const Program program = autoregressive_drafting(tests::tiny_decoder(), {.tokens = 1, .batch = 2, .context = 4}, 3);
  std::vector<std::int64_t> lengths;
  for (const Operation& operation : program.operations) {
    if (const auto* attend = std::get_if<Attend>(&operation)) lengths.push_back(attend->length);
  }
  CHECK(lengths == std::vector<std::int64_t>{5, 5, 6, 6, 7, 7});
}

TEST_CASE("heads are normalized before they are rotated and stored, with gains of their layer") {
  const Program program = decoder_pass(tests::tiny_normed_decoder(), {.tokens = 3, .batch = 2, .context = 4});
  std::vector<std::string> gains;
  for (std::size_t i = 0; i + 1 < program.operations.size(); ++i) {
    const auto* norm = std::get_if<NormaliseHeads>(&program.operations[i]);
    if (norm == nullptr) continue;
    const auto* store = std::get_if<StoreKeysValues>(&program.operations[i + 1]);
    REQUIRE(store != nullptr);
    CHECK(store->packed == norm->packed);
    CHECK(norm->rows == 6);
    for (const BufferId gain : {norm->query_gain, norm->key_gain}) {
      gains.push_back(program.buffers[static_cast<std::size_t>(gain)].name);
    }
  }
  CHECK(gains == std::vector<std::string>{"layer 0 query norm gain", "layer 0 key norm gain", "layer 1 query norm gain",
                                          "layer 1 key norm gain"});
}

TEST_CASE("Medusa heads are gamma blocks and gamma vocabulary projections") {
  const ModelShape shape = tests::tiny_decoder();
  const Program program = head_drafting(shape, {.tokens = 1, .batch = 2, .context = 4}, 3);
  CHECK(number_of<Project>(program) == 6);
  // Block 8 x 8 + 8, gain 8, vocabulary 10 x 8.
  CHECK(elements_of(program, BufferKind::weight) == 3 * (72 + 8 + 80));
}

TEST_CASE("impossible requests for a pass are rejected") {
  const ModelShape decoder = tests::tiny_decoder();
  CHECK_THROWS_AS(decoder_pass(decoder, {.tokens = 0}), DomainError);
  CHECK_THROWS_AS(decoder_pass(decoder, {.batch = 0}), DomainError);
  CHECK_THROWS_AS(decoder_pass(decoder, {.context = -1}), DomainError);
  CHECK_THROWS_AS(autoregressive_drafting(decoder, {}, 0), DomainError);
  CHECK_THROWS_AS(block_drafting(decoder, {.tokens = 2}, 3), DomainError);
  CHECK_THROWS_MATCHES(encoder_pass(decoder, {}), DomainError, Says("encoder_pass: tiny decoder has no encoder"));
  CHECK_THROWS_MATCHES(decoder_pass(decoder, {.source_length = 3}), DomainError, Says("invalid source_length=3"));
  CHECK_THROWS_MATCHES(decoder_pass(tests::tiny_encoder_decoder(), {.tokens = 4, .context = 13}), DomainError,
                       Says("invalid context=13"));
  CHECK_NOTHROW(decoder_pass(tests::tiny_encoder_decoder(), {.tokens = 3, .context = 13}));
  ModelShape broken = decoder;
  broken.kv_heads = 3;
  CHECK_THROWS_AS(decoder_pass(broken, {}), DomainError);
}

TEST_CASE("shapes whose passes cannot be run are rejected by every pass, with the reason") {
  const auto rejected = [](const ModelShape& shape) {
    CHECK_THROWS_AS(autoregressive_drafting(shape, {}, 2), DomainError);
    CHECK_THROWS_AS(block_drafting(shape, {}, 2), DomainError);
    CHECK_THROWS_AS(head_drafting(shape, {}, 2), DomainError);
    return why_not_runnable(shape).value_or("");
  };
  ModelShape shape = tests::tiny_decoder();
  CHECK_FALSE(why_not_runnable(shape));
  shape.experts = {.count = 4, .per_token = 2, .d_ff = 6};
  CHECK(rejected(shape) == "mixtures of experts are not run");
  CHECK_THROWS_MATCHES(decoder_pass(shape, {}), DomainError, Says("tiny decoder: passes of it cannot be run"));
  shape = tests::tiny_decoder();
  shape.kv_heads = 4;
  shape.head_dim = 6;
  shape.latent = {.kv_rank = 3, .query_rank = 0, .rope_dim = 2, .nope_dim = 4, .value_dim = 7};
  CHECK(rejected(shape) == "latent attention is not run");
  shape = tests::tiny_decoder();
  shape.linear = {.layers = 1, .layer_parameters = 77, .state_elements = 9};
  CHECK(rejected(shape) == "linear attention is not run");
  shape = tests::tiny_decoder();
  shape.query_key_norm = true;
  CHECK_FALSE(why_not_runnable(shape));
  shape.wide_query_key_norm = true;
  CHECK(rejected(shape) == "norms of queries and keys over all heads together are not run");
  shape = tests::tiny_decoder();
  shape.norms_per_layer = 4;
  CHECK(rejected(shape) == "other than two norms per layer are not run");
  shape = tests::tiny_head();
  shape.head = {.hidden_states = 3, .wide_attention = true, .draft_vocabulary = 5, .own_vocabulary = true};
  CHECK(rejected(shape) == "heads with several hidden states or their own vocabulary are not run");
  shape = tests::tiny_decoder();
  shape.feed_forward_layers = 1;
  CHECK(rejected(shape) == "layers without attention or without a feed-forward block are not run");
}

TEST_CASE("a pass that ends within a sliding window is run, a longer one is not") {
  ModelShape shape = tests::tiny_decoder();
  shape.window = {.tokens = 8, .layers = 2};
  CHECK_NOTHROW(decoder_pass(shape, {.tokens = 3, .batch = 1, .context = 5}));
  CHECK_THROWS_MATCHES(decoder_pass(shape, {.tokens = 4, .batch = 1, .context = 5}), DomainError,
                       Says("invalid context=5"));
}

}  // namespace foredraft::latency
