// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analytic/answer/answer.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "answers/prediction.hpp"
#include "app/commands/commands.hpp"
#include "app/scenario_options.hpp"
#include "app/texts/texts.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/reproduce/paper_formulas.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "scenario/cost.hpp"
#include "scenario/costs.hpp"
#include "scenario/parameters.hpp"
#include "sim/simulate.hpp"
#include "sim/simulator.hpp"
#include "tests/experiments/config_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

const std::string block_sweep = R"([fixed]
alpha = 0.9
gamma = 12
convention = "no_bonus"
drafter = "block"
cost = "block"
"cost.step_ms" = 8.0
"cost.draft_ms" = 10.0
"cost.verify_ms" = 9.0
"cost.overhead_ms" = 0.5
)";

}  // namespace

TEST_CASE("the block cost model charges what Eq. 4 does, plus a fixed cost of a sentence") {
  const std::string sentences =
      "sequence_length = 27\n\"cost.target_encoder_ms\" = 6\n\"cost.drafter_encoder_ms\" = 5\n"
      "\"cost.fixed_ms\" = 3\n";
  const SweepConfig config = tests::config_of(block_sweep + sentences);
  const ClosedForm answer = analytic::answer(Points(config).scenario(0));
  const double iterations = 27.0 / answer.tokens_per_iteration;
  const BlockLatency latency{
      .target_encoder_ms = 6.0, .drafter_encoder_ms = 5.0, .draft_ms = 10.0, .verify_ms = 9.0 + 0.5, .fixed_ms = 3.0};
  const double plain_ms = 6.0 + 27.0 * 8.0;
  CHECK(answer.speedup == Approx(plain_ms / latency.sentence_ms(iterations)).epsilon(tests::few_ulp));
}

TEST_CASE("without a cost per sentence the block model is the printed Eq. 4, and its best gamma is unbounded") {
  const ClosedForm answer = analytic::answer(Points(tests::config_of(block_sweep)).scenario(0));
  const double tokens = answer.tokens_per_iteration;
  CHECK(answer.speedup == Approx(8.0 * tokens / (10.0 + 9.5)).epsilon(tests::few_ulp));
  CHECK(answer.best_gamma == HUGE_VAL);
  CHECK(answer.best_speedup == Approx(10.0 * 8.0 / 19.5).epsilon(tests::few_ulp));  // 1 / (1 - alpha)
}

TEST_CASE("simulated sentences under the block cost agree with the closed form") {
  for (const std::string distribution : {"fixed", "geometric"}) {
    for (const std::string drafter : {"block", "autoregressive"}) {
      std::string text = block_sweep + fmt::format("sequence_length = 27\nend_of_sequence = \"{}\"\n", distribution) +
                         "\"cost.target_encoder_ms\" = 60\n\"cost.drafter_encoder_ms\" = 50\n\"cost.fixed_ms\" = 30\n"
                         "[simulation]\nsequences = 40_000\nseed = 9\n";
      text.replace(text.find("\"block\"", text.find("drafter")), 7, fmt::format("\"{}\"", drafter));
      const SweepConfig config = tests::config_of(text);
      const Scenario scenario = Points(config).scenario(0);
      const auto simulator = sim::make_simulator(scenario, *config.simulation);
      const Simulated simulated = sim::estimates_of(scenario, sim::run(*simulator, {9, 0}, 2));
      const auto deviation = deviation_in_se(analytic::answer(scenario), simulated, *scenario::find_metric("speedup"));
      INFO(distribution << ' ' << drafter);
      REQUIRE(deviation.has_value());
      // Five standard errors; one is at most 0.25 % of the speedup; an encoder forgotten on one side would be 10 % or
      // more.
      CHECK(std::abs(*deviation) < 5.0);
      CHECK(simulated.estimates.speedup.standard_error < 2.5e-3 * simulated.estimates.speedup.mean);
    }
  }
}

TEST_CASE("measured times of a verification at one step are the constant ratio") {
  Scenario timed{.fidelity = ProcessFidelity{.acceptance = Iid{0.8}},
                 .gamma = 5,
                 .cost = MeasuredTimes{.step_ms = 20.0, .draft_ms = 1.0, .verify_ms = 20.0}};
  Scenario ratio = timed;
  ratio.cost = ConstantRatio{0.05};
  const ClosedForm one = analytic::answer(timed);
  const ClosedForm other = analytic::answer(ratio);
  for (double ClosedForm::*quantity : {&ClosedForm::speedup, &ClosedForm::best_gamma, &ClosedForm::best_speedup}) {
    CHECK(one.*quantity == Approx(other.*quantity).epsilon(tests::few_ulp));
  }
}

