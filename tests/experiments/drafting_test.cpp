// SPDX-License-Identifier: Apache-2.0
// Drafters and gamma policies through configurations, sweeps and predictions.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analytic/answer/answer.hpp"
#include "analytic/tokens/token_count.hpp"
#include "answers/prediction.hpp"
#include "app/commands/commands.hpp"
#include "app/scenario_options.hpp"
#include "app/texts/texts.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "scenario/drafters.hpp"
#include "scenario/metrics.hpp"
#include "scenario/parameters.hpp"
#include "scenario/policies.hpp"
#include "sim/estimates.hpp"
#include "sim/ngram/acceptance_study.hpp"
#include "sim/simulate.hpp"
#include "sim/token/models/model_pair.hpp"
#include "tests/experiments/compare_points.hpp"
#include "tests/experiments/config_testing.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {

using tests::compare_points;

TEST_CASE("a configuration that names no policy and no decay resolves as it did before there were any") {
  const SweepConfig config = tests::config_of("[fixed]\nalpha = 0.8\ngamma = 5\ndrafter = \"block\"\nc = 0.1\n");
  const std::string resolved = to_json(config).dump();
  CHECK(resolved.find("policy") == std::string::npos);
  CHECK(resolved.find("decay") == std::string::npos);
  CHECK_FALSE(gamma_varies(config));
  for (const std::string& column : answer_columns(metrics_of(config), config.simulation.has_value()))
    CHECK(column.find("mean_gamma") == std::string::npos);
}

TEST_CASE("heuristic is an alias of plus2_minus1, and its start is resolved") {
  const std::string resolved =
      to_json(tests::config_of("[fixed]\nalpha = 0.8\ngamma = 50\npolicy = \"heuristic\"\n")).dump();
  CHECK_THAT(resolved, Catch::Contains("\"policy\":\"plus2_minus1\"") && Catch::Contains("\"policy.start\":5"));
}

TEST_CASE("the registry of policies and the choices of the parameter are the same") {
  const auto& choices = scenario::find_parameter("policy")->choices;
  CHECK(choices.size() == scenario::policies().size());
  for (const scenario::PolicyMember& entry : scenario::policies()) {
    CHECK(std::find(choices.begin(), choices.end(), entry.name) != choices.end());
  }
  for (const scenario::DrafterMember& entry : scenario::drafters()) {
    for (const auto& parameter : entry.parameters) CHECK(scenario::find_parameter(parameter.name) != nullptr);
  }
}

// 20,000 iterations a point: tokens per iteration to about two percent.
TEST_CASE("sweeps over policies agree with their closed forms, mean gamma included") {
  const SweepConfig config = tests::config_of(
      "[axes]\npolicy = [\"constant\", \"plus2_minus1\", \"optimal_stopping\"]\nalpha = [0.0, 0.7, 1.0]\n"
      "convention = [\"bonus\", \"no_bonus\"]\n[fixed]\ngamma = 12\nc = 0.1\noperations_ratio = 0.1\n"
      "[simulation]\niterations = 20000\nseed = 5\n");
  CHECK(gamma_varies(config));
  CHECK(compare_points(config) > 18 * 6);
  const std::vector<std::string> columns = answer_columns(metrics_of(config), config.simulation.has_value());
  CHECK(std::find(columns.begin(), columns.end(), "mean_gamma_deviation_in_se") != columns.end());
  CHECK(compare_points(tests::config_of("[axes]\n\"policy.threshold\" = [0.0, 0.6]\n\"policy.bias\" = [0.5, 1.0]\n"
                                        "[fixed]\nalpha = 0.7\ngamma = 5\nc = 0.1\npolicy = \"confidence_threshold\"\n"
                                        "\"policy.concentration\" = 3\n[simulation]\niterations = 4000\nseed = 5\n")) >=
        4 * 6);
  CHECK(compare_points(
            tests::config_of("[axes]\npolicy = [\"rejection_probability\", \"svip\", \"optimal_token_stopping\"]\n"
                             "\"policy.concentration\" = [0.5, 3.0]\n[fixed]\nalpha = 0.7\ngamma = 5\nc = 0.1\n"
                             "\"policy.threshold\" = 0.6\n[simulation]\niterations = 4000\nseed = 5\n")) >= 6 * 6);
  CHECK(
      compare_points(tests::config_of("[axes]\npolicy = [\"plus2_minus1\", \"optimal_stopping\"]\n[fixed]\ngamma = 9\n"
                                      "c = 0.1\nprocess = \"beta_mixture\"\n\"process.a\" = 4\n\"process.b\" = 1\n"
                                      "[simulation]\niterations = 10000\nseed = 5\n")) >= 2 * 5);
}

