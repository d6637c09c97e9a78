// SPDX-License-Identifier: Apache-2.0
// Methods compared: each near its closed form and below its bound; exact methods lose nothing.
#include "answers/methods.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/texts/texts.hpp"
#include "core/files.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "scenario/methods.hpp"
#include "sim/ngram/acceptance_study.hpp"
#include "sim/ngram/speculation.hpp"
#include "sim/token/models/model_pair.hpp"
#include "tests/sim/ngram/generated_text.hpp"
#include "tests/support/schema_check.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::answers {
namespace {

MethodsQuestion small_question() {
  MethodsQuestion question;
  question.models.vocabulary = 50;
  question.models.pool = 16;
  question.temperatures = {0.0, 1.0};
  question.iterations = 10'000;
  return question;
}

const MethodRow& row_of(const MethodsAnswer& answer, std::string_view method, double temperature) {
  const auto found = std::ranges::find_if(
      answer.rows, [&](const MethodRow& row) { return row.method == method && row.temperature == temperature; });
  REQUIRE(found != answer.rows.end());
  return *found;
}

const MethodRow& row_of(const MethodsAnswer& answer, std::string_view pair, std::string_view method,
                        double temperature) {
  const auto found = std::ranges::find_if(answer.rows, [&](const MethodRow& row) {
    return row.pair == pair && row.method == method && row.temperature == temperature;
  });
  REQUIRE(found != answer.rows.end());
  return *found;
}

/// A target of order 3 and a drafter of order 2 of one text.
NgramModels text_models() {
  const auto documents = tests::generated_documents(tests::generated_vocabulary, 200, 7);
  return {.trained = std::make_shared<const TrainedModels>(TrainedModels{
              .target = ngram::Model::train(documents, tests::generated_vocabulary, 3),
              .drafter = ngram::ngram_drafter(ngram::Model::train(documents, tests::generated_vocabulary, 2))})};
}

/// Two synthetic pairs and one of text.
MethodsQuestion question_of_pairs() {
  MethodsQuestion question = small_question();
  SyntheticModels hard = question.models;
  hard.alpha = 0.5;
  question.pairs = {{.name = "easy", .models = question.models},
                    {.name = "hard", .models = hard},
                    {.name = "text", .models = text_models(), .pool = 200}};
  question.iterations = 4'000;
  return question;
}

std::size_t methods_without_text() {
  return static_cast<std::size_t>(
      std::ranges::count_if(compared_methods(), [](const std::string& method) { return !method_needs_text(method); }));
}

}  // namespace

TEST_CASE("every compared method is answered at every temperature, near its closed form and below its bound") {
  const MethodsAnswer answer = compare_methods(small_question());
  CHECK(answer.rows.size() == 2 * methods_without_text());
  CHECK(answer.acceptances[1] == Approx(0.8).margin(1e-6));
  for (const MethodRow& row : answer.rows) {
    CAPTURE(row.method, row.temperature, row.setting, row.speedup.mean, row.closed_form, row.bound);
    CHECK(row.speedup.mean > 0.0);
    if (!std::isnan(row.deviation_in_se)) CHECK(std::abs(row.deviation_in_se) <= tests::standard_errors);
    if (!std::isnan(row.bound)) {
      CHECK(row.speedup.mean <= row.bound + tests::standard_errors * row.speedup.standard_error + 1e-9);
    }
    CHECK(row.exact == scenario::find_method(row.method)->exact);
    if (row.exact) CHECK(row.loss == 0.0);
    if (!std::isnan(row.iteration_cost)) {
      CHECK(row.speedup.mean == Approx(row.tokens_per_iteration.mean / row.iteration_cost));
    }
  }
  // In each temperature the fastest first.
  const auto half = answer.rows.begin() + static_cast<std::ptrdiff_t>(methods_without_text());
  const auto slower = [](const MethodRow& one, const MethodRow& other) {
    return one.speedup.mean > other.speedup.mean;
  };
  CHECK(std::is_sorted(answer.rows.begin(), half, slower));
  CHECK(std::is_sorted(half, answer.rows.end(), slower));
}

