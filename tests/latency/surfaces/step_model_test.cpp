// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/step_model.hpp"

#include <catch2/catch.hpp>

#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "latency/surfaces/fit_latency.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::latency {
namespace {

using foredraft::tests::few_ulp;
using foredraft::tests::second_route;

/// 1 MB and 100 Mflop a us in 16 bits, 200 Mflop in fp8; 0.5 MB a us over the link.
DevicePeaks made_up_peaks() {
  return {.device = "made up",
          .memory_bandwidth_bytes_per_s = 1e12,
          .matrix_peak_flop_per_s = {{NumberFormat::bf16, 1e14}, {NumberFormat::fp8, 2e14}, {NumberFormat::fp16, 1e14}},
          .link_bandwidth_bytes_per_s = 5e11};
}

StepOperator reduce(double bytes) {
  return {.name = "all-reduce", .kind = OperatorKind::all_reduce, .count = 1.0, .bytes = bytes};
}

std::vector<StepOperator> decoder_operators(const ModelShape& shape, const Deployment& deployment,
                                            const ForwardPassPoint& point) {
  return ForwardPassOperations(shape, Role::decoder_pass, deployment).operators(point);
}

/// The expected pass_us() of one pass, summed operator by operator.
double step_us(const std::vector<StepOperator>& operators, std::int64_t devices, const DevicePeaks& peaks,
               const Attained& attained) {
  double sum = attained.step_us;
  for (const StepOperator& one : operators) sum += one.count * operator_us(one, devices, peaks, attained);
  return sum;
}

const ModelShape& shape_of(std::string_view name) { return find_model(model_registry(), name); }

}  // namespace

TEST_CASE("the time of a pass is its fixed time and the sum over its operators") {
  Attained attained{
      .bandwidth_efficiency = 0.5, .compute_efficiency = 0.25, .operator_us = 3.0, .step_us = 100.0, .sharpness = 2.0};
  // 30 us of bytes at half the bandwidth and 40 us of flop at a quarter of the peak: 50 by the norm of 2.
  const StepOperator product{.name = "qkv", .kind = OperatorKind::product, .count = 7.0, .bytes = 15e6, .flop = 1e9};
  CHECK(step_us({product}, 1, made_up_peaks(), attained) == Approx(100 + 7 * 53.0).epsilon(few_ulp));
  StepOperator fp8 = product;
  fp8.compute = NumberFormat::fp8;
  attained.sharpness = std::numeric_limits<double>::infinity();
  CHECK(step_us({product, fp8}, 1, made_up_peaks(), attained) == Approx(100 + 7 * 43.0 + 7 * 33.0).epsilon(few_ulp));
  CHECK(step_us({product}, 1, made_up_peaks(), data_sheet_limits()) == Approx(7 * 15.0).epsilon(few_ulp));
}

TEST_CASE("a product on vector units takes the fp32 peak, and queries that reread the KV cache move its bytes again") {
  DevicePeaks peaks = made_up_peaks();
  peaks.matrix_peak_flop_per_s[NumberFormat::fp32] = 2e13;
  const StepOperator product{.name = "qkv", .kind = OperatorKind::product, .flop = 1e9, .vector_flop = 1e9};
  Attained attained{.compute_efficiency = 0.5, .sharpness = 2.0};
  CHECK(operator_us(product, 1, peaks, attained) == Approx(20.0).epsilon(few_ulp));  // as on matrix units
  attained.vector_efficiency = 0.25;
  CHECK(operator_us(product, 1, peaks, attained) == Approx(200.0).epsilon(few_ulp));
  StepOperator many = product;  // more tokens: at least as long as the maximum on vector units
  many.flop = 5e9;
  CHECK(operator_us(many, 1, peaks, attained) == Approx(200.0).epsilon(few_ulp));
  many.flop = 50e9;
  CHECK(operator_us(many, 1, peaks, attained) == Approx(1000.0).epsilon(few_ulp));
  CHECK_THROWS_WITH(operator_us(product, 1, made_up_peaks(), attained),
                    Catch::StartsWith("made up: no matrix peak of fp32"));
  const StepOperator attention{
      .name = "attention", .kind = OperatorKind::attention, .bytes = 4e6, .reread_bytes = 12e6};
  CHECK(operator_us(attention, 1, peaks, attained) == Approx(4.0).epsilon(few_ulp));
  attained.kv_reread = 0.5;
  CHECK(operator_us(attention, 1, peaks, attained) == Approx(10.0).epsilon(few_ulp));
}

TEST_CASE("an all-reduce takes its latency and twice the other devices' share of the tensor, an all-gather once") {
  const Attained attained{.link_efficiency = 0.8, .all_reduce_us = 2.0, .sharpness = 2.0};
  const double bytes_per_us = 0.8 * 5e5;
  for (const double devices : {2.0, 4.0, 8.0}) {
    CHECK(step_us({reduce(1e8)}, static_cast<std::int64_t>(devices), made_up_peaks(), attained) ==
          Approx(2.0 + 2.0 * (devices - 1.0) / devices * 1e8 / bytes_per_us).epsilon(few_ulp));
  }
  const StepOperator gather{.name = "gather logits", .kind = OperatorKind::all_gather, .count = 1.0, .bytes = 4e5};
  CHECK(step_us({gather}, 4, made_up_peaks(), attained) == Approx(2 + 0.75).epsilon(few_ulp));
}

