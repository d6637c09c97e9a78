// SPDX-License-Identifier: Apache-2.0
// Servers through configurations and sweeps.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "inputs/inputs.hpp"
#include "scenario/check.hpp"
#include "tests/experiments/compare_points.hpp"
#include "tests/experiments/config_testing.hpp"

namespace foredraft::experiments {
namespace {

const std::string server =
    "fidelity = \"system\"\nalpha = 0.7\n"
    "target_step = { weights_ms = 1, token_ms = 0.3 }\ndrafter_step = { weights_ms = 0.1 }\n";
const std::string requests = "[simulation]\nrequests = 2000\nseed = 3\n";

std::string problem_of_server(const std::string& more, const std::string& plan = requests) {
  return tests::problem_of("[fixed]\n" + server + more + plan);
}

}  // namespace

TEST_CASE("a server is resolved with its defaults, and without those of text and tokens") {
  const SweepConfig config = tests::config_of("[fixed]\n" + server +
                                              "gamma = 2\nmax_batch = 4\narrivals.rate_per_s = 5\noutput_tokens = 9\n"
                                              "latency_goal_ms = 50\n" +
                                              requests);
  CHECK(scenario::to_text(*fixed_value(config, "batching")) == "continuous");
  CHECK(scenario::to_text(*fixed_value(config, "arrivals")) == "poisson");
  CHECK(scenario::to_text(*fixed_value(config, "prompt_tokens")) == "0");
  CHECK(scenario::to_text(*fixed_value(config, "target_step.launch_ms")) == "0");
  CHECK(fixed_value(config, "process") == nullptr);
  CHECK(fixed_value(config, "cost") == nullptr);
  CHECK(config.simulation->requests == 2000);
  CHECK(config.simulation->replicas == as_load_needs);
  CHECK(config.simulation->warmup_requests == as_load_needs);
  const auto served = std::get<Server>(Points(config).scenario(0).fidelity);
  CHECK(served.target_step.weights_us == 1000.0);
  CHECK(served.target_step.token_us == 300.0);
  CHECK(served.latency_goal_us == 50'000.0);
  const std::vector<std::string> columns = answer_columns(metrics_of(config), config.simulation.has_value());
  for (const char* column : {"simulated_latency_p99_ms", "simulated_goodput_tokens_per_s", "analytic_wait_ms"}) {
    CHECK(std::find(columns.begin(), columns.end(), column) != columns.end());
  }
}

TEST_CASE("values that a plan leaves to the load stay open when it is written and read again") {
  const std::string rest = "gamma = 2\nmax_batch = 4\narrivals.rate_per_s = 5\noutput_tokens = 9\n";
  const auto simulation_of = [&](const std::string& plan) {
    const SweepConfig config = tests::config_of("[fixed]\n" + server + rest + "[simulation]\nseed = 1\n" + plan);
    const std::string text = to_json(config).dump();
    CHECK(to_json(read_sweep_config(inputs::parse_json_document(text, "m"), "m")).dump() == text);
    return nlohmann::json::parse(text)["simulation"].dump();
  };
  CHECK(simulation_of("") == R"({"path":"fast","seed":1})");
  CHECK(simulation_of("replicas = 4\n") == R"({"path":"fast","replicas":4,"seed":1})");
  CHECK(simulation_of("requests = 10\nwarmup_requests = 0\n") ==
        R"({"path":"fast","requests":10,"seed":1,"warmup_requests":0})");
}

TEST_CASE("a server takes an engine, lengths by mean and percentile, cached prefixes and the cost of a switch") {
  const std::string rest =
      "gamma_schedule = [[1, 2, 3], [3, 4, 0]]\nswitch_ms = 2.5\nswitch_margin = 1\nmax_batch = 4\n"
      "arrivals.rate_per_s = 5\noutput_tokens = 9\noutput_lengths = \"lognormal\"\noutput_p95 = 20\n"
      "prompt_tokens = 50\nprompt_lengths = \"lognormal\"\nprompt_p95 = 100\nprefix_hit = 0.5\n"
      "engine = \"vllm\"\n";
  const SweepConfig config = tests::config_of("[fixed]\n" + server + rest + requests);
  auto scenario = Points(config).scenario(0);
  const auto& served = std::get<Server>(scenario.fidelity);
  CHECK(served.switch_us == 2500.0);
  CHECK(served.switch_margin == 1);
  CHECK(served.output.p95 == 20.0);
  CHECK(served.prompt.p95 == 100.0);
  CHECK(served.prefix_hit == 0.5);
  CHECK(served.engine_name == "vllm");
  CHECK_THROWS_WITH(scenario::check_read(scenario), Catch::Contains("the terms of \"vllm\" were not read"));
  inputs::Inputs().attach(scenario);
  CHECK(served.engine_name.empty());
  CHECK(served.engine.prefill == Prefill::chunked);
  CHECK_NOTHROW(scenario::check_read(scenario));
  const auto problem = [](const std::string& more) {
    return problem_of_server("gamma = 2\nmax_batch = 4\narrivals.rate_per_s = 5\noutput_tokens = 9\n" + more);
  };
  CHECK_THAT(problem("output_lengths = \"lognormal\"\n"), Catch::Contains("fixed.output_p95: missing"));
  CHECK_THAT(problem("output_lengths = \"lognormal\"\noutput_p95 = 9\n"),
             Catch::Contains("fixed.output_p95: invalid output_p95=9 (must be above the mean, 9, and at most 34.812"));
  CHECK_THAT(problem("output_p95 = 20\n"), Catch::Contains("fixed.output_p95: not used"));
  CHECK_THAT(problem("switch_ms = 2\n"), Catch::Contains("fixed.switch_ms: not used"));
  CHECK_THAT(problem("prefix_hit = 1\n"), Catch::Contains("fixed.prefix_hit: invalid prefix_hit=1"));
}

TEST_CASE("recorded arrivals need a file, and no lengths") {
  const std::string rest = "gamma = 2\nmax_batch = 4\narrivals = \"recorded\"\n";
  CHECK_THAT(problem_of_server(rest), Catch::Contains("fixed.arrivals.file: missing"));
  CHECK_THAT(problem_of_server(rest + "\"arrivals.file\" = \"r.csv\"\noutput_tokens = 9\n"),
             Catch::Contains("fixed.output_tokens: not used"));
  CHECK(problem_of_server(rest + "\"arrivals.file\" = \"r.csv\"\n").empty());
}

TEST_CASE("sweeps without a server have none of its columns and inputs") {
  const SweepConfig config =
      tests::config_of("[fixed]\nalpha = 0.8\ngamma = 5\n[simulation]\niterations = 9\nseed = 1\n");
  for (const std::string& column : answer_columns(metrics_of(config), config.simulation.has_value()))
    CHECK(column.find("_ms") == std::string::npos);
  CHECK(to_json(config).dump().find("replicas") == std::string::npos);
  CHECK(to_json(config).dump().find("batch") == std::string::npos);
}

TEST_CASE("a schedule of gamma is read, written and read again, fixed and as an axis") {
  const std::string rest = "max_batch = 8\narrivals.rate_per_s = 5\noutput_tokens = 9\n";
  const SweepConfig config = tests::config_of(
      "[axes]\ngamma_schedule = [[[1, 4, 3], [5, 100, 0]], [[1, 8, 2]]]\n[fixed]\n" + server + rest + requests);
  CHECK(scenario::to_text(config.axes.front().values.front()) == "1-4:3 5-100:0");
  CHECK(gamma_varies(config));
  const SweepConfig again =
      read_sweep_config(inputs::parse_json_document(to_json(config).dump(), "manifest.json"), "manifest.json");
  CHECK(to_json(again).dump() == to_json(config).dump());
  const auto served = std::get<Server>(Points(again).scenario(0).fidelity);
  REQUIRE(served.gamma_schedule.size() == 2);
  CHECK(served.gamma_schedule[1].from_batch == 5);
  CHECK(served.gamma_schedule[1].gamma == 0);
}

TEST_CASE("missing, unused and unsupported values of a server are rejected with their reason") {
  const std::string rest = "gamma = 2\nmax_batch = 4\narrivals.rate_per_s = 5\noutput_tokens = 9\n";
  CHECK(problem_of_server(rest) == "");
  const std::string missing = problem_of_server("");
  for (const char* name : {"gamma", "max_batch", "arrivals.rate_per_s", "output_tokens"}) {
    CHECK_THAT(missing, Catch::Contains(std::string("fixed.") + name + ": missing"));
  }
  CHECK(missing.find("clients") == std::string::npos);
  CHECK_THAT(problem_of_server("arrivals = \"closed\"\n"), Catch::Contains("fixed.arrivals.clients: missing"));
  CHECK_THAT(problem_of_server(rest + "gamma_schedule = [[1, 4, 2]]\n"), Catch::Contains("fixed.gamma: not used"));
  const std::string scheduled = "max_batch = 4\narrivals.rate_per_s = 5\noutput_tokens = 9\n";
  CHECK_THAT(problem_of_server(scheduled + "gamma_schedule = [[1, 3, 2]]\n"),
             Catch::Contains("fixed.gamma_schedule: invalid gamma schedule: ends at batch 3 (must reach max_batch=4)"));
  CHECK_THAT(problem_of_server(scheduled + "gamma_schedule = [[1, 4]]\n"),
             Catch::Contains("must be rows [first batch, last batch, gamma]"));
  CHECK_THAT(problem_of_server(rest, "[simulation]\niterations = 5\nseed = 1\n"),
             Catch::Contains("simulation.iterations: not used") && !Catch::Contains("simulation.requests"));
  CHECK_THAT(
      tests::problem_of("[fixed]\nalpha = 0.5\ngamma = 2\n[simulation]\niterations = 5\nrequests = 5\nseed = 1\n"),
      Catch::Contains("simulation.requests: not used"));
}

TEST_CASE("a server takes acceptance by position, an overhead and an admission, and omits those not stated") {
  const std::string rest =
      "fidelity = \"system\"\ngamma = 2\nmax_batch = 4\narrivals.rate_per_s = 5\noutput_tokens = 9\n"
      "target_step = { weights_ms = 1 }\ndrafter_step = { weights_ms = 0.1 }\n";
  const std::string positional = "process = \"positional\"\n\"process.marginal\" = [0.8, 0.6]\n";
  const SweepConfig config =
      tests::config_of("[fixed]\n" + rest + positional + "overhead_us = 30\nadmission = \"all\"\n" + requests);
  const auto served = std::get<Server>(Points(config).scenario(0).fidelity);
  CHECK(std::get<Positional>(served.acceptance).conditional.at(1) == 0.6 / 0.8);
  CHECK(served.overhead_us == 30.0);
  CHECK(served.admission == Admission::all);
  const SweepConfig plain = tests::config_of("[fixed]\nalpha = 0.7\n" + rest + requests);
  for (const char* name : {"process", "overhead_us", "admission"}) CHECK(fixed_value(plain, name) == nullptr);
  const auto problem = [&](const std::string& more) { return tests::problem_of("[fixed]\n" + rest + more + requests); };
  CHECK_THAT(problem("alpha = 0.7\n" + positional), Catch::Contains("fixed.alpha: not used"));
  CHECK_THAT(problem("process = \"positional\"\n"), Catch::Contains("fixed.process.conditional: missing"));
  CHECK_THAT(problem("process = \"positional\"\n\"process.conditional\" = [0.8]\n"),
             Catch::Contains("fixed.gamma: invalid gamma=2 (process.conditional has 1 entries)"));
  CHECK_THAT(problem("process = \"markov\"\n\"process.a\" = 0.8\n\"process.b\" = 0.8\n"),
             Catch::Contains("fixed.process: markov in fidelity system"));
  const std::string runs = "process = \"runs\"\n\"process.a\" = 0.8\n\"process.b\" = 0.6\n";
  CHECK(problem(runs).empty());
  CHECK_THAT(problem(runs + "batching = \"lockstep\"\n"),
             Catch::Contains("fixed.process: runs with batching lockstep"));
  CHECK_THAT(problem(runs + "convention = \"no_bonus\"\n"), Catch::Contains("no_bonus"));
  CHECK_THAT(problem("alpha = 0.7\nbatching = \"ragged\"\nadmission = \"all\"\n"),
             Catch::Contains("fixed.admission: not used"));
  CHECK_THAT(problem("alpha = 0.7\noverhead_us = -1\n"), Catch::Contains("fixed.overhead_us: invalid overhead_us=-1"));
  const std::string scheduled =
      "fidelity = \"system\"\nmax_batch = 4\narrivals.rate_per_s = 5\noutput_tokens = 9\n"
      "target_step = { weights_ms = 1 }\ndrafter_step = { weights_ms = 0.1 }\n";
  CHECK_THAT(
      tests::problem_of("[fixed]\n" + scheduled + positional + "gamma_schedule = [[1, 2, 3], [3, 4, 1]]\n" + requests),
      Catch::Contains("fixed.gamma_schedule: invalid gamma=3 (process.marginal has 2 entries)"));
}

// 32 replicas of a few hundred requests: throughputs to about 1 %, waits to about 5 % (five standard errors).
TEST_CASE("servers agree with their closed forms, full and with a queue") {
  const std::string full =
      "arrivals = \"closed\"\n\"arrivals.clients\" = 12\nmax_batch = 4\ngamma = 3\noutput_tokens = 24\n";
  const std::string plan = "[simulation]\nrequests = 3200\nwarmup_requests = 20\nseed = 3\n";
  CHECK(tests::compare_points(tests::config_of(
            "[axes]\nbatching = [\"continuous\", \"ragged\", \"lockstep\"]\ndrafter = [\"autoregressive\", \"block\"]\n"
            "[fixed]\n" +
            server + full + plan)) >= 2 * (6 + 4 + 3));
  CHECK(tests::compare_points(tests::config_of(
            "[axes]\nprompt_tokens = [0, 5]\n[fixed]\noutput_lengths = \"geometric\"\n" + server + full + plan)) >=
        5 + 3);
  CHECK(tests::compare_points(tests::config_of(
            "[axes]\nprompt_tokens = [0, 5]\ngamma = [0, 3]\n[fixed]\noutput_tokens = 8\nmax_batch = 1\n"
            "arrivals.rate_per_s = 80\n" +
            server + "[simulation]\nrequests = 48000\nwarmup_requests = 200\nseed = 3\n")) >= 4 * 3);
  const std::string steps =
      "fidelity = \"system\"\noverhead_us = 400\ntarget_step = { weights_ms = 1, token_ms = 0.3 }\n"
      "drafter_step = { weights_ms = 0.1 }\n";
  for (const char* acceptance : {"process = \"positional\"\n\"process.conditional\" = [0.8, 0.6, 0.7]\n",
                                 "process = \"beta_mixture\"\n\"process.a\" = 2\n\"process.b\" = 1\n"}) {
    CHECK(tests::compare_points(
              tests::config_of("[axes]\nbatching = [\"continuous\", \"ragged\", \"lockstep\"]\n[fixed]\n" + steps +
                               acceptance + full + plan)) >= 5 + 3 + 2);
  }
}

}  // namespace foredraft::experiments
