// SPDX-License-Identifier: Apache-2.0
// Servers whose passes take the times of a device.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "analytic/answer/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "foredraft/scenario.hpp"
#include "inputs/devices.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "sim/simulate.hpp"
#include "tests/experiments/config_testing.hpp"
#include "tests/latency/surfaces/modelled_profile.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::int64_t served_batch = 4;
constexpr std::int64_t served_gamma = 3;

/// Every draft accepted, every place taken, all requests equal: nothing is random.
std::string certain_server(const std::string& more, const std::string& times) {
  return "[fixed]\nfidelity = \"system\"\nalpha = 1.0\nmax_batch = 4\narrivals = \"closed\"\n"
         "\"arrivals.clients\" = 4\n" +
         more + times + "[simulation]\nrequests = 40\nreplicas = 2\nwarmup_requests = 0\nseed = 1\n";
}

// Only the passes: the overhead of engines is tested in surface_cost_test.cpp.
const std::string of_a_sheet =
    "cost = \"roofline\"\n\"cost.device\" = \"a100-80gb\"\n\"cost.target\" = \"llama-2-7b\"\n"
    "\"cost.iteration_us\" = 0\n";
const std::string one_by_one = of_a_sheet + "\"cost.draft\" = \"sheared-llama-1.3b\"\n";

double latency_us(const std::string& text) {
  const SweepConfig config = tests::config_of(text);
  inputs::Inputs inputs;
  read_inputs(sweep_of(config), inputs);
  Scenario scenario = Points(config).scenario(0);
  inputs.attach(scenario);
  const auto simulator = sim::make_simulator(scenario, *config.simulation);
  const Estimates estimates = sim::estimates_of(scenario, sim::run(*simulator, {1, 0}, 1)).estimates;
  CHECK(std::isnan(estimates.speedup.mean));
  CHECK(std::isnan(analytic::answer(scenario).latency_ms));  // caches grow: no closed form
  return 1e3 * estimates.latency_ms.mean;
}

latency::PairSurface a100(const std::string& drafter, latency::Role drafting) {
  const latency::Profile sheet = inputs::read_profile("a100-80gb").profile;
  return {sheet,        latency::model_registry(),
          "llama-2-7b", drafter,
          drafting,     latency::SheetPair{.attainable = latency::attainable_of(sheet)}};
}

/// With known times for context lengths of `shortest` to `shortest` + 896 tokens.
latency::Profile served_profile(std::int64_t shortest) {
  constexpr std::int64_t modelled_shortest = 128;
  latency::Profile profile =
      latency::tests::modelled_profile(latency::tests::known_model, {"llama-2-7b", "sheared-llama-1.3b"}, 0.0);
  for (latency::StepRow& row : profile.steps) row.cell.context += shortest - modelled_shortest;
  return profile;
}

std::string of_profile(const std::string& path, const latency::Profile& profile) {
  tests::write_text(path, latency::to_json(profile));
  return "cost = \"measured\"\n\"cost.profile\" = \"" + path +
         "\"\n\"cost.target\" = \"llama-2-7b\"\n\"cost.draft\" = \"sheared-llama-1.3b\"\n";
}

std::string rejected_server(const std::string& text) {
  const SweepConfig config = tests::config_of(text);
  inputs::Inputs inputs;
  return whole_rejection([&] { read_inputs(sweep_of(config), inputs); });
}

}  // namespace

TEST_CASE("a server with the times of a device takes the sum of its passes, each at its context length") {
  const latency::PairSurface pair = a100("sheared-llama-1.3b", latency::Role::autoregressive_drafting);
  constexpr double rounding = 1e-6;  // times are whole nanoseconds
  double plain_us = 0.0;
  for (std::int64_t token = 0; token < 6; ++token) plain_us += pair.target_pass(1, served_batch, token).time_us;
  CHECK(latency_us(certain_server("gamma = 0\noutput_tokens = 6\n", one_by_one)) == Approx(plain_us).epsilon(rounding));
  // A prompt of 100 tokens yields the first token; two iterations of four tokens follow.
  const std::string nine = "gamma = 3\noutput_tokens = 9\nprompt_tokens = 100\n";
  const auto two_iterations_us = [&](const latency::PairSurface& times, auto&& drafting_us) {
    double us = times.target_pass(100, served_batch, 0, true).time_us;
    for (const std::int64_t context : {101, 105}) {
      us += times.target_pass(served_gamma + 1, served_batch, context).time_us + drafting_us(context);
    }
    return us;
  };
  const double autoregressive_us =
      pair.drafter_pass(100, served_batch, 0, true).time_us + two_iterations_us(pair, [&](std::int64_t context) {
        return served_gamma * pair.drafting(1, served_batch, context + 1).time_us;
      });
  CHECK(latency_us(certain_server(nine, one_by_one)) == Approx(autoregressive_us).epsilon(rounding));
  // Heads read no prompt.
  const latency::PairSurface heads = a100("llama-2-7b", latency::Role::head_drafting);
  const double heads_us = two_iterations_us(
      heads, [&](std::int64_t context) { return heads.drafting(served_gamma, served_batch, context).time_us; });
  CHECK(latency_us(certain_server(nine + "drafter = \"heads\"\n", of_a_sheet + "\"cost.draft\" = \"llama-2-7b\"\n")) ==
        Approx(heads_us).epsilon(rounding));
}