TEST_CASE("at the data sheet's limits a dense pass takes its roofline without launches") {
  Limits limits;
  limits.memory_bandwidth_bytes_per_s = {.value = 3.35e12, .ci95 = {}, .origin = "made up"};
  limits.matrix_peak_fp16_flop_per_s = {.value = 9.9e14, .ci95 = {}, .origin = "made up"};
  const DevicePeaks peaks{.device = "made up",
                          .memory_bandwidth_bytes_per_s = 3.35e12,
                          .matrix_peak_flop_per_s = {{NumberFormat::fp16, 9.9e14}}};
  const Deployment fp16{.weights = NumberFormat::fp16, .kv_cache = NumberFormat::fp16};
  const LatencyModel model = roofline(limits, "fp16").value();
  for (const char* name : {"llama-3.1-8b", "llama-3.1-70b", "qwen1.5-7b", "gemma-2b", "eagle-llama-3.1-8b"}) {
    const auto passes = measured_operations(shape_of(name), Role::decoder_pass, "fp16", 0);
    for (const ForwardPassPoint& point :
         {ForwardPassPoint{1, 1, 0}, {1, 5, 513}, {8, 1, 513}, {64, 5, 2000}, {512, 8, 513}}) {
      INFO(name << " batch " << point.batch << " tokens " << point.tokens);
      CHECK(step_us(decoder_operators(shape_of(name), fp16, point), 1, peaks, data_sheet_limits()) ==
            Approx(pass_us(model, passes, {point.batch, point.tokens, point.context})).epsilon(second_route));
    }
  }
}

TEST_CASE("drafting one by one takes the fixed time of a pass for each draft, in every format and on several devices") {
  const Attained attained{.bandwidth_efficiency = 0.8,
                          .compute_efficiency = 0.6,
                          .operator_us = 3.0,
                          .step_us = 50.0,
                          .link_efficiency = 0.5,
                          .all_reduce_us = 4.0,
                          .sharpness = 4.0};
  const ModelShape& shape = shape_of("qwen1.5-7b");
  for (const Deployment& deployment :
       {Deployment{}, Deployment{.weights = NumberFormat::int4}, Deployment{.tensor_parallel = 2}}) {
    const auto us = [&](Role role, const ForwardPassPoint& point) {
      return pass_us(ForwardPassOperations(shape, role, deployment), point, made_up_peaks(), attained);
    };
    for (const ForwardPassPoint& point : {ForwardPassPoint{1, 1, 0}, {8, 5, 513}, {64, 5, 2000}}) {
      CHECK(us(Role::decoder_pass, {point.batch, point.tokens, point.context}) ==
            Approx(step_us(decoder_operators(shape, deployment, point), deployment.tensor_parallel, made_up_peaks(),
                           attained))
                .epsilon(second_route));
    }
    const double drafts = us(Role::autoregressive_drafting, {8, 3, 100});
    double one_by_one = 0.0;
    for (const std::int64_t context : {100, 101, 102}) {
      one_by_one += us(Role::autoregressive_drafting, {8, 1, context});
    }
    CHECK(drafts == Approx(one_by_one).epsilon(second_route));
    CHECK(drafts > us(Role::decoder_pass, {8, 1, 100}) + 2.0 * attained.step_us);
  }
}

TEST_CASE("attainable shares are read with a range and a source each, and all errors are reported at once") {
  const Attainable shipped = attainable_of(made_up_peaks());
  CHECK(shipped.step.high / shipped.step.low <= 1.8);
  CHECK(shipped.verification.high / shipped.verification.low <= 1.8);
  CHECK(central(shipped).bandwidth_efficiency == shipped.bandwidth_efficiency.value);
  CHECK(central(shipped).vector_efficiency == shipped.vector_efficiency.value);
  CHECK(central(with_slow_verification(shipped)).vector_efficiency == shipped.vector_efficiency.low);
  CHECK(with_slow_verification(shipped).expert_skew.value == 0.0);  // independent routing
  CHECK(with_fast_verification(shipped).expert_skew.value == shipped.expert_skew.high);
  CHECK(shipped.kv_reread == Range{0.0, 0.0, 1.0});
  DevicePeaks slow_link = made_up_peaks();
  slow_link.link_bandwidth_bytes_per_s = 64e9;
  CHECK(attainable_of(slow_link).link_efficiency.low < shipped.link_efficiency.low);
  CHECK(attainable_of(slow_link).operator_us == shipped.operator_us);
  const auto operators = decoder_operators(shape_of("llama-3.1-8b"), {}, {8, 4, 1000});
  CHECK(step_us(operators, 1, made_up_peaks(), central(shipped)) >
        step_us(operators, 1, made_up_peaks(), data_sheet_limits()));
  CHECK_THROWS_WITH(parse_attainable("[step]\nlow = 2\nvalue = 1\nhigh = 3\n", "a.toml"),
                    Catch::Contains("a.toml: step: low, value and high are not in order") &&
                        Catch::Contains("step.source: missing") && Catch::Contains("operator_us.low: missing"));
}