TEST_CASE("theoretical orders hold: block over token-wise verification, optimum over K-SEQ, DSI over a chain") {
  MethodsQuestion question = small_question();
  question.gamma = 4;
  question.iterations = 40'000;
  const MethodsAnswer answer = compare_methods(question);
  const auto tokens = [&](std::string_view method) { return row_of(answer, method, 1.0).tokens_per_iteration; };
  const auto noise = [&](std::string_view method) { return tests::standard_errors * tokens(method).standard_error; };
  CHECK(tokens("block_verification").mean >= tokens("speculative_sampling").mean - noise("block_verification"));
  CHECK(tokens("specinfer").mean >= tokens("speculative_sampling").mean - noise("specinfer"));
  CHECK(row_of(answer, "specinfer", 1.0).bound == row_of(answer, "spectr", 1.0).bound);
  CHECK(row_of(answer, "dsi", 1.0).closed_form > row_of(answer, "speculative_sampling", 1.0).closed_form);
  CHECK(row_of(answer, "dynamic_tree", 1.0).bound == row_of(answer, "static_tree", 1.0).bound);
  // At temperature 0 every rule of one draft is greedy decoding, and only rules that use the drafter's probabilities
  // lose anything.
  for (const char* method : {"block_verification", "greedy_match", "typical_acceptance", "lenience"}) {
    CHECK(row_of(answer, method, 0.0).tokens_per_iteration.mean ==
          row_of(answer, "speculative_sampling", 0.0).tokens_per_iteration.mean);
    CHECK(row_of(answer, method, 0.0).loss == 0.0);
  }
}

TEST_CASE("a row depends only on its method, and aliases name the same method") {
  MethodsQuestion question = small_question();
  question.iterations = 2'000;
  const MethodsAnswer all = compare_methods(question, 2);
  question.methods = {"EAGLE-2", "dynamic_tree", "pearl"};
  question.temperatures = {1.0};
  const MethodsAnswer some = compare_methods(question, 1);
  REQUIRE(some.rows.size() == 2);
  for (const char* method : {"dynamic_tree", "pearl"}) {
    CHECK(row_of(some, method, 1.0).speedup.mean == row_of(all, method, 1.0).speedup.mean);
  }
}

TEST_CASE("invalid requests are rejected, with what to do") {
  const auto refused = [](auto change) {
    MethodsQuestion question = small_question();
    change(question);
    CHECK_THROWS_AS(compare_methods(question), DomainError);
  };
  refused([](MethodsQuestion& question) { question.methods = {"no method"}; });
  refused([](MethodsQuestion& question) { question.methods = {"layerskip"}; });
  refused([](MethodsQuestion& question) { question.temperatures = {}; });
  refused([](MethodsQuestion& question) { question.temperatures = {-1.0}; });
  refused([](MethodsQuestion& question) { question.gamma = 0; });
  refused([](MethodsQuestion& question) { question.iterations = 1; });
  refused([](MethodsQuestion& question) { question.price.c = 1.5; });
  refused([](MethodsQuestion& question) { question.price.drafting = Drafting::block; });
  refused([](MethodsQuestion& question) { question.price.verification = {1.0}; });
  refused([](MethodsQuestion& question) { question.price.verification = {1.0, -1.0}; });
  refused([](MethodsQuestion& question) { question.methods = {"medusa"}; });
  refused([](MethodsQuestion& question) { question.methods = {"prompt_lookup"}; });  // there is no text to copy
  refused([](MethodsQuestion& question) { question.pairs = {{.name = "", .models = question.models}}; });
  refused([](MethodsQuestion& question) {
    question.pairs = {{.name = "one", .models = question.models}, {.name = "one", .models = question.models}};
  });
  refused([](MethodsQuestion& question) { question.pairs = {{.name = "untrained", .models = NgramModels{}}}; });
  refused([](MethodsQuestion& question) { question.pairs = {{.name = "text", .models = text_models(), .pool = 1}}; });
  const auto refused_parameter = [&](const char* method, const char* parameter, double value) {
    refused([&](MethodsQuestion& question) {
      question.methods = {"lenience", "pearl", "speculative_sampling"};
      question.parameters = {{method, parameter, {value}}};
    });
  };
  refused_parameter("lenience", "rule.lenience", 2.0);
  refused_parameter("lenience", "rule.epsilon", 0.5);
  refused_parameter("speculative_sampling", "rule.lenience", 0.5);
  refused_parameter("pearl", "rule.lenience", 0.5);
  refused_parameter("typical_acceptance", "rule.epsilon", 0.5);  // not among the methods
  refused_parameter("no method", "rule.epsilon", 0.5);
}