TEST_CASE("a server on a measured profile charges sampling and verification of tokens") {
  const std::int64_t vocabulary = latency::find_model(latency::model_registry(), "llama-2-7b").vocabulary;
  const tests::TemporaryFolder folder;
  latency::Profile profile = served_profile(0);
  const std::string passes = of_profile(folder / "passes.json", profile);
  latency::tests::add_sampling(profile, vocabulary);
  const std::string all = of_profile(folder / "all.json", profile);
  const auto sampling_us = [vocabulary](std::int64_t gamma) {
    const double draws_us =
        static_cast<double>(gamma) * latency::tests::modelled_sampling_us(served_batch, 0, vocabulary);
    return draws_us + latency::tests::modelled_sampling_us(served_batch, gamma, vocabulary);
  };
  const auto paid_us = [&](const std::string& lengths) {
    return latency_us(certain_server(lengths, all)) - latency_us(certain_server(lengths, passes));
  };
  // Rounding to nanoseconds in two answers of at most ten passes each (two for the prompt, twice three drafts and a
  // target pass).
  constexpr double rounding_us = 2 * 10 * 0.5e-3;
  CHECK(paid_us("gamma = 0\noutput_tokens = 6\n") == Approx(6.0 * sampling_us(0)).margin(rounding_us));
  CHECK(paid_us("gamma = 3\noutput_tokens = 8\n") == Approx(2.0 * sampling_us(3)).margin(rounding_us));
  // The prompt yields the first token.
  CHECK(paid_us("gamma = 3\noutput_tokens = 9\nprompt_tokens = 8\n") ==
        Approx(sampling_us(0) + 2.0 * sampling_us(3)).margin(rounding_us));
  CHECK(paid_us("gamma = 3\noutput_tokens = 6\nconvention = \"no_bonus\"\n") ==
        Approx(2.0 * sampling_us(3)).margin(rounding_us));
}

TEST_CASE("a schedule of gamma on a device drafts by batch size") {
  const latency::PairSurface pair = a100("sheared-llama-1.3b", latency::Role::autoregressive_drafting);
  const double plain_us = pair.target_pass(1, served_batch, 0).time_us + pair.target_pass(1, served_batch, 1).time_us;
  const std::string two = "output_tokens = 2\n";
  CHECK(latency_us(certain_server(two + "gamma_schedule = [[1, 3, 3], [4, 4, 0]]\n", one_by_one)) ==
        Approx(plain_us).epsilon(1e-6));
  CHECK(latency_us(certain_server(two + "gamma_schedule = [[1, 3, 0], [4, 4, 1]]\n", one_by_one)) ==
        Approx(pair.target_pass(2, served_batch, 0).time_us + pair.drafting(1, served_batch, 0).time_us).epsilon(1e-6));
}

TEST_CASE("a server with unknown times is rejected before it runs") {
  const std::string some = "gamma = 3\noutput_tokens = 9\n";
  CHECK(rejected_server(certain_server(some, one_by_one)) == "");
  std::string elsewhere = certain_server(some, one_by_one);
  elsewhere.replace(elsewhere.find("a100-80gb"), 9, "a100-08gb");
  CHECK_THAT(rejected_server(elsewhere), Catch::Contains("did you mean one of a100-40gb, a100-80gb,"));
  // A KV cache begins empty: a profile without a context of 0 tokens cannot time a server.
  const tests::TemporaryFolder folder;
  const std::string unknown = "cost: llama-2-7b decoder_pass fp16: no time for batch 1, 4 tokens and context ";
  CHECK_THAT(rejected_server(certain_server(some, of_profile(folder / "long.json", served_profile(128)))),
             Catch::Contains(unknown + "0"));
  const std::string known = of_profile(folder / "short.json", served_profile(0));
  CHECK(rejected_server(certain_server(some, known)) == "");
  // The last tokens of an answer have the longest context.
  CHECK_THAT(rejected_server(certain_server("gamma = 3\noutput_tokens = 3000\n", known)),
             Catch::Contains(unknown + "3000"));
}

TEST_CASE("a server takes its times from one source") {
  const std::string some = "gamma = 3\noutput_tokens = 9\n";
  CHECK(tests::problem_of(certain_server(some, one_by_one)).empty());
  CHECK_THAT(tests::problem_of(certain_server(some + "target_step = { weights_ms = 1 }\n", one_by_one)),
             Catch::Contains("fixed.target_step.weights_ms: not used"));
  CHECK_THAT(tests::problem_of(certain_server(some, one_by_one + "\"cost.batch\" = 4\n")),
             Catch::Contains("fixed.cost.batch: not used"));
  CHECK_THAT(tests::problem_of(certain_server(some, "cost = \"roofline\"\n\"cost.device\" = \"h100\"\n")),
             Catch::Contains("fixed.cost.target: missing"));
  CHECK_THAT(tests::problem_of(certain_server(some, "cost = \"block\"\n")),
             Catch::Contains("fixed.cost: block in fidelity system"));
  CHECK_THAT(tests::problem_of(certain_server(some, "")), Catch::Contains("fixed.target_step.weights_ms: missing"));
}

}  // namespace foredraft::experiments