TEST_CASE("the loss of a policy without a closed form is that of its simulation against optimal stopping") {
  const SweepConfig config = tests::config_of(
      "[fixed]\nalpha = 0.8\ngamma = 20\nc = 0.05\npolicy = \"dynamic_threshold\"\n\"policy.concentration\" = 2\n"
      "sequence_length = 100\n[simulation]\nsequences = 100\nseed = 5\n");
  const std::vector<scenario::Metric> metrics = metrics_of(config);
  const std::vector<std::string> columns = answer_columns(metrics, true);
  ClosedForm closed_form;
  closed_form.optimal_speedup = 4.0;
  Simulated simulated{};
  simulated.estimates.speedup = {3.0, 0.2};
  std::string row;
  append_answer(metrics, closed_form, simulated, row);
  std::vector<std::string> cells(1);
  for (const char c : row) c == ',' ? static_cast<void>(cells.emplace_back()) : cells.back().push_back(c);
  REQUIRE(cells.size() == columns.size());
  const auto cell = [&](std::string_view column) {
    return cells[static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin())];
  };
  CHECK(cell("analytic_optimal_speedup") == "4");
  CHECK(cell("analytic_loss").empty());
  CHECK(cell("simulated_loss") == "0.25");
  CHECK(cell("simulated_loss_standard_error") == "0.05");
}

TEST_CASE("sweeps over drafters agree with their closed forms, for infinite and finite text") {
  const std::string drafters =
      "[axes]\ndrafter = [\"block\", \"heads\", \"mlp_speculator\"]\n\"drafter.decay\" = [0.0, 0.8, 1.0]\n"
      "[fixed]\nalpha = 0.9\ngamma = 6\nc = 0.1\noperations_ratio = 0.1\n";
  CHECK(compare_points(tests::config_of(drafters + "[simulation]\niterations = 20000\nseed = 5\n")) >= 9 * 6);
  CHECK(compare_points(
            tests::config_of(drafters + "sequence_length = 25\n[simulation]\nsequences = 1000\nseed = 5\n")) >= 9 * 4);
  const std::string copies =
      "[axes]\n\"drafter.edit_rate\" = [0.0, 0.1, 1.0]\n\"drafter.realign\" = [0, 2]\n"
      "[fixed]\ndrafter = \"input_copy\"\ngamma = 20\nc = 0.1\n";
  CHECK(compare_points(tests::config_of(copies + "[simulation]\niterations = 20000\nseed = 5\n")) >= 6 * 5);
  CHECK(compare_points(tests::config_of(copies + "sequence_length = 25\nend_of_sequence = \"geometric\"\n"
                                                 "[simulation]\nsequences = 1000\nseed = 5\n")) >= 6 * 3);
  CHECK(compare_points(tests::config_of("[axes]\ngamma = [1, 3]\n[fixed]\ndrafter = \"heads\"\nc = 0.1\n"
                                        "\"drafter.accuracies\" = [0.8, 0.6, 0.5]\n"
                                        "[simulation]\niterations = 20000\nseed = 5\n")) >= 2 * 4);
}

