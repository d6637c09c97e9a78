// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/fit_latency.hpp"

#include <catch2/catch.hpp>

#include "latency/models/model_registry.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"
#include "tests/latency/surfaces/modelled_profile.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::latency {

TEST_CASE("an operation takes its launch, its inputs and the norm of moving and computing") {
  const LatencyModel model{.launch_us = 3.0,
                           .input_us = 0.01,
                           .bandwidth_bytes_per_s = 1e12,
                           .peak_flop_per_s = 1e14,
                           .sharpness = 2.0,
                           .attend_launch_us = 7.0,
                           .attend_peak_flop_per_s = 1e13};
  // 30 us of bytes and 40 us of flop: 50 by the norm of 2.
  CHECK(
      operator_us(model, {.name = "qkv", .kind = OperatorKind::product, .bytes = 3e7, .flop = 4e9, .inputs = 100.0}) ==
      Approx(3.0 + 1.0 + 50.0).epsilon(foredraft::tests::few_ulp));
  CHECK(operator_us(model, {.name = "attention", .kind = OperatorKind::attention, .bytes = 3e7, .flop = 4e8}) ==
        Approx(7.0 + 50.0).epsilon(foredraft::tests::few_ulp));
  CHECK(operator_us(model, {.name = "norm", .kind = OperatorKind::other, .bytes = 3e7, .flop = 0.0}) ==
        Approx(3.0 + 30.0).epsilon(foredraft::tests::few_ulp));
}

TEST_CASE("the roofline of a tiny pass is the sum worked by hand") {
  Limits limits;
  limits.memory_bandwidth_bytes_per_s = {.value = 1e9, .ci95 = {}, .origin = "made up"};  // 1e3 bytes a us
  limits.matrix_peak_fp16_flop_per_s = {.value = 2e9, .ci95 = {}, .origin = "made up"};   // 2e3 flop a us
  limits.graph_node_us = {.value = 0.5, .ci95 = {}, .origin = "made up"};
  const LatencyModel model = roofline(limits, "fp16").value();
  // Medusa's heads on the tiny decoder, one head, batch 3. In numbers of two bytes unless said: picking rows 3 ids of 4
  // bytes, 24 in, 24 out; block 24 + 64 in and + 8 bias, 24 out, 3 x 8 x (16 + 1) flop; activation 24 in and out, 24
  // flop; norm reads stream, delta and 8 gains, writes stream and out, 5 x 24 flop; vocabulary 24 + 80 in, 30 out, 3 x
  // 10 x 16 flop; choice 30 in, 3 ids out.
  const double expected = 6 * 0.5 + (12 + 96) / 1e3 + std::max((24 + 64 + 8 + 24) * 2 / 1e3, 408 / 2e3) + 96 / 1e3 +
                          (24 * 4 + 8) * 2 / 1e3 + std::max((24 + 80 + 30) * 2 / 1e3, 480 / 2e3) + (60 + 12) / 1e3;
  const ForwardPassOperations heads = measured_operations(tests::tiny_decoder(), Role::head_drafting, "fp16", 0);
  const double one = pass_us(model, heads, {.batch = 3, .tokens = 1, .context = 5});
  CHECK(one == Approx(expected).epsilon(foredraft::tests::few_ulp));
  CHECK(pass_us(model, heads, {.batch = 3, .tokens = 4, .context = 5}) ==
        Approx(4.0 * one).epsilon(foredraft::tests::few_ulp));
  // A hundred sequences: both products compute for longer than they move.
  const double products = 100 * (8 * 17 + 160) / 2e3;
  const double rest = 6 * 0.5 + (100 * (4 + 32) + 100 * 32 + 100 * 64 + 16 + 100 * 24) / 1e3;
  CHECK(pass_us(model, heads, {.batch = 100, .tokens = 1, .context = 0}) ==
        Approx(products + rest).epsilon(foredraft::tests::few_ulp));
}

TEST_CASE("without a bandwidth or a peak there is no roofline, and unknown launches are free") {
  Limits limits;
  CHECK_FALSE(roofline(limits, "fp16"));
  limits.memory_bandwidth_bytes_per_s = {.value = 1e9, .ci95 = {}, .origin = "made up"};
  CHECK_FALSE(roofline(limits, "fp16"));
  limits.matrix_peak_fp16_flop_per_s = {.value = 2e9, .ci95 = {}, .origin = "made up"};
  CHECK(roofline(limits, "fp16")->launch_us == 0.0);
  CHECK_FALSE(roofline(limits, "bf16"));
}

TEST_CASE("the time of a pass is the sum over its program") {
  for (const Role role : {Role::decoder_pass, Role::autoregressive_drafting}) {
    const Cell cell{.model = "t5-small", .role = role, .dtype = "fp16", .batch = 5, .tokens = 3, .context = 40};
    const auto passes = measured_operations(find_model(model_registry(), cell.model), role, "fp16", 0);
    CHECK(pass_us(tests::known_model, passes, {cell.batch, cell.tokens, cell.context}) ==
          Approx(tests::modelled_us(tests::known_model, cell)).epsilon(foredraft::tests::second_route));
  }
}

}  // namespace foredraft::latency