TEST_CASE("products in a format without a peak are computed in the next wider one") {
  using enum NumberFormat;
  const auto computed = [](std::vector<NumberFormat> known, NumberFormat format) {
    DevicePeaks peaks{.device = "made up"};
    for (const NumberFormat one : known) peaks.matrix_peak_flop_per_s[one] = 1e14;
    return computed_in(peaks, format);
  };
  for (const NumberFormat narrow : {fp8, int8, nvfp4, int4, mxfp4}) {
    CAPTURE(to_string(narrow));
    CHECK(computed({fp32, bf16, fp16}, narrow) == bf16);  // A100
    CHECK(computed({fp32, fp16}, narrow) == fp16);        // V100
    CHECK(computed({fp32}, narrow) == fp32);              // P40
    CHECK(computed({narrow, bf16}, narrow) == narrow);
  }
  CHECK(computed({bf16, fp8}, nvfp4) == bf16);  // H100
  CHECK(computed({fp16}, bf16) == fp16);
  CHECK(computed({bf16}, fp16) == bf16);  // TPU
  CHECK(computed({bf16, fp16}, fp32) == std::nullopt);
  CHECK(computed({fp8}, bf16) == std::nullopt);
  CHECK(computed({}, fp8) == std::nullopt);
}

TEST_CASE("a format without any compute format on a device is named, weight-only formats need none") {
  const ModelShape& shape = shape_of("llama-3.1-8b");
  const auto time = [&](NumberFormat weights, std::int64_t batch = 1) {
    return step_us(decoder_operators(shape, {.weights = weights}, {.batch = batch}), 1, made_up_peaks(),
                   data_sheet_limits());
  };
  CHECK(time(NumberFormat::int4) < time(NumberFormat::fp8));
  CHECK(time(NumberFormat::fp8) < time(NumberFormat::bf16));
  CHECK(time(NumberFormat::mxfp4) < time(NumberFormat::fp8));
  CHECK(time(NumberFormat::int8) == time(NumberFormat::fp8));
  CHECK(time(NumberFormat::int8, 1024) > time(NumberFormat::fp8, 1024));  // the test device has no int8 units
  CHECK_THROWS_WITH(time(NumberFormat::fp32),
                    Catch::StartsWith("made up: no matrix peak of fp32 or a wider format is known"));
  DevicePeaks alone = made_up_peaks();
  alone.link_bandwidth_bytes_per_s.reset();
  CHECK_THROWS_WITH(step_us({reduce(8)}, 2, alone, data_sheet_limits()),
                    Catch::StartsWith("made up: no link between devices is known"));
}

TEST_CASE("peaks are those that the profile states, and no others") {
  const auto figure = [](double value) { return Figure{.value = value, .ci95 = {}, .origin = "made up"}; };
  Profile profile;
  profile.device.name = "made up";
  CHECK_THROWS_WITH(peaks_of(profile.device, profile.limits),
                    Catch::StartsWith("made up: no memory bandwidth is known"));
  profile.limits.memory_bandwidth_bytes_per_s = figure(1.0);
  CHECK(peaks_of(profile.device, profile.limits).matrix_peak_flop_per_s.empty());
  CHECK_FALSE(peaks_of(profile.device, profile.limits).link_bandwidth_bytes_per_s);
  profile.limits.matrix_peak_fp32_flop_per_s = figure(2.0);
  profile.limits.matrix_peak_bf16_flop_per_s = figure(3.0);
  profile.limits.matrix_peak_fp16_flop_per_s = figure(4.0);
  profile.limits.matrix_peak_fp8_flop_per_s = figure(5.0);
  profile.limits.matrix_peak_int8_flop_per_s = figure(6.0);
  profile.limits.matrix_peak_fp4_flop_per_s = figure(7.0);
  profile.limits.link_bandwidth_bytes_per_s = figure(8.0);
  const DevicePeaks peaks = peaks_of(profile.device, profile.limits);
  CHECK(peaks.device == "made up");
  CHECK(peaks.memory_bandwidth_bytes_per_s == 1.0);
  CHECK(peaks.matrix_peak_flop_per_s == std::map<NumberFormat, double>{{NumberFormat::fp32, 2.0},
                                                                       {NumberFormat::bf16, 3.0},
                                                                       {NumberFormat::fp16, 4.0},
                                                                       {NumberFormat::fp8, 5.0},
                                                                       {NumberFormat::int8, 6.0},
                                                                       {NumberFormat::nvfp4, 7.0}});
  CHECK(peaks.link_bandwidth_bytes_per_s == 8.0);
}

}  // namespace foredraft::latency