TEST_CASE("drafters and policies that do not fit are rejected with what would fit") {
  const std::string base = "[fixed]\nalpha = 0.8\ngamma = 5\n";
  CHECK_THAT(tests::problem_of(base + "\"drafter.decay\" = 0.9\n"),
             Catch::Contains("set drafter = \"block\" or \"heads\""));
  CHECK_THAT(
      tests::problem_of(base + "\"policy.threshold\" = 0.9\n"),
      Catch::Contains("set policy = \"rejection_probability\" or \"entropy_threshold\" or \"confidence_threshold\""));
  CHECK_THAT(tests::problem_of("[fixed]\ngamma = 5\ndrafter = \"heads\"\n\"drafter.accuracies\" = [0.5, 0.4]\n"),
             Catch::Contains("drafter.accuracies has 2 entries"));
  CHECK_THAT(tests::problem_of(base + "[[figure]]\nid = \"f\"\nx = \"alpha\"\ny = \"mean_gamma\"\n"),
             Catch::Contains("mean_gamma is not computed"));
}

TEST_CASE(
    "heads and stages of text are rejected without text, beyond their positions and with options of process fidelity") {
  const std::string token = "fidelity = \"token\"\n[simulation]\niterations = 10\nseed = 1\n";
  const std::string text = "models = { kind = \"ngram\", draft_order = 5 }\n" + token;
  for (const std::string drafter : {"heads", "mlp_speculator"}) {
    CHECK_THAT(tests::problem_of("[fixed]\ngamma = 4\ndrafter = \"" + drafter + "\"\n" + token),
               Catch::Contains(drafter + " needs text in fidelity token"));
    CHECK_THAT(tests::problem_of("[fixed]\ngamma = 17\ndrafter = \"" + drafter + "\"\n" + text),
               Catch::Contains("fixed.gamma: invalid gamma=17"));
    CHECK_THAT(tests::problem_of("[fixed]\ngamma = 4\n\"drafter.decay\" = 0.9\ndrafter = \"" + drafter + "\"\n" + text),
               Catch::Contains("fixed.drafter.decay: not used"));
    // The same drafter in process fidelity needs no text.
    CHECK(tests::problem_of("[fixed]\nalpha = 0.8\ngamma = 17\ndrafter = \"" + drafter + "\"\n").empty());
  }
  CHECK_THAT(tests::problem_of("[fixed]\ngamma = 4\ndrafter = \"mlp_speculator\"\n" + text),
             Catch::Contains("fixed.models.draft_order: invalid models.draft_order=5"));
  CHECK(tests::problem_of("[fixed]\ngamma = 16\ndrafter = \"heads\"\n" + text).empty());
  CHECK_THAT(tests::problem_of("[fixed]\ngamma = 2\n\"drafter.accuracies\" = [0.8, 0.6]\ndrafter = \"heads\"\n" + text),
             Catch::Contains("fixed.drafter.accuracies: not used"));
}

TEST_CASE("a decay of process fidelity has no closed form in token fidelity") {
  const SweepConfig config = tests::config_of(
      "[axes]\nfidelity = [\"process\", \"token\"]\n[fixed]\nalpha = 0.8\ngamma = 2\nc = 0.1\n"
      "drafter = \"heads\"\n\"drafter.decay\" = 0.5\nmodels = { kind = \"ngram\" }\n"
      "[simulation]\niterations = 10\nseed = 1\n");
  const Points points(config);
  CHECK_FALSE(std::isnan(analytic::answer(points.scenario(0)).best_gamma));
  const ClosedForm of_tokens = analytic::answer(points.scenario(1));
  for (const scenario::Metric& metric : scenario::metrics()) {
    if (metric.closed_form != nullptr) CHECK(std::isnan(of_tokens.*metric.closed_form));
  }
}