TEST_CASE(
    "several pairs give the answers of single pairs, also text with input copying at the temperatures it allows") {
  MethodsQuestion question = question_of_pairs();
  question.temperatures = {0.0, 0.7, 1.0};
  const MethodsAnswer answer = compare_methods(question);
  const std::size_t methods = methods_without_text();
  CHECK(answer.rows.size() == 9 * methods + 2 * (compared_methods().size() - methods));
  REQUIRE(answer.acceptances.size() == 9);
  CHECK(answer.acceptances[2] == Approx(0.8).margin(1e-6));
  CHECK(answer.acceptances[5] == Approx(0.5).margin(1e-6));
  for (const MethodRow& row : answer.rows) {
    CAPTURE(row.pair, row.method, row.temperature, row.setting, row.speedup.mean, row.closed_form, row.bound);
    if (!std::isnan(row.deviation_in_se)) CHECK(std::abs(row.deviation_in_se) <= tests::standard_errors);
    if (!std::isnan(row.bound)) {
      CHECK(row.speedup.mean <= row.bound + tests::standard_errors * row.speedup.standard_error + 1e-9);
    }
    CHECK((row.loss == 0.0 || !row.exact));
    if (method_needs_text(row.method)) CHECK((row.pair == "text" && row.temperature != 0.7));
  }
  // A pair has the same rows as when it is run alone, as the unnamed models.
  MethodsQuestion alone = question;
  alone.pairs.clear();
  alone.models.alpha = 0.5;
  const MethodsAnswer unnamed = compare_methods(alone);
  for (const MethodRow& row : unnamed.rows) {
    CHECK(row.speedup.mean == row_of(answer, "hard", row.method, row.temperature).speedup.mean);
  }
}

