// SPDX-License-Identifier: Apache-2.0
// Methods side by side: each near its closed form and below its bound; what is exact loses nothing.
#include "answers/methods.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/files.hpp"
#include "foredraft/errors.hpp"
#include "scenario/methods.hpp"
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

}  // namespace

TEST_CASE("every compared method is answered at every temperature, near its closed form and below its bound") {
  const MethodsAnswer answer = compare_methods(small_question());
  CHECK(answer.rows.size() == 2 * compared_methods().size());
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
  const auto half = answer.rows.begin() + static_cast<std::ptrdiff_t>(compared_methods().size());
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
  // At temperature 0 every rule of one draft is greedy decoding, and only those that trust the drafter lose anything.
  for (const char* method : {"block_verification", "greedy_match", "typical_acceptance", "lenience"}) {
    CHECK(row_of(answer, method, 0.0).tokens_per_iteration.mean ==
          row_of(answer, "speculative_sampling", 0.0).tokens_per_iteration.mean);
    CHECK(row_of(answer, method, 0.0).loss == 0.0);
  }
}

TEST_CASE("a row depends on nothing but its method, and aliases name the same method") {
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

TEST_CASE("wrong questions are rejected, with what to do") {
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
  check_keys(json, schema["properties"]);
  check_keys(json["rows"][0], schema["properties"]["rows"]["items"]["properties"]);
  const std::string csv = methods_csv(answer);
  CHECK(std::ranges::count(csv, '\n') == 5);
}

}  // namespace foredraft::answers
