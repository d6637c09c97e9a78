// SPDX-License-Identifier: Apache-2.0
// Questions of `predict` other than one alpha and one c.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "answers/inverse.hpp"
#include "answers/prediction.hpp"
#include "app/texts/texts.hpp"
#include "core/table.hpp"

namespace foredraft::app {
namespace {

answers::Answered answered(const AcceptanceProcess& acceptance, double c, std::optional<std::int64_t> gamma) {
  answers::Question question{
      .scenario = {.fidelity = ProcessFidelity{.acceptance = acceptance}, .cost = ConstantRatio{c}}, .gamma = gamma};
  const analytic::Prediction prediction = analytic::predict(question.scenario, gamma);
  return {std::move(question), prediction};
}

answers::InverseQuestion inverse(answers::Sought sought, const std::string& measured, double alpha, double c,
                                 std::int64_t gamma) {
  return {.scenario = {.fidelity = ProcessFidelity{.acceptance = Iid{alpha}}, .gamma = gamma, .cost = ConstantRatio{c}},
          .sought = sought,
          .measured = parse_printed_number(measured)};
}

}  // namespace

TEST_CASE("a mixture is answered by its name and parameters, in text and JSON") {
  const answers::Answered mixture = answered(BetaMixture{.a = 1.0, .b = 1.0}, 0.1, 2);
  const auto json = to_json(mixture);
  CHECK(json["process"] == "beta_mixture");
  CHECK(json["a"] == 1.0);
  CHECK(json["tokens_per_iteration"] == Approx(1.0 + 1.0 / 2 + 1.0 / 3));
  CHECK(json["real_gamma"].is_null());
  CHECK(!json.contains("alpha"));
  CHECK_THAT(to_text(mixture), Catch::Contains("assumes     acceptance beta_mixture a 1 b 1; bonus convention"));
  const answers::Answered chain = answered(Markov{.a = 0.9, .b = 0.4}, 0.1, 4);
  CHECK(to_json(chain)["tokens_variance"].is_null());
  CHECK_THAT(to_text(chain), Catch::Contains("acceptance markov a 0.9 b 0.4"));
}

TEST_CASE("several answers are a table of one row each, and in JSON the first and a cell each") {
  const std::vector<answers::Answered> all{answered(Iid{0.6}, 0.05, 5), answered(Iid{0.8}, 0.05, 5)};
  const auto json = to_json(all);
  CHECK(json["alpha"] == 0.6);
  REQUIRE(json["cells"].size() == 2);
  CHECK(json["cells"][1]["alpha"] == 0.8);
  CHECK(json["cells"][1]["speedup"] == to_json(all[1])["speedup"]);
  CHECK(!json["cells"][0].contains("schema"));
  const std::string text = to_text(all);
  CHECK_THAT(text, Catch::StartsWith("speedup 1.91x to 2.95x over 2 combinations."));
  CHECK_THAT(text, Catch::Contains("6 tokens verified"));
}

TEST_CASE("the alpha, c and overhead that explain a speedup reproduce it") {
  const double alpha = answers::invert(inverse(answers::Sought::alpha, "1.70", 0.0, 0.05, 5)).value.value();
  CHECK(*answered(Iid{alpha}, 0.05, 5).prediction.asked.speedup == Approx(1.70).epsilon(1e-9));
  const double c = answers::invert(inverse(answers::Sought::c, "1.70", 0.7, 0.0, 5)).value.value();
  CHECK(*answered(Iid{0.7}, c, 5).prediction.asked.speedup == Approx(1.70).epsilon(1e-9));
  const answers::InverseAnswer overhead = answers::invert(inverse(answers::Sought::overhead, "1.70", 0.7, 0.05, 5));
  CHECK(*overhead.value == Approx(5.0 * (c - 0.05)).epsilon(1e-9));
}

TEST_CASE("c is not solved for with a drafter that takes no pass, but an overhead is") {
  answers::InverseQuestion copies = inverse(answers::Sought::c, "1.7", 0.7, 0.0, 5);
  copies.scenario.drafter = InputCopy{.edit_rate = 0.1, .realign = 2};
  CHECK_THROWS_WITH(answers::invert(copies), Catch::Contains("input_copy takes no draft pass"));
  copies.sought = answers::Sought::overhead;
  CHECK(std::isfinite(answers::invert(copies).value.value()));
}

TEST_CASE("the interval is that of the numbers that round to the printed one") {
  const answers::InverseAnswer coarse = answers::invert(inverse(answers::Sought::alpha, "1.7", 0.0, 0.05, 5));
  CHECK(coarse.interval->low < *coarse.value);
  CHECK(coarse.interval->low == *invert(inverse(answers::Sought::alpha, "1.65", 0.0, 0.05, 5)).value);
  CHECK(coarse.interval->high == *invert(inverse(answers::Sought::alpha, "1.75", 0.0, 0.05, 5)).value);
  // More speedup is less cost.
  const answers::InverseAnswer c = answers::invert(inverse(answers::Sought::c, "1.7", 0.7, 0.0, 5));
  CHECK(c.interval->low == *invert(inverse(answers::Sought::c, "1.75", 0.7, 0.0, 5)).value);
}

TEST_CASE("an acceptance length gives alpha for any cost of drafts") {
  answers::InverseQuestion question = inverse(answers::Sought::alpha, "2.9", 0.0, 0.7, 5);
  question.is_length = true;
  const double alpha = answers::invert(question).value.value();
  CHECK(*answered(Iid{alpha}, 0.7, 5).prediction.asked.tokens == Approx(2.9).epsilon(1e-9));
}

TEST_CASE("a value without explanation is reported with its bound, one that only rounding reaches with an interval") {
  // gamma 2, c 0.5: at most 3 tokens in 2 steps.
  const answers::InverseQuestion above = inverse(answers::Sought::alpha, "1.6", 0.0, 0.5, 2);
  CHECK(!answers::invert(above).value);
  CHECK(!answers::invert(above).interval);
  CHECK(to_text(above) ==
        "No acceptance explains a speedup of 1.6x: alpha 1 gives 1.5000x at gamma 2.\n"
        "\n"
        "assumes     i.i.d. acceptance; bonus convention\n");
  const answers::InverseAnswer edge = answers::invert(inverse(answers::Sought::alpha, "1.52", 0.0, 0.5, 2));
  CHECK(!edge.value);
  CHECK(!edge.interval);
  CHECK(answers::invert(inverse(answers::Sought::alpha, "1.5", 0.0, 0.5, 2)).interval->high == 1.0);
  CHECK_THAT(to_text(inverse(answers::Sought::alpha, "0.4", 0.0, 0.5, 2)), Catch::Contains("alpha 0 gives 0.5000x"));
  CHECK_THAT(to_text(inverse(answers::Sought::c, "2.5", 0.5, 0.0, 2)),
             Catch::Contains("No c explains a speedup of 2.5x: "
                             "without any it is 1.7500x"));
  CHECK(to_json(above)["value"].is_null());
  CHECK(to_json(above)["possible"][1] == 1.5);
}

}  // namespace foredraft::app
