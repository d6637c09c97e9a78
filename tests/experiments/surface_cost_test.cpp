// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "analytic/answer/answer.hpp"
#include "answers/profile_prediction.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "foredraft/scenario.hpp"
#include "inputs/devices.hpp"
#include "latency/models/storage.hpp"
#include "latency/profile/profile.hpp"
#include "scenario/cost.hpp"
#include "sim/simulate.hpp"
#include "sim/simulator.hpp"
#include "tests/experiments/config_testing.hpp"
#include "tests/latency/surfaces/modelled_profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

std::string roofline_sweep(const std::string& rest) {
  return "[axes]\n\"cost.batch\" = [1, 64]\ngamma = [0, 3]\n[fixed]\nalpha = 0.7\ncost = \"roofline\"\n"
         "\"cost.target\" = \"llama-2-7b\"\n\"cost.draft\" = \"sheared-llama-1.3b\"\n" +
         rest;
}

std::string rejected_by_inputs(const std::string& text) {
  const SweepConfig config = tests::config_of(text);
  inputs::Inputs inputs;
  return whole_rejection([&] { read_inputs(sweep_of(config), inputs); });
}

}  // namespace

TEST_CASE("the cost models roofline and measured charge the same as a prediction from the same times") {
  const tests::TemporaryFolder folder;
  latency::Profile measured = latency::tests::modelled_profile(latency::tests::known_model,
                                                               {"llama-2-7b", "sheared-llama-1.3b", "t5-small"}, 0.0);
  latency::tests::add_sampling(measured, 32'000);
  tests::write_text(folder / "p.json", latency::to_json(measured));
  const std::string fixed =
      "[fixed]\nalpha = 0.7\ngamma = 3\n\"cost.target\" = \"llama-2-7b\"\n\"cost.draft\" = \"sheared-llama-1.3b\"\n"
      "\"cost.batch\" = 8\n\"cost.context\" = 128\n\"cost.overhead_ms\" = 0.25\n";
  const auto check = [&](const std::string& cost, const latency::Profile& profile) {
    Scenario scenario = Points(tests::config_of(fixed + cost)).scenario(0);
    inputs::Inputs().attach(scenario);
    answers::ProfileQuestion question{.target = "llama-2-7b", .draft = "sheared-llama-1.3b"};
    question.acceptance = Iid{0.7};
    question.gamma = 3;
    question.batches = {8};
    question.contexts = {128};
    question.overhead_us = 250.0;
    const answers::AtDraftLength three = answers::predict(question, profile).cells.front().lengths[2];
    const ClosedForm answer = analytic::answer(scenario);
    CHECK(answer.speedup == Approx(three.speedup).epsilon(tests::second_route));
    CHECK(std::isnan(answer.best_gamma));
  };
  check("cost = \"roofline\"\n\"cost.device\" = \"h100\"\n", inputs::read_profile("h100").profile);
  check("cost = \"measured\"\n\"cost.profile\" = \"" + (folder / "p.json") + "\"\n", measured);
}

TEST_CASE("operators charge the same in a sweep as in a prediction, including the cost of an iteration") {
  Scenario scenario = Points(tests::config_of("[fixed]\nalpha = 0.7\ngamma = 3\ncost = \"measured\"\n"
                                              "\"cost.profile\" = \"h100-vllm-llama-3.1-8b\"\n"
                                              "\"cost.target\" = \"llama-3.1-8b\"\n"
                                              "\"cost.draft\" = \"eagle3-llama-3.1-8b\"\n"
                                              "\"cost.batch\" = 8\n\"cost.context\" = 512\n"))
                          .scenario(0);
  inputs::Inputs().attach(scenario);
  answers::ProfileQuestion question{.target = "llama-3.1-8b", .draft = "eagle3-llama-3.1-8b", .acceptance = Iid{0.7}};
  question.batches = {8};
  question.contexts = {512};
  question.gamma = 3;
  const answers::ProfilePrediction prediction =
      answers::predict(question, inputs::read_profile("h100-vllm-llama-3.1-8b").profile);
  REQUIRE(prediction.attainable.has_value());
  CHECK(prediction.attainable->iteration_us.value > 0.0);
  CHECK(analytic::answer(scenario).speedup ==
        Approx(prediction.cells.front().lengths[2].speedup).epsilon(tests::second_route));
}

TEST_CASE("formats, devices and engine of a roofline are axes of a sweep, answered like a prediction") {
  const SweepConfig config = tests::config_of(
      "[axes]\n\"cost.target_format\" = [\"bf16\", \"q4_k_m\"]\n\"cost.target_tp\" = [1, 2]\n\"cost.target_pp\" = [1, "
      "2]\n"
      "\"cost.iteration_us\" = [0, 800]\n[fixed]\nalpha = 0.7\ngamma = 3\ncost = \"roofline\"\n"
      "\"cost.device\" = \"h100\"\n\"cost.target\" = \"llama-3.1-8b\"\n\"cost.draft\" = \"llama-3.2-1b\"\n"
      "\"cost.draft_format\" = \"int4\"\n\"cost.kv_format\" = \"fp8\"\n\"cost.batch\" = 16\n"
      "\"cost.bandwidth_efficiency\" = 0.7\n");
  inputs::Inputs inputs;
  const Points points(config);
  REQUIRE(points.count() == 16);
  for (std::uint64_t index = 0; index < points.count(); ++index) {
    Scenario scenario = points.scenario(index);
    inputs.attach(scenario);
    const auto& asked = std::get<Roofline>(scenario.cost);
    answers::ProfileQuestion question{.target = "llama-3.1-8b", .draft = "llama-3.2-1b"};
    question.acceptance = Iid{0.7};
    question.gamma = 3;
    question.batches = {16};
    question.target_deployment = {.weights = latency::weight_formats(*asked.target_format).value(),
                                  .kv_cache = latency::NumberFormat::fp8,
                                  .tensor_parallel = asked.target_tp,
                                  .pipeline_parallel = asked.target_pp};
    question.draft_deployment = {.weights = latency::NumberFormat::int4, .kv_cache = latency::NumberFormat::fp8};
    question.attained.bandwidth_efficiency = 0.7;
    question.attained.iteration_us = asked.iteration_us;
    const answers::AtDraftLength three =
        answers::predict(question, inputs::read_profile("h100").profile).cells.front().lengths[2];
    CHECK(analytic::answer(scenario).speedup == Approx(three.speedup).epsilon(tests::second_route));
  }
}

TEST_CASE("a model that does not fit into memory has no speedup in a sweep and no server") {
  // 26.5 GB of weights and 0.8 MB of cache per token on a card of 51.5e9 bytes.
  const std::string large = roofline_sweep("\"cost.device\" = \"a40\"\n\"cost.context\" = 1024\n");
  const auto speedups = [](const std::string& text) {
    const SweepConfig config = tests::config_of(text);
    inputs::Inputs inputs;
    read_inputs(sweep_of(config), inputs);
    std::vector<double> found;
    for (std::uint64_t index = 0; index < 4; ++index) {
      Scenario scenario = Points(config).scenario(index);
      inputs.attach(scenario);
      found.push_back(analytic::answer(scenario).speedup);
    }
    return found;
  };
  const std::vector<double> all = speedups(large + "\"cost.ignore_memory\" = 1\n");
  const std::vector<double> fitting = speedups(large);
  for (const std::size_t index : {0U, 1U}) CHECK(fitting[index] == all[index]);
  for (const std::size_t index : {2U, 3U}) {
    CHECK(std::isnan(fitting[index]));
    CHECK(std::isfinite(all[index]));
  }
  const std::string server =
      "[fixed]\nfidelity = \"system\"\nalpha = 0.7\ngamma = 3\ncost = \"roofline\"\n\"cost.device\" = \"a40\"\n"
      "\"cost.target\" = \"llama-2-7b\"\n\"cost.draft\" = \"sheared-llama-1.3b\"\nmax_batch = 64\n"
      "arrivals = \"closed\"\n\"arrivals.clients\" = 4\nprompt_tokens = 900\noutput_tokens = 100\n";
  const std::string simulation = "[simulation]\nrequests = 10\n";
  CHECK_THAT(rejected_by_inputs(server + simulation),
             Catch::Contains("does not fit: ") &&
                 Catch::Contains(" at batch 64, context 1000; the largest batch that fits is "));
  CHECK(rejected_by_inputs(server + "\"cost.ignore_memory\" = 1\n" + simulation) == "");
  CHECK(rejected_by_inputs(server + "\"cost.kv_format\" = \"fp8\"\n\"cost.target_tp\" = 2\n" + simulation) == "");
}

TEST_CASE("a roofline rejects unknown formats, and drafts of another vocabulary unless that is allowed") {
  std::string sweep = roofline_sweep("\"cost.device\" = \"h200\"\n");
  CHECK_THAT(rejected_by_inputs(sweep + "\"cost.kv_format\" = \"fp9\"\n"),
             Catch::Contains("fixed.cost.kv_format: ") && Catch::Contains("unknown format \"fp9\""));
  CHECK_THAT(rejected_by_inputs(sweep + "\"cost.target_tp\" = 3\n"), Catch::Contains("must divide the 32 heads"));
  sweep.replace(sweep.find("sheared-llama-1.3b"), 18, "qwen3-0.6b");
  CHECK_THAT(rejected_by_inputs(sweep), Catch::Contains("cost.draft: llama-2-7b has 32000 tokens and qwen3-0.6b has "));
  CHECK(rejected_by_inputs(sweep + "\"cost.allow_vocabulary_mismatch\" = 1\n") == "");
}

TEST_CASE("a sweep over batches of a roofline simulates its closed form, and gamma 0 is autoregressive decoding") {
  const SweepConfig config =
      tests::config_of(roofline_sweep("\"cost.device\" = \"a100-80gb\"\n"
                                      "[simulation]\niterations = 100000\nseed = 1\n"));
  inputs::Inputs inputs;
  read_inputs(sweep_of(config), inputs);
  const Points points(config);
  double before = std::numeric_limits<double>::infinity();
  for (std::uint64_t index = 0; index < points.count(); ++index) {
    Scenario scenario = points.scenario(index);
    inputs.attach(scenario);
    const ClosedForm closed_form = analytic::answer(scenario);
    if (scenario.gamma == 0) {
      CHECK(closed_form.speedup == 1.0);
      continue;
    }
    CHECK(closed_form.speedup < before);  // a larger batch gains less
    before = closed_form.speedup;
    const auto simulator = sim::make_simulator(scenario, *config.simulation);
    const Simulated simulated = sim::estimates_of(scenario, sim::run(*simulator, {1, index}, 1));
    const auto deviation = deviation_in_se(closed_form, simulated, *scenario::find_metric("speedup"));
    REQUIRE(deviation);
    // One standard error is 0.2 %: omitting a batch or an overhead on one side would change it by 5 % or more.
    CHECK(std::abs(*deviation) < tests::standard_errors);
  }
}

TEST_CASE("a sweep rejects unknown times and unknown devices") {
  CHECK(rejected_by_inputs(roofline_sweep("\"cost.device\" = \"h200\"\n")) == "");
  CHECK_THAT(rejected_by_inputs(roofline_sweep("\"cost.device\" = \"h2000\"\n")),
             Catch::Contains("did you mean h200?"));
  std::string misspelt = roofline_sweep("\"cost.device\" = \"h200\"\n");
  misspelt.replace(misspelt.find("llama-2-7b"), 10, "llama-2-7 ");
  CHECK_THAT(rejected_by_inputs(misspelt),
             Catch::Contains("e.toml:8: fixed.cost.target: llama-2-7 : neither a shipped model nor a file"));
  std::string sheet = roofline_sweep("\"cost.profile\" = \"h200\"\n");
  sheet.replace(sheet.find("\"roofline\""), 10, "\"measured\"");
  CHECK_THAT(rejected_by_inputs(sheet), Catch::Contains("h200: a profile of source datasheet"));
  const tests::TemporaryFolder folder;
  const latency::Profile measured =
      latency::tests::modelled_profile(latency::tests::known_model, {"llama-2-7b", "sheared-llama-1.3b"}, 0.0);
  tests::write_text(folder / "p.json", latency::to_json(measured));
  std::string outside = roofline_sweep("\"cost.context\" = 2000\n\"cost.profile\" = \"" + (folder / "p.json") + "\"\n");
  outside.replace(outside.find("\"roofline\""), 10, "\"measured\"");
  CHECK_THAT(rejected_by_inputs(outside), Catch::Contains("cost: llama-2-7b decoder_pass fp16: no time for batch 1"));
}

TEST_CASE("an input is read once: a later file in its place is neither used nor given a digest") {
  const tests::TemporaryFolder folder;
  const std::string profile_path = folder / "p.json";
  const std::string trace_path = folder / "trace.csv";
  const std::string measured = latency::to_json(
      latency::tests::modelled_profile(latency::tests::known_model, {"llama-2-7b", "sheared-llama-1.3b"}, 0.0));
  const std::string trace = "sequence,outcome\n0,1\n0,0\n";
  tests::write_text(profile_path, measured);
  tests::write_text(trace_path, trace);
  const auto timed = [&](std::int64_t gamma) {
    return Scenario{
        .gamma = gamma,
        .cost =
            Measured{{.source = profile_path, .target = "llama-2-7b", .draft = "sheared-llama-1.3b", .context = 128}}};
  };
  const auto replayed = [&](Convention convention) {
    return Scenario{.fidelity = ProcessFidelity{.acceptance = Trace{.file = trace_path}}, .convention = convention};
  };
  inputs::Inputs inputs;
  Scenario first = timed(3);
  Scenario of_trace = replayed(Convention::bonus);
  inputs.attach(first);
  inputs.attach(of_trace);
  const DecodingCost before = scenario::decoding_cost(first).value();
  tests::write_text(profile_path, "no profile any more");
  tests::write_text(trace_path, "sequence,outcome\n0,1\n0,1\n0,1\n");
  Scenario again = timed(3);
  Scenario other = timed(2);
  Scenario of_trace_again = replayed(Convention::no_bonus);
  inputs.attach(again);
  inputs.attach(other);
  inputs.attach(of_trace_again);
  CHECK(scenario::decoding_cost(again).value() == before);
  CHECK(scenario::decoding_cost(other).value() != before);
  CHECK(std::get<Trace>(std::get<ProcessFidelity>(of_trace_again.fidelity).acceptance).recording->sequences ==
        std::vector<std::vector<std::int8_t>>{{1, 0}});
  CHECK(inputs.files() == std::vector<FileDigest>{digest_text(profile_path, measured), digest_text(trace_path, trace)});
}

TEST_CASE("the configuration rejects values that do not fit times of passes") {
  const std::string device = "\"cost.device\" = \"h200\"\n";
  CHECK_THAT(tests::problem_of(roofline_sweep("")), Catch::Contains("fixed.cost.device: missing"));
  CHECK_THAT(tests::problem_of(roofline_sweep(device + "\"cost.profile\" = \"p\"\n")),
             Catch::Contains("fixed.cost.profile: not used") && Catch::Contains("set cost = \"measured\""));
  CHECK_THAT(tests::problem_of(roofline_sweep(device + "drafter = \"mlp_speculator\"\n")),
             Catch::Contains("has no times under cost roofline"));
  std::string policy = roofline_sweep(device + "policy = \"plus2_minus1\"\n");
  policy.replace(policy.find("[0, 3]"), 6, "[2, 3]");
  CHECK_THAT(tests::problem_of(policy), Catch::Contains("not constant under cost roofline"));
  std::string fraction = roofline_sweep(device);
  fraction.replace(fraction.find("[1, 64]"), 7, "[1.5]");
  CHECK_THAT(tests::problem_of(fraction), Catch::Contains("axes.cost.batch: wrong type"));
  CHECK_THROWS_AS(scenario::decoding_cost({.cost = Roofline{}}), std::logic_error);  // nothing was read
}

}  // namespace foredraft::experiments