TEST_CASE(
    "on prose a head's accuracy falls with its position, and that of a stage, which uses the token before, stays "
    "higher",
    "[long]") {
  // 100,000 tokens, 50,000 iterations: standard errors of 0.0012 to 0.0024 for accuracies that differ by 0.02 and more,
  // and of up to 0.007 for acceptances that differ by 0.2 and more.
  const SweepConfig config = tests::config_of(
      "[axes]\ndrafter = [\"heads\", \"mlp_speculator\"]\n[fixed]\nfidelity = \"token\"\ngamma = 4\n"
      "models = { kind = \"ngram\", corpus = \"prose\", vocabulary = 16384 }\n"
      "[simulation]\niterations = 50000\nseed = 1\n");
  inputs::Inputs inputs;
  const Points points(config);
  const auto accuracy = [&](const Scenario& scenario, std::size_t index) {
    const auto trained = std::get<NgramModels>(std::get<TokenFidelity>(scenario.fidelity).models).trained;
    return ngram::alpha(ngram::run_acceptance_study({.target = trained->target,
                                                     .drafter = trained->drafter.value(),
                                                     .index = index,
                                                     .temperature = 1.0,
                                                     .tokens = 100'000},
                                                    {.seed = 1, .point = index}, 2));
  };
  const auto tally = [&](const Scenario& scenario) {
    return sim::run(*sim::make_simulator(scenario, *config.simulation), {.seed = 1, .point = 0}, 2);
  };
  const auto above = [](const Estimate& high, const Estimate& low) {
    INFO(high.mean << " +- " << high.standard_error << " above " << low.mean << " +- " << low.standard_error);
    CHECK(high.mean - low.mean > tests::standard_errors * std::hypot(high.standard_error, low.standard_error));
  };
  Scenario heads = points.scenario(0);
  Scenario stages = points.scenario(1);
  inputs.attach(heads);
  inputs.attach(stages);
  const sim::Tally heads_tally = tally(heads);
  const sim::Tally stages_tally = tally(stages);
  const sim::Acceptance heads_acceptance = sim::acceptance(heads_tally);
  const sim::Acceptance stages_acceptance = sim::acceptance(stages_tally);
  for (std::size_t i = 1; i < 4; ++i) {
    above(accuracy(heads, i - 1), accuracy(heads, i));
    above(accuracy(stages, i), accuracy(heads, i));
    above(stages_acceptance.conditional[i], heads_acceptance.conditional[i]);
  }
  CHECK(accuracy(heads, 0).mean == accuracy(stages, 0).mean);
  CHECK(heads_tally.units.sum(sim::draft_passes) == heads_tally.units.sum(sim::iterations));
  CHECK(stages_tally.units.sum(sim::draft_passes) == 4 * stages_tally.units.sum(sim::iterations));
}

TEST_CASE("options of drafters and policies reach the point") {
  const auto read = [](const std::vector<std::string>& arguments) {
    CommandLine line(app::predict_command().spec, arguments);
    const bool gamma = std::find(arguments.begin(), arguments.end(), "--gamma") != arguments.end();
    const auto scenario = app::read_scenario(
        line, gamma ? std::vector<app::StatedValue>{} : std::vector<app::StatedValue>{{"gamma", std::int64_t{2}}});
    line.done();
    return scenario.value();
  };
  const Scenario copy = read({"--drafter", "input_copy", "--edit-rate", "0.1", "--realign", "2", "--gamma", "9"});
  CHECK(std::get<InputCopy>(copy.drafter).edit_rate == 0.1);
  CHECK(std::get<InputCopy>(copy.drafter).realign == 2);
  CHECK(copy.gamma == 9);
  const Scenario stages = read({"--alpha", "0.8", "--drafter", "mlp_speculator", "--decay", "0.5"});
  CHECK(std::get<MlpSpeculator>(stages.drafter).decay == 0.5);
  CHECK(std::get<MlpSpeculator>(stages.drafter).recovery == 0.5);
  const Scenario policy = read({"--alpha", "0.8", "--policy", "heuristic", "--gamma", "40"});
  CHECK(std::get<Plus2Minus1>(std::get<ProcessFidelity>(policy.fidelity).policy).start == 5);
  CHECK(std::get<Heads>(read({"--drafter", "heads", "--accuracies", "0.5,0.25"}).drafter).accuracies ==
        std::vector<double>{0.5, 0.25});
}

TEST_CASE("a misspelled word on the command line is one problem, and so is an unknown option") {
  const auto problems_of = [](const std::vector<std::string>& arguments) {
    return rejection([&] {
      CommandLine line(app::predict_command().spec, arguments);
      static_cast<void>(app::read_scenario(line, {}));
      line.done();
    });
  };
  CHECK(problems_of({"--policy", "optimal_stoping", "--threshold", "0.5", "--decay", "0.5"}) ==
        "foredraft predict: --policy: unknown policy \"optimal_stoping\"");
  CHECK(problems_of({"--gama", "3", "--threshold", "0.5"}) == "foredraft predict: --gama: unknown option");
}

TEST_CASE("a prediction under a policy has the keys of its schema and the value of the formula") {
  const Scenario scenario{.fidelity = ProcessFidelity{.acceptance = Iid{0.8}, .policy = Plus2Minus1{}},
                          .gamma = 100,
                          .cost = ConstantRatio{0.05}};
  const auto json = answers::varying_prediction_json(scenario);
  CHECK(json["policy"] == "plus2_minus1");
  CHECK(json["gamma"] == 100);
  CHECK(json["mean_gamma"].get<double>() == Approx(5.45).epsilon(0.001));
  CHECK(json["tokens_per_iteration"].get<double>() == Approx(3.67).epsilon(0.001));
  CHECK(json["speedup"].get<double>() ==
        Approx(json["tokens_per_iteration"].get<double>() / (1.0 + 0.05 * json["mean_gamma"].get<double>())));
  CHECK(json["best_gamma"] == 8);
  for (const char* key : {"convention", "drafter", "tokens_variance", "operations_factor", "memory_access_factor",
                          "best_speedup", "real_gamma", "oracle_speedup"}) {
    CHECK(json.contains(key));
  }
  CHECK_THAT(app::varying_prediction_text(scenario),
             Catch::StartsWith("speedup 2.89x: an iteration drafts 5.45 tokens"));
}

TEST_CASE("a drafter whose drafts get worse has an optimum if they cost time, and none if not") {
  answers::Question question{.scenario = {.fidelity = ProcessFidelity{.acceptance = Iid{0.9}},
                                          .drafter = BlockDrafter{.decay = 0.9},
                                          .cost = ConstantRatio{0.05},
                                          .operations_ratio = 0.1},
                             .gamma = 4};
  const analytic::Prediction block = analytic::predict(question.scenario, question.gamma);
  CHECK_FALSE(block.best.gamma.has_value());
  CHECK(block.best.speedup.value() > block.asked.speedup.value());
  CHECK_FALSE(block.best.operations.has_value());
  CHECK(to_json(answers::Answered{question, block})["drafter"] == "block");
  CHECK(to_json(answers::Answered{question, block})["best_gamma"] == "unbounded");
  question.scenario.drafter = MlpSpeculator{.decay = 0.9, .recovery = 0.0};
  const analytic::Prediction paid = analytic::predict(question.scenario, question.gamma);
  // By exhaustive search.
  double best = 0.0;
  for (std::int64_t gamma = 0; gamma <= 30; ++gamma) {
    const double tokens = analytic::tokens_per_iteration(block.marginal, gamma, Convention::bonus);
    best = std::max(best, tokens / (1.0 + 0.05 * static_cast<double>(gamma)));
  }
  CHECK(paid.best.speedup.value() == Approx(best).epsilon(tests::few_ulp));
}

}  // namespace foredraft::experiments
