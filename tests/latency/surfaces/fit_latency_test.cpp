// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/fit_latency.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "latency/models/model_registry.hpp"
#include "latency/profile/profile.hpp"
#include "tests/latency/surfaces/modelled_profile.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::latency {
namespace {

const Setting default_setting{.dtype = "fp16"};
const std::vector<std::string> fitted_models{"qwen1.5-0.5b", "sheared-llama-1.3b", "llama-2-7b", "t5-small",
                                             "gemma-2b"};

/// Error of least squares over some hundred rows if every time follows from the model: that of its stopping rule.
constexpr double stopped = 1e-4;
/// Goal of the fit: held-out shapes to 5 % in the median.
constexpr double held_out_target = 0.05;

}  // namespace

TEST_CASE("from times without noise the fit recovers their parameters") {
  const auto fit = fit_latency(tests::modelled_profile(tests::known_model, fitted_models, 0.0), model_registry(),
                               default_setting, 0);
  REQUIRE(fit);
  CHECK(fit->model.launch_us == Approx(tests::known_model.launch_us).epsilon(stopped));
  CHECK(fit->model.input_us == Approx(tests::known_model.input_us).epsilon(stopped));
  CHECK(fit->model.bandwidth_bytes_per_s == Approx(tests::known_model.bandwidth_bytes_per_s).epsilon(stopped));
  CHECK(fit->model.peak_flop_per_s == Approx(tests::known_model.peak_flop_per_s).epsilon(stopped));
  CHECK(fit->model.sharpness == Approx(tests::known_model.sharpness).epsilon(stopped));
  CHECK(fit->model.attend_launch_us == Approx(tests::known_model.attend_launch_us).epsilon(stopped));
  CHECK(fit->model.attend_peak_flop_per_s == Approx(tests::known_model.attend_peak_flop_per_s).epsilon(stopped));
  CHECK(fit->held_out.max < 10 * stopped);
}

TEST_CASE("from noisy times held-out models are predicted to 5 % in the median") {
  constexpr double noise = 0.03;
  const Profile profile = tests::modelled_profile(tests::known_model, fitted_models, noise);
  const auto fit = fit_latency(profile, model_registry(), default_setting, 2);
  REQUIRE(fit);
  CHECK(fit->held_out.shapes == static_cast<std::int64_t>(fitted_models.size()));
  CHECK(fit->held_out.rows == static_cast<std::int64_t>(profile.steps.size()));
  CHECK(fit->held_out.median < held_out_target);
  // Errors of rows cannot be below their own noise: half of |N(0, 0.03)| lies above 0.0202.
  CHECK(fit->held_out.median > 0.6 * noise);
  CHECK(fit->held_out.median <= fit->held_out.p90);
  CHECK(fit->held_out.p90 <= fit->held_out.p95);
  CHECK(fit->held_out.p95 <= fit->held_out.max);
  // Of a single pass a fit error of noise / sqrt(rows) and the collinearity of launches: a tenth, the bandwidth 2 %.
  CHECK(fit->model.bandwidth_bytes_per_s == Approx(tests::known_model.bandwidth_bytes_per_s).epsilon(0.02));
  CHECK(fit->model.peak_flop_per_s == Approx(tests::known_model.peak_flop_per_s).epsilon(0.05));
  CHECK(fit->ci95.bandwidth_bytes_per_s.low < fit->ci95.bandwidth_bytes_per_s.high);
  CHECK(fit->ci95.bandwidth_bytes_per_s.low < 1.02 * tests::known_model.bandwidth_bytes_per_s);
  CHECK(fit->ci95.bandwidth_bytes_per_s.high > 0.98 * tests::known_model.bandwidth_bytes_per_s);
  // A model that no fit has seen, against the truth.
  const auto passes = measured_operations(find_model(model_registry(), "qwen1.5-7b"), Role::decoder_pass, "fp16", 0);
  const Cell cell{.model = "qwen1.5-7b", .dtype = "fp16", .batch = 8, .tokens = 6, .context = 700};
  CHECK(pass_us(fit->model, passes, {8, 6, 700}) ==
        Approx(tests::modelled_us(tests::known_model, cell)).epsilon(held_out_target));
}

TEST_CASE("the error of a model is that of a fit without it") {
  Profile profile = tests::modelled_profile(tests::known_model, {"llama-2-7b", "sheared-llama-1.3b", "t5-small"}, 0.0);
  for (StepRow& row : profile.steps) {
    if (row.cell.model != "t5-small") continue;
    row.timing.summary.median_us *= 0.5;
    row.timing.summary.median_ci95_us.low *= 0.5;
  }
  // The two others take twice the time; a fit that included this shape would be biased toward it.
  CHECK(fit_latency(profile, model_registry(), default_setting, 0)->held_out.max == Approx(1.0).epsilon(1e-3));
}

