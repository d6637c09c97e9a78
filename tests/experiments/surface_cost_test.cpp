// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "experiments/cost/cost_registry.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/predict/profile_prediction.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "gpu_bench/profile/profile_json.hpp"
#include "sim/simulator.hpp"
#include "tests/experiments/config_testing.hpp"
#include "tests/experiments/temporary_folder.hpp"
#include "tests/gpu_bench/latency/modelled_profile.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

constexpr double no_pool = std::numeric_limits<double>::quiet_NaN();

std::string roofline_sweep(const std::string& rest) {
  return "[axes]\n\"cost.batch\" = [1, 64]\ngamma = [0, 3]\n[fixed]\nalpha = 0.7\ncost = \"roofline\"\n"
         "\"cost.target\" = \"llama-2-7b\"\n\"cost.draft\" = \"sheared-llama-1.3b\"\n" +
         rest;
}

std::string refused_by_resources(const std::string& text) {
  const SweepConfig config = tests::config_of(text);
  Resources resources;
  try {
    resources.prepare(config);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("the cost models roofline and measured charge what a prediction from the same times does") {
  const tests::TemporaryFolder folder;
  gpu_bench::Profile measured = gpu_bench::tests::modelled_profile(
      gpu_bench::tests::known_model, {"llama-2-7b", "sheared-llama-1.3b", "t5-small"}, 0.0);
  gpu_bench::tests::add_sampling(measured, 32'000);
  tests::write_text(folder / "p.json", gpu_bench::to_json(measured));
  const std::string fixed =
      "[fixed]\nalpha = 0.7\ngamma = 3\n\"cost.target\" = \"llama-2-7b\"\n\"cost.draft\" = \"sheared-llama-1.3b\"\n"
      "\"cost.batch\" = 8\n\"cost.context\" = 128\n\"cost.overhead_ms\" = 0.25\n";
  const auto check = [&](const std::string& cost, const gpu_bench::Profile& profile) {
    const PointInputs inputs = Points(tests::config_of(fixed + cost)).inputs(0);
    ProfileQuestion question{.target = "llama-2-7b", .draft = "sheared-llama-1.3b"};
    question.alpha = 0.7;
    question.gamma = 3;
    question.batches = {8};
    question.contexts = {128};
    question.overhead_us = 250.0;
    const AtDraftLength three = predict(question, profile).cells.front().lengths[2];
    CHECK(analytic_answer(inputs, no_pool)[speedup_metric].value() ==
          Approx(three.speedup).epsilon(tests::second_route));
    CHECK_FALSE(analytic_answer(inputs, no_pool)[best_gamma_metric]);
  };
  check("cost = \"roofline\"\n\"cost.device\" = \"h100\"\n", load_profile("h100"));
  check("cost = \"measured\"\n\"cost.profile\" = \"" + (folder / "p.json") + "\"\n", measured);
}

TEST_CASE("a sweep over batches of a roofline simulates what its closed form says, and no draft is plain decoding") {
  const SweepConfig config =
      tests::config_of(roofline_sweep("\"cost.device\" = \"a100-80gb\"\n"
                                      "[simulation]\niterations = 100000\nseed = 1\n"));
  Resources resources;
  resources.prepare(config);
  const Points points(config);
  double before = std::numeric_limits<double>::infinity();
  for (std::uint64_t index = 0; index < points.count(); ++index) {
    const PointInputs inputs = points.inputs(index);
    const AnalyticAnswer analytic = analytic_answer(inputs, no_pool);
    if (inputs.gamma == 0) {
      CHECK(analytic[speedup_metric].value() == 1.0);
      continue;
    }
    CHECK(analytic[speedup_metric].value() < before);  // a larger batch gains less
    before = analytic[speedup_metric].value();
    const auto simulator = make_simulator(inputs, *config.simulation, resources);
    const SimulatedAnswer simulated = simulated_answer(inputs, sim::run(*simulator, {1, index}, 1));
    const auto deviation = deviation_in_se(analytic, simulated, speedup_metric);
    REQUIRE(deviation);
    // One standard error is 0.2 %: a batch or an overhead forgotten on one side would be 5 % and more.
    CHECK(std::abs(*deviation) < tests::standard_errors);
  }
}

TEST_CASE("a sweep asks no time that nobody knows, of no device that is not there") {
  CHECK(refused_by_resources(roofline_sweep("\"cost.device\" = \"h200\"\n")) == "accepted");
  CHECK_THAT(refused_by_resources(roofline_sweep("\"cost.device\" = \"h20\"\n")),
             Catch::Contains("did you mean h200?"));
  std::string misspelt = roofline_sweep("\"cost.device\" = \"h200\"\n");
  misspelt.replace(misspelt.find("llama-2-7b"), 10, "llama-2-7 ");
  CHECK_THAT(refused_by_resources(misspelt),
             Catch::Contains("e.toml:8: fixed.cost.target: unknown model \"llama-2-7 \""));
  std::string sheet = roofline_sweep("\"cost.profile\" = \"h200\"\n");
  sheet.replace(sheet.find("\"roofline\""), 10, "\"measured\"");
  CHECK_THAT(refused_by_resources(sheet),
             Catch::Contains("h200: a profile of source datasheet - use cost = \"roofline\""));
  const tests::TemporaryFolder folder;
  const gpu_bench::Profile measured =
      gpu_bench::tests::modelled_profile(gpu_bench::tests::known_model, {"llama-2-7b", "sheared-llama-1.3b"}, 0.0);
  tests::write_text(folder / "p.json", gpu_bench::to_json(measured));
  std::string outside = roofline_sweep("\"cost.context\" = 2000\n\"cost.profile\" = \"" + (folder / "p.json") + "\"\n");
  outside.replace(outside.find("\"roofline\""), 10, "\"measured\"");
  CHECK_THAT(refused_by_resources(outside), Catch::Contains("cost: llama-2-7b decoder_pass fp16: no time for batch 1"));
}

TEST_CASE("what does not go with times of passes is refused by the configuration") {
  const std::string device = "\"cost.device\" = \"h200\"\n";
  CHECK_THAT(tests::refusal_of(roofline_sweep("")), Catch::Contains("fixed.cost.device: missing"));
  CHECK_THAT(tests::refusal_of(roofline_sweep(device + "\"cost.profile\" = \"p\"\n")),
             Catch::Contains("fixed.cost.profile: not used") && Catch::Contains("set cost = \"measured\""));
  CHECK_THAT(tests::refusal_of(roofline_sweep(device + "drafter = \"mlp_speculator\"\n")),
             Catch::Contains("has no times under cost roofline"));
  std::string policy = roofline_sweep(device + "policy = \"plus2_minus1\"\n");
  policy.replace(policy.find("[0, 3]"), 6, "[2, 3]");
  CHECK_THAT(tests::refusal_of(policy), Catch::Contains("not constant under cost roofline"));
  std::string fraction = roofline_sweep(device);
  fraction.replace(fraction.find("[1, 64]"), 7, "[1.5]");
  CHECK_THAT(tests::refusal_of(fraction), Catch::Contains("axes.cost.batch: wrong type"));
  CHECK_THROWS_AS(decoding_cost("roofline", {}), std::logic_error);
}

}  // namespace foredraft::experiments
