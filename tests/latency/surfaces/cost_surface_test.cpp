// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/cost_surface.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "latency/models/model_registry.hpp"
#include "latency/surfaces/fit_latency.hpp"
#include "tests/latency/surfaces/modelled_profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::latency {
namespace {

const std::vector<std::string> small_models{"qwen1.5-0.5b", "t5-small", "gemma-2b"};

Profile device() { return tests::modelled_profile(tests::known_model, small_models, 0.0); }

CostSurface surface(const Profile& profile, const std::string& model) {
  return {profile, model_registry(), {.model = model, .setting = setting_for(profile, model)}};
}

std::string problem(const auto& make) { return rejection<DomainError>(make); }

}  // namespace

TEST_CASE("a time comes from the table, from between its points, or from the fit, and states which") {
  Profile profile = device();
  profile.fits.push_back(fit_latency(profile, model_registry(), {.dtype = "fp16"}, 0).value());
  const CostSurface measured = surface(profile, "qwen1.5-0.5b");
  const Latency exact = measured.at({8, 4, 128});
  CHECK(exact.origin == Origin::measured);
  CHECK(exact.inside);
  // The spread of the median is 0.4 %; halves of the samples differ by 1 %.
  CHECK(exact.spread.value() == Approx(0.005).epsilon(foredraft::tests::second_route));
  Profile disturbed = profile;
  for (StepRow& row : disturbed.steps) row.timing.summary.median_ci95_us.high *= 1.05;
  CHECK(surface(disturbed, "qwen1.5-0.5b").at({8, 4, 128}).spread.value() > 0.025);
  const Latency between = measured.at({8, 5, 512});
  CHECK(between.origin == Origin::interpolated);
  CHECK(between.spread.value() >= exact.spread.value());
  const Cell cell{.model = "qwen1.5-0.5b", .dtype = "fp16", .batch = 8, .tokens = 5, .context = 512};
  CHECK(std::abs(between.time_us / tests::modelled_us(tests::known_model, cell) - 1.0) < between.spread.value());
  const Latency beyond = measured.at({64, 40, 128});
  CHECK(beyond.origin == Origin::fitted);
  CHECK_FALSE(beyond.inside);  // 2,560 rows, fitted to 2,048
  CHECK(beyond.spread == profile.fits[0].held_out.p95);
  const Latency tall = measured.at({20, 64, 128});
  CHECK(tall.origin == Origin::fitted);
  CHECK(tall.inside);
  // A model that was not measured: its products are inside the range of the others, or outside.
  const Latency other = surface(profile, "sheared-llama-1.3b").at({4, 3, 300});
  CHECK(other.origin == Origin::fitted);
  CHECK(other.inside);
  const Cell unmeasured{.model = "sheared-llama-1.3b", .dtype = "fp16", .batch = 4, .tokens = 3, .context = 300};
  CHECK(other.time_us == Approx(tests::modelled_us(tests::known_model, unmeasured)).epsilon(0.01));
  CHECK_FALSE(surface(profile, "sheared-llama-1.3b").at({4, 3, 2000}).inside);
  CHECK_FALSE(surface(profile, "llama-3.1-70b").at({4, 3, 300}).inside);
}

TEST_CASE("between its points a table has the shape of the model, however far measured times exceed it") {
  // Batches of 1, 8 and 64: linear interpolation would miss the corner where passes become compute bound.
  Profile profile = device();
  for (StepRow& row : profile.steps) {
    const double factor = 1.1;
    SampleSummary& summary = row.timing.summary;
    summary.median_us *= factor;
    summary.median_ci95_us = {factor * summary.median_ci95_us.low, factor * summary.median_ci95_us.high};
  }
  profile.fits.push_back(fit_latency(device(), model_registry(), {.dtype = "fp16"}, 0).value());
  const CostSurface measured = surface(profile, "qwen1.5-0.5b");
  for (const std::int64_t batch : {3, 20, 40}) {
    const Latency between = measured.at({batch, 4, 128});
    CHECK(between.origin == Origin::interpolated);
    const Cell cell{.model = "qwen1.5-0.5b", .dtype = "fp16", .batch = batch, .tokens = 4, .context = 128};
    CHECK(between.time_us == Approx(1.1 * tests::modelled_us(tests::known_model, cell)).epsilon(0.002));
  }
}

TEST_CASE("an unmeasured model is fitted on demand if the profile holds no fit") {
  const Latency found = surface(device(), "sheared-llama-1.3b").at({4, 3, 300});
  const Cell cell{.model = "sheared-llama-1.3b", .dtype = "fp16", .batch = 4, .tokens = 3, .context = 300};
  CHECK(found.origin == Origin::fitted);
  CHECK(found.time_us == Approx(tests::modelled_us(tests::known_model, cell)).epsilon(0.01));
}