TEST_CASE("values that a cost model does not use are rejected, and required ones are reported missing") {
  CHECK_THAT(tests::problem_of(block_sweep + "c = 0.1\n"),
             Catch::Contains("fixed.c: not used") && Catch::Contains("cost = \"constant_ratio\""));
  CHECK_THAT(tests::problem_of(block_sweep + "\"cost.fixed_ms\" = 3\n"),
             Catch::Contains("cost.fixed_ms: not used") && Catch::Contains("add sequence_length"));
  std::string without_step = block_sweep;
  without_step.erase(without_step.find("\"cost.step_ms\""), std::string("\"cost.step_ms\" = 8.0\n").size());
  CHECK_THAT(tests::problem_of(without_step), Catch::Contains("fixed.cost.step_ms: missing"));
  CHECK_THAT(tests::problem_of(block_sweep + "\"cost.baseline\" = 4\n"), Catch::Contains("must be a string"));
  std::string zero_step = block_sweep;
  zero_step.replace(zero_step.find("8.0"), 3, "0.0");
  CHECK_THAT(tests::problem_of(zero_step), Catch::Contains("invalid cost.step_ms=0"));
  CHECK(tests::problem_of("[fixed]\nalpha = 0.9\ngamma = 2\n\"cost.step_ms\" = 3\n").find("set cost = \"block\"") !=
        std::string::npos);
}

TEST_CASE("predict takes measured times, says so, and breaks even where the speedup is one") {
  const auto ask = [](double draft_ms, double verify_ms) {
    return answers::Question{
        .scenario = {.fidelity = ProcessFidelity{.acceptance = Iid{0.8}},
                     .cost = MeasuredTimes{.step_ms = 20.0, .draft_ms = draft_ms, .verify_ms = verify_ms}},
        .gamma = 5};
  };
  const auto predicted = [](const answers::Question& asked) { return analytic::predict(asked.scenario, asked.gamma); };
  const answers::Question dear = ask(2.0, 25.0);
  const analytic::Prediction prediction = predicted(dear);
  CHECK(prediction.asked.speedup.value() == Approx(3.68928 * 20.0 / (25.0 + 5.0 * 2.0)).epsilon(tests::few_ulp));
  answers::Question even = dear;
  std::get<ProcessFidelity>(even.scenario.fidelity).acceptance = Iid{prediction.break_even_alpha.value()};
  CHECK(predicted(even).asked.speedup.value() == Approx(1.0).epsilon(1e-12));
  CHECK(predicted(ask(20.0 * prediction.break_even_c.value(), 25.0)).asked.speedup.value() ==
        Approx(1.0).epsilon(1e-12));
  CHECK_THAT(app::to_text(answers::Answered{dear, prediction}),
             Catch::Contains("verified in 25 ms whatever gamma, a decode\n            step 20 ms\n") &&
                 !Catch::Contains("alpha above c"));
  const auto json = to_json(answers::Answered{dear, prediction});
  CHECK(json["c"] == 0.1);
  CHECK(json["cost"] ==
        nlohmann::ordered_json{{"model", "block"}, {"step_ms", 20.0}, {"draft_ms", 2.0}, {"verify_ms", 25.0}});
  // An iteration that costs less than a step, as with a baseline of beam search: any alpha gains.
  CHECK(predicted(ask(0.5, 10.0)).break_even_alpha.value() == 0.0);
}

TEST_CASE("measured times are given together on the command line, and not with c") {
  const auto read = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--alpha", "0.8", "--gamma", "1"});
    CommandLine line(app::predict_command().spec, arguments);
    const auto scenario = app::read_scenario(line, {});
    line.done();
    return scenario::decoding_cost(scenario.value());
  };
  CHECK(read({"--step-ms", "20", "--draft-ms", "1", "--verify-ms", "21", "--overhead-ms", "0.5"}).value() ==
        DecodingCost{.iteration = 21.5 / 20.0, .draft_pass = 0.05});
  CHECK(read({"--c", "0.25"}).value() == constant_ratio(0.25));
  CHECK_FALSE(read({}).has_value());
  CHECK_THROWS_WITH(read({"--draft-ms", "1", "--c", "0.1"}),
                    Catch::Contains("--c: mutually exclusive with measured times") &&
                        Catch::Contains("--step-ms: missing") && Catch::Contains("--verify-ms: missing"));
}

TEST_CASE("every cost model has a source, and its parameters are in the table of parameters") {
  for (const auto& cost : scenario::costs()) {
    CHECK_FALSE(cost.source.empty());
    for (const auto& parameter : cost.parameters) {
      INFO(parameter.name);
      REQUIRE(scenario::find_parameter(parameter.name) != nullptr);
      CHECK(scenario::find_parameter(parameter.name)->summary == parameter.summary);
    }
  }
}

}  // namespace foredraft::experiments
