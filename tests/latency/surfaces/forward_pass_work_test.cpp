// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/forward_pass_work.hpp"

#include <catch2/catch.hpp>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/counts.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::latency {
namespace {

void check_same_work(const ModelShape& shape, Role role, const ForwardPassPoint& point) {
  CAPTURE(shape.name, to_string(role), point.batch, point.tokens, point.context);
  const Cell cell{.model = shape.name,
                  .role = role,
                  .dtype = "fp16",
                  .batch = point.batch,
                  .tokens = point.tokens,
                  .context = point.context};
  const Program program = program_of(shape, cell);
  const Work whole = work_of(program, DataType::fp16);
  double bytes = 0.0;
  double flop = 0.0;
  double operations = 0.0;
  double inputs = 0.0;
  ForwardPassWork(shape, role, DataType::fp16, 0).visit(point, [&](const OperationWork& one) {
    operations += one.count;
    bytes += one.count * one.bytes;
    flop += one.count * one.flop;
    inputs += one.count * one.inputs;
  });
  double expected_inputs = 0.0;
  for (const Operation& operation : program.operations) {
    if (const auto* project = std::get_if<Project>(&operation)) expected_inputs += static_cast<double>(project->inputs);
  }
  // Whole numbers below 2^53: exactly equal.
  CHECK(bytes == whole.read_bytes + whole.written_bytes);
  CHECK(flop == whole.flop);
  CHECK(operations == static_cast<double>(program.operations.size()));
  CHECK(inputs == expected_inputs);
}

}  // namespace

TEST_CASE("the work of a pass at any batch, tokens and context is that of its program") {
  for (const ForwardPassPoint& point :
       {ForwardPassPoint{1, 1, 0}, ForwardPassPoint{3, 5, 7}, ForwardPassPoint{2, 4, 1}, ForwardPassPoint{64, 2, 9}}) {
    for (const Role role : {Role::decoder_pass, Role::autoregressive_drafting, Role::block_drafting}) {
      check_same_work(tests::tiny_decoder(), role, point);
      check_same_work(tests::tiny_encoder_decoder(), role, point);
      check_same_work(tests::tiny_head(), role, point);
    }
    check_same_work(tests::tiny_decoder(), Role::head_drafting, point);
    check_same_work(tests::tiny_encoder_decoder(), Role::encoder_pass, point);
  }
  check_same_work(find_model(model_registry(), "llama-2-7b"), Role::decoder_pass, {48, 7, 3000});
}

TEST_CASE("rows of products are new tokens, or sequences where tokens are drafted one by one") {
  const ForwardPassPoint point{4, 6, 10};
  CHECK(ForwardPassWork(tests::tiny_decoder(), Role::decoder_pass, DataType::fp16, 0).rows(point) == 24.0);
  CHECK(ForwardPassWork(tests::tiny_decoder(), Role::block_drafting, DataType::fp16, 0).rows(point) == 24.0);
  CHECK(ForwardPassWork(tests::tiny_decoder(), Role::autoregressive_drafting, DataType::fp16, 0).rows(point) == 4.0);
  const ForwardPassWork work(tests::tiny_decoder(), Role::decoder_pass, DataType::fp16, 0);
  // Attention's output: 8 x 8 weights, 8 in, 8 out; gate and input: 24 x 8, 8 in, 24 out. Two bytes each.
  CHECK(work.min_product_bytes() == 2.0 * (64 + 8 + 8));
  CHECK(work.max_product_bytes() == 2.0 * (192 + 8 + 24));
}

TEST_CASE("points that are no pass of the model are refused") {
  const ForwardPassWork work(tests::tiny_encoder_decoder(), Role::decoder_pass, DataType::fp16, 0);
  const auto visit = [&](const ForwardPassPoint& point) { work.visit(point, [](const OperationWork&) {}); };
  CHECK_NOTHROW(visit({1, 4, 12}));
  CHECK_THROWS_MATCHES(visit({1, 5, 12}), DomainError, Says("invalid context=12"));
  CHECK_THROWS_AS(visit({0, 1, 0}), DomainError);
  CHECK_THROWS_AS(visit({1, 0, 0}), DomainError);
  CHECK_THROWS_AS(visit({1, 1, -1}), DomainError);
  CHECK_THROWS_AS(ForwardPassWork(tests::tiny_decoder(), Role::encoder_pass, DataType::fp16, 0), DomainError);
  CHECK_THROWS_AS(data_type_of("int8"), DomainError);
}

}  // namespace foredraft::latency