TEST_CASE("the domain is the range of the fitted points") {
  const auto fit = fit_latency(tests::modelled_profile(tests::known_model, fitted_models, 0.0), model_registry(),
                               default_setting, 0);
  REQUIRE(fit);
  CHECK_FALSE(fit_latency(tests::modelled_profile(tests::known_model, fitted_models, 0.0), model_registry(),
                          {.dtype = "bf16"}, 0));
  CHECK(fit->domain.rows.low == 1.0);
  CHECK(fit->domain.rows.high == 64.0 * 32.0);
  CHECK(fit->domain.context.low == 128.0);
  CHECK(fit->domain.context.high == 1024.0);
  // T5-small's attention output, 384 by 512, and Gemma's vocabulary, 256,000 by 2,048.
  CHECK(fit->domain.product_bytes.low == 2.0 * (384 * 512 + 384 + 512));
  CHECK(fit->domain.product_bytes.high == 2.0 * (256000.0 * 2048 + 256000 + 2048));
}

TEST_CASE("separately timed products join the passes, and other settings do not") {
  Profile profile = tests::modelled_profile(tests::known_model, {"t5-small"}, 0.0);
  CHECK_FALSE(fit_latency(profile, model_registry(), default_setting, 0));  // one shape: nothing to hold out
  const auto add = [&](std::int64_t rows, std::int64_t outputs, std::int64_t inputs, Cache cache) {
    const auto m = static_cast<double>(rows);
    const auto n = static_cast<double>(outputs);
    const auto k = static_cast<double>(inputs);
    const StepOperator product{.name = "project",
                               .kind = OperatorKind::product,
                               .bytes = 2.0 * (n * k + m * n + m * k),
                               .flop = 2.0 * m * n * k,
                               .inputs = k};
    const double us = operator_us(tests::known_model, product);
    KernelRow row;
    row.operation = "project";
    row.shape = fmt::format("rows {} outputs {} inputs {} bias", rows, outputs, inputs);
    row.dtype = "fp16";
    row.cache = cache;
    row.timing.summary = {.samples = 9, .median_us = us, .median_ci95_us = {us, us}};
    row.timing.read_bytes = product.bytes;
    row.timing.flop = product.flop;
    profile.kernels.push_back(std::move(row));
  };
  for (const std::int64_t rows : {1, 16, 256, 2048}) {
    for (const std::int64_t outputs : {4096, 11008}) add(rows, outputs, 4096, Cache::cold);
    add(rows, 4096, 11008, Cache::cold);
    add(rows, 1024, 1024, Cache::hot);
  }
  const auto fit = fit_latency(profile, model_registry(), default_setting, 0);
  REQUIRE(fit);
  CHECK(fit->held_out.shapes == 4);
  CHECK(fit->model.peak_flop_per_s == Approx(tests::known_model.peak_flop_per_s).epsilon(stopped));
  CHECK(fit->model.bandwidth_bytes_per_s == Approx(tests::known_model.bandwidth_bytes_per_s).epsilon(stopped));
  CHECK_FALSE(fit_latency(profile, model_registry(), {.dtype = "bf16"}, 0));
}

TEST_CASE("settings are those of the steps, in order") {
  Profile profile = tests::modelled_profile(tests::known_model, {"t5-small"}, 0.0);
  profile.steps.back().cell.dtype = "bf16";
  const auto settings = settings_of(profile);
  REQUIRE(settings.size() == 2);
  CHECK(settings[0] == default_setting);
  CHECK(settings[1].dtype == "bf16");
  // One shape in each: nothing to hold out, no fit.
  CHECK(fit_latencies(profile, model_registry()).empty());
}

TEST_CASE("a profile keeps its fits, and one without them has no such key") {
  Profile profile = tests::modelled_profile(tests::known_model, {"t5-small"}, 0.0);
  CHECK(to_json(profile).find("\"fits\"") == std::string::npos);
  LatencyFit fit{.dtype = "fp16", .model = tests::known_model, .ci95 = {}, .held_out = {}, .domain = {}};
  fit.held_out = {.rows = 10, .shapes = 3, .mean = 0.02, .median = 0.01, .p90 = 0.04, .p95 = 0.05, .max = 0.06};
  fit.domain.rows = {1.0, 64.0};
  fit.ci95.sharpness = {2.5, 3.5};
  profile.fits.push_back(fit);
  const Profile read = from_json(to_json(profile), "p.json");
  REQUIRE(read.fits.size() == 1);
  CHECK(to_json(read) == to_json(profile));
  CHECK(read.fits[0].model.attend_launch_us == tests::known_model.attend_launch_us);
  CHECK(read.fits[0].held_out.p95 == 0.05);
  CHECK(read.fits[0].domain.rows.high == 64.0);
  const auto rejected = [&](auto&& change) {
    Profile changed = profile;
    change(changed.fits[0]);
    return rejection<std::exception>([&] { check_profile(changed); });
  };
  CHECK(rejected([](LatencyFit& one) { one.model.bandwidth_bytes_per_s = 0.0; }).find("bandwidth_bytes_per_s") !=
        std::string::npos);
  CHECK(rejected([](LatencyFit& one) { one.model.launch_us = -1.0; }).find("launch_us") != std::string::npos);
  CHECK(rejected([](LatencyFit& one) { one.held_out.rows = 0; }).find("rows") != std::string::npos);
  profile.source = Source::user;
  profile.protocol = {};
  profile.aa_test = {};
  CHECK(rejected([](LatencyFit&) {}) == "source user with fits");
}

}  // namespace foredraft::latency