TEST_CASE("a question without an answer is rejected by name") {
  const Profile profile = tests::modelled_profile(tests::known_model, {"t5-small"}, 0.0);
  CHECK(problem([&] {
          return surface(profile, "t5-small").at({128, 1, 128});
        }) == "t5-small decoder_pass fp16: no time for batch 128, 1 tokens and context 128");
  CHECK(problem([&] { return surface(profile, "gemma-2b").at({1, 1, 128}); }).find("gemma-2b") != std::string::npos);
  CHECK(problem([&] { return surface(profile, "t5-smal"); }) == "unknown model \"t5-smal\"");
  Profile falling = profile;
  falling.steps[3].timing.summary.median_us *= 0.5;
  CHECK(problem([&] { return surface(falling, "t5-small"); }).find(" us for batch ") != std::string::npos);
}

TEST_CASE("a data sheet answers by its roofline, without an interval") {
  Profile sheet{.source = Source::datasheet, .identity = {}, .device = {}, .limits = {}};
  sheet.device.name = "sheet";
  sheet.limits.memory_bandwidth_bytes_per_s = {.value = 2e12, .ci95 = {}, .origin = "made up"};
  sheet.limits.matrix_peak_fp16_flop_per_s = {.value = 300e12, .ci95 = {}, .origin = "made up"};
  const Latency found = surface(sheet, "llama-2-7b").at({1, 1, 512});
  CHECK(found.origin == Origin::roofline);
  CHECK_FALSE(found.spread);
  LatencyModel limits = tests::known_model;
  limits = *roofline(sheet.limits, "fp16");
  const Cell cell{.model = "llama-2-7b", .dtype = "fp16", .context = 512};
  CHECK(found.time_us == Approx(tests::modelled_us(limits, cell)).epsilon(foredraft::tests::second_route));
  sheet.limits.matrix_peak_fp16_flop_per_s = {};
  CHECK_THAT(problem([&] { return surface(sheet, "llama-2-7b").at({1, 1, 512}); }), Catch::Contains("fp16"));
  sheet.limits.memory_bandwidth_bytes_per_s = {};
  CHECK_THAT(problem([&] { return surface(sheet, "llama-2-7b"); }), Catch::Contains("no memory bandwidth is known"));
}

TEST_CASE("a user's steps count like measured ones, even of unknown models, without an interval") {
  Profile profile{.source = Source::user, .identity = {}, .device = {}, .limits = {}};
  profile.device.name = "steps.csv";
  const auto add = [&](std::int64_t tokens, double us) {
    profile.steps.push_back(
        {{.model = "my model", .dtype = "fp16", .tokens = tokens, .context = 100},
         timing_of(
             {.name = "user", .summary = {.samples = 1, .median_us = us, .median_ci95_us = {us, us}}, .samples_us = {}},
             0.0, 0.0, 0.0)});
  };
  add(1, 10.0);
  add(4, 20.0);
  const CostSurface mine = surface(profile, "my model");
  CHECK(mine.at({1, 4, 100}).time_us == Approx(20.0).epsilon(foredraft::tests::few_ulp));
  CHECK_FALSE(mine.at({1, 4, 100}).spread);
  CHECK(mine.at({1, 2, 100}).time_us == Approx(std::sqrt(200.0)).epsilon(foredraft::tests::few_ulp));
  CHECK(problem([&] { return mine.at({2, 1, 100}); }).find("no time for batch 2") != std::string::npos);
  CHECK_THROWS_WITH(mine.at({2, 1, 100}), Catch::EndsWith("ask within batch 1; tokens 1, 4; context 100"));
  CHECK(problem([&] { return surface(profile, "your model"); }).find("unknown model") != std::string::npos);
  CHECK_THROWS_WITH(surface(profile, "your model"), Catch::Contains("steps.csv, which has my model, nor"));
  CHECK_THROWS_WITH(surface(profile, "llama-2-7b").at({1, 1, 100}),
                    Catch::EndsWith("ask within my model decoder_pass (batch 1; tokens 1, 4; context 100)"));
  // Steps of an engine, and sums of operators: even for a shipped model its shape fills no gaps.
  for (StepRow& row : profile.steps) row.cell.model = "llama-2-7b";
  for (const Source source : {Source::engine, Source::operators}) {
    profile.source = source;
    profile.step_error = {};
    CHECK_FALSE(surface(profile, "llama-2-7b").at({1, 4, 100}).spread);
    CHECK(problem([&] {
            return surface(profile, "llama-2-7b").at({2, 1, 100});
          }).find("no time for batch 2") != std::string::npos);
    profile.step_error = {.value = 0.19, .ci95 = {}, .origin = "held-out models"};
    CHECK(surface(profile, "llama-2-7b").at({1, 4, 100}).spread == 0.19);
    CHECK(surface(profile, "llama-2-7b").at({1, 2, 100}).spread.value() >= 0.19);
  }
}

}  // namespace foredraft::latency
