// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/passes.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"

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

TEST_CASE("every pass of every shipped model is a sound program") {
  for (const ModelShape& shape : model_registry()) {
    INFO(shape.name);
    const PassRequest request{.tokens = 1, .batch = 3, .context = 20};
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
    const PassRequest request{.tokens = 1, .batch = 2, .context = 4};
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

TEST_CASE("Medusa heads are gamma blocks and gamma vocabulary projections") {
  const ModelShape shape = tests::tiny_decoder();
  const Program program = head_drafting(shape, {.tokens = 1, .batch = 2, .context = 4}, 3);
  CHECK(number_of<Project>(program) == 6);
  // Block 8 x 8 + 8, gain 8, vocabulary 10 x 8.
  CHECK(elements_of(program, BufferKind::weight) == 3 * (72 + 8 + 80));
}

TEST_CASE("requests that no pass can have are refused") {
  const ModelShape decoder = tests::tiny_decoder();
  CHECK_THROWS_AS(decoder_pass(decoder, {.tokens = 0}), DomainError);
  CHECK_THROWS_AS(decoder_pass(decoder, {.batch = 0}), DomainError);
  CHECK_THROWS_AS(decoder_pass(decoder, {.context = -1}), DomainError);
  CHECK_THROWS_AS(autoregressive_drafting(decoder, {}, 0), DomainError);
  CHECK_THROWS_AS(block_drafting(decoder, {.tokens = 2}, 3), DomainError);
  CHECK_THROWS_WITH(encoder_pass(decoder, {}), "encoder_pass: tiny decoder has no encoder");
  CHECK_THROWS_WITH(decoder_pass(decoder, {.source_length = 3}),
                    "invalid source_length=3 (must be 0: tiny decoder has no encoder)");
  CHECK_THROWS_WITH(decoder_pass(tests::tiny_encoder_decoder(), {.tokens = 4, .context = 13}),
                    "invalid context=13 (must leave room for the pass: 17 positions are needed, tiny encoder_decoder "
                    "has 16)");
  CHECK_NOTHROW(decoder_pass(tests::tiny_encoder_decoder(), {.tokens = 3, .context = 13}));
  ModelShape broken = decoder;
  broken.kv_heads = 3;
  CHECK_THROWS_AS(decoder_pass(broken, {}), DomainError);
}

}  // namespace foredraft::latency