TEST_CASE("contexts of a text have the acceptance of its own positions, and its drafters are simulated on it") {
  MethodsQuestion question;
  question.pairs = {{.name = "text", .models = text_models(), .pool = 4'000}};
  question.temperatures = {0.0, 1.0};
  question.methods = {"speculative_sampling", "prompt_lookup", "lookup_first", "staged_speculation", "ngram_drafting"};
  question.gamma = 3;
  question.iterations = 20'000;
  const MethodsAnswer answer = compare_methods(question);
  // One draft at positions of the target's own text; 0.01 is 2.5 standard errors of 4,000 contexts of an acceptance
  // between 0 and 1 whose standard deviation is 0.25.
  const TrainedModels& trained = *std::get<NgramModels>(question.pairs[0].models).trained;
  const Estimate studied = ngram::alpha(ngram::run_acceptance_study(
      {.target = trained.target, .drafter = *trained.drafter, .index = 0, .temperature = 1.0, .tokens = 200'000},
      {.seed = 3, .point = 0, .stop = {}}, 1));
  CHECK(answer.acceptances[1] == Approx(studied.mean).margin(0.01 + tests::standard_errors * studied.standard_error));
  // The same scenarios by their own cost: a pass over 4 positions takes 1.03 decode steps, a draft step 0.05.
  for (const double temperature : question.temperatures) {
    for (const auto& [method, drafter] :
         {std::pair{"prompt_lookup", Drafter(PromptLookup{})}, std::pair{"lookup_first", Drafter(LookupFirst{})},
          std::pair{"staged_speculation", Drafter(StagedLookup{})},
          std::pair{"ngram_drafting", Drafter(NgramDrafter{})}}) {
      CAPTURE(method, temperature);
      const Scenario scenario{.fidelity = TokenFidelity{.temperature = temperature,
                                                        .models = std::get<NgramModels>(question.pairs[0].models)},
                              .gamma = 3,
                              .drafter = drafter,
                              .cost = ConstantRatio{.c = 0.05 / 1.03}};
      const Estimates simulated = simulate(scenario, {.iterations = 20'000}).estimates;
      const MethodRow& row = row_of(answer, method, temperature);
      CHECK(row.tokens_per_iteration.mean == simulated.tokens_per_iteration.mean);
      CHECK(row.speedup.mean == Approx(simulated.speedup.mean / 1.03).epsilon(tests::second_route));
      CHECK(row.speedup.standard_error == Approx(simulated.speedup.standard_error / 1.03).epsilon(tests::second_route));
      CHECK(std::isnan(row.closed_form));
    }
  }
  // Copying text before a model saves passes of the model for the same tokens.
  CHECK(row_of(answer, "staged_speculation", 1.0).iteration_cost <
        row_of(answer, "ngram_drafting", 1.0).iteration_cost);
}

TEST_CASE("a block costs one draft step at any length, and each draft falls by its decay") {
  MethodsQuestion question = small_question();
  question.temperatures = {1.0};
  question.gamma = 4;
  question.methods = {"block_drafting", "speculative_sampling"};
  question.parameters = {{"dflash", "drafter.decay", {1.0, 0.5}}};
  const MethodsAnswer answer = compare_methods(question);
  REQUIRE(answer.rows.size() == 3);
  const auto find = [&](double decay) {
    return *std::ranges::find_if(answer.rows, [&](const MethodRow& row) {
      return !row.parameters.empty() && row.parameters[0] == std::pair<std::string, double>("drafter.decay", decay);
    });
  };
  CHECK(std::ranges::count(compared_methods(), "block_drafting") == 0);  // it requires an assumption
  const double a = answer.acceptances[0];
  const double cost = 1.0 + 4 * 0.01 + 0.05;
  CHECK(find(1.0).closed_form == Approx((1 + a + a * a + a * a * a + a * a * a * a) / cost));
  CHECK(find(0.5).closed_form ==
        Approx((1 + a * (1 + a / 2 * (1 + a / 4 * (1 + a / 8)))) / cost).epsilon(tests::second_route));
  CHECK(find(0.5).setting == "gamma 4, one pass, decay 0.5");
  CHECK(find(1.0).speedup.mean > row_of(answer, "speculative_sampling", 1.0).speedup.mean);
}

TEST_CASE("values of a parameter make a curve: a row each, combined with those of another parameter") {
  MethodsQuestion question = small_question();
  question.temperatures = {1.0};
  question.gamma = 4;
  question.methods = {"speculative_sampling", "lenience", "sglang_thresholds", "assisted_generation"};
  question.parameters = {{"lenient speculative sampling", "rule.lenience", {1.0, 0.7, 0.4}},
                         {"sglang_thresholds", "rule.threshold_single", {0.5, 1.0}},
                         {"sglang_thresholds", "rule.threshold_acc", {0.6, 1.0}},
                         {"assisted_generation", "policy.threshold", {0.0}}};
  const MethodsAnswer answer = compare_methods(question);
  REQUIRE(answer.rows.size() == 1 + 3 + 4 + 1);
  std::vector<MethodRow> curve;
  for (const MethodRow& row : answer.rows) {
    if (row.method == "lenience") curve.push_back(row);
  }
  REQUIRE(curve.size() == 3);  // by falling speedup
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(curve[i].parameters[0].second == std::vector<double>{0.4, 0.7, 1.0}[i]);
    if (i > 0) CHECK(curve[i].loss < curve[i - 1].loss);
  }
  CHECK(curve[2].loss == Approx(0.0).margin(1e-12));
  CHECK(curve[2].closed_form == Approx(row_of(answer, "speculative_sampling", 1.0).closed_form));
  CHECK(curve[0].setting == "gamma 4, lenience 0.4");
  const auto exact = std::ranges::find_if(answer.rows, [](const MethodRow& row) {
    return row.method == "sglang_thresholds" && row.parameters[0].second == 1.0 && row.parameters[1].second == 1.0;
  });
  REQUIRE(exact != answer.rows.end());
  CHECK(exact->loss == Approx(0.0).margin(1e-12));
  // A threshold of 0 never stops: the search for the fastest one is left out.
  CHECK(row_of(answer, "assisted_generation", 1.0).setting == "gamma <= 4, threshold 0");
  CHECK(row_of(answer, "assisted_generation", 1.0).tokens_per_iteration.mean ==
        Approx(row_of(answer, "speculative_sampling", 1.0).tokens_per_iteration.mean).epsilon(0.05));
}

TEST_CASE("policies that learn are compared on finite texts") {
  MethodsQuestion question = small_question();
  question.temperatures = {1.0};
  question.methods = {"adaedl", "disco", "assisted_generation"};
  const MethodsAnswer answer = compare_methods(question);
  for (const char* method : {"adaedl", "dynamic_threshold"}) {
    const MethodRow& row = row_of(answer, method, 1.0);
    CAPTURE(method, row.speedup.mean, row.bound);
    CHECK(row.exact);
    CHECK(row.setting == "gamma <= 32");
    CHECK(row.bound == row_of(answer, "assisted_generation", 1.0).bound);
    CHECK(row.speedup.mean <= row.bound + tests::standard_errors * row.speedup.standard_error);
    CHECK(row.speedup.mean > 1.0);
  }
}

TEST_CASE("the document has the keys of its schema") {
  MethodsQuestion question = small_question();
  question.iterations = 1'000;
  question.methods = {"speculative_sampling", "pearl"};
  const MethodsAnswer answer = compare_methods(question);
  const nlohmann::ordered_json json = to_json(answer);
  const auto schema = nlohmann::ordered_json::parse(read_file(FOREDRAFT_SOURCE "/docs/schemas/methods.schema.json"));
  const auto check_keys = [](const nlohmann::ordered_json& object, const nlohmann::ordered_json& properties) {
    std::set<std::string> shown, listed;
    for (const auto& [key, value] : object.items()) shown.insert(key);
    for (const auto& [key, value] : properties.items()) listed.insert(key);
    CHECK(shown == listed);
  };
  // Columns of several pairs and of parameter values are in the next test.
  nlohmann::ordered_json properties = schema["properties"];
  properties.erase("pairs");
  check_keys(json, properties);
  properties = schema["properties"]["rows"]["items"]["properties"];
  properties.erase("pair");
  properties.erase("parameters");
  check_keys(json["rows"][0], properties);
  const std::string csv = methods_csv(answer);
  CHECK(std::ranges::count(csv, '\n') == 5);
}

TEST_CASE("documents and texts of several pairs name the pair of each row") {
  MethodsQuestion question = question_of_pairs();
  question.iterations = 1'000;
  question.methods = {"lenience", "prompt_lookup"};
  question.parameters = {{"lenience", "rule.lenience", {0.5, 0.8}}};
  const MethodsAnswer answer = compare_methods(question);
  const nlohmann::ordered_json json = to_json(answer);
  const auto schema = nlohmann::ordered_json::parse(read_file(FOREDRAFT_SOURCE "/docs/schemas/methods.schema.json"));
  tests::check_against(schema, schema, json, "");
  CHECK_FALSE(json.contains("alpha"));
  CHECK_FALSE(json.contains("acceptances"));
  REQUIRE(json["pairs"].size() == 3);
  CHECK(json["pairs"][1]["alpha"] == 0.5);
  CHECK(json["pairs"][2]["kind"] == "ngram");
  CHECK(json["pairs"][2]["acceptances"] == std::vector<double>{answer.acceptances[4], answer.acceptances[5]});
  CHECK(json["rows"][0]["pair"] == "easy");
  CHECK(json["rows"][0]["parameters"].size() == 1);
  CHECK(json["rows"].back()["pair"] == "text");
  const std::string csv = methods_csv(answer);
  CHECK(csv.starts_with("pair,temperature,method,"));
  CHECK(std::ranges::count(csv, '\n') == static_cast<std::ptrdiff_t>(1 + answer.rows.size()));
  const std::string text = app::to_text(answer);
  CHECK(text.find("temperature 1, pair hard, acceptance 0.500.") != std::string::npos);
  CHECK(text.find("\npair  method ") != std::string::npos);
  CHECK(text.find("x +-0.0") != std::string::npos);
  CHECK(text.find("  tokens  cost  ") != std::string::npos);
  // Long settings replace columns that the document also has.
  question.methods = {"sglang_thresholds"};
  question.parameters = {{"sglang_thresholds", "rule.threshold_single", {0.25}},
                         {"sglang_thresholds", "rule.threshold_acc", {0.75}}};
  const std::string narrowed = app::to_text(compare_methods(question));
  CHECK(narrowed.find("threshold_single 0.25, threshold_acc 0.75") != std::string::npos);
  CHECK(narrowed.find("  cost  ") == std::string::npos);
  for (const std::string& one : {text, narrowed}) {
    for (std::size_t at = 0, end = 0; (end = one.find('\n', at)) != std::string::npos; at = end + 1) {
      CHECK(end - at <= 100);
    }
  }
}

}  // namespace foredraft::answers
