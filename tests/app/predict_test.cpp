// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "answers/inverse.hpp"
#include "answers/prediction.hpp"
#include "app/texts/texts.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::app {
namespace {

answers::Question question(double alpha, double c, std::optional<std::int64_t> gamma) {
  return {.scenario = {.fidelity = ProcessFidelity{.acceptance = Iid{alpha}}, .cost = ConstantRatio{c}},
          .gamma = gamma};
}

AcceptanceProcess& acceptance_of(answers::Question& asked) {
  return std::get<ProcessFidelity>(asked.scenario.fidelity).acceptance;
}

analytic::Prediction predicted(const answers::Question& asked) {
  return analytic::predict(asked.scenario, asked.gamma);
}
std::string text_of(const answers::Question& asked) { return to_text(answers::Answered{asked, predicted(asked)}); }
nlohmann::ordered_json json_of(const answers::Question& asked) {
  return to_json(answers::Answered{asked, predicted(asked)});
}

}  // namespace

TEST_CASE("predict writes the answer first, then the table, then its basis") {
  answers::Question asked = question(0.8, 0.05, 5);
  asked.scenario.operations_ratio = 0.05;
  CHECK(text_of(asked) ==
        "speedup 2.95x: an iteration yields 3.69 tokens and costs 1.25 target steps. Best is gamma 8: 3.09x.\n"
        "\n"
        "                             gamma 5    gamma 8 (best)\n"
        "tokens per iteration          3.6893     4.3289\n"
        "  standard deviation          1.9657     2.8533\n"
        "  all drafts accepted         32.8 %     16.8 %\n"
        "speedup                       2.9514x    3.0921x\n"
        "operations                    1.6941x    2.1714x\n"
        "target memory accesses        0.2711x    0.2310x\n"
        "\n"
        "near best   gamma 7 to 9 within 1 %; real-valued optimum 7.857; oracle 4.1667x\n"
        "break even  at gamma 5: alpha above 0.2001, or c below 0.5379; at some gamma: alpha above c\n"
        "any process acceptances of mean 0.8, however dependent: 3.00 to 5.00 tokens, 2.40x to 4.00x\n"
        "assumes     i.i.d. acceptance; bonus convention; 6 tokens verified at the cost of one\n");
}

TEST_CASE("predict's JSON has the keys of its schema and the values of the formulas") {
  answers::Question asked = question(0.8, 0.05, 5);
  asked.scenario.operations_ratio = 0.05;
  const auto json = json_of(asked);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"schema", "convention", "drafter", "alpha", "c", "operations_ratio", "gamma",
                                         "tokens_per_iteration", "tokens_variance", "speedup", "operations_factor",
                                         "memory_access_factor", "best_gamma", "best_speedup", "real_gamma",
                                         "oracle_speedup"});
  CHECK(json["schema"] == "foredraft.predict/1");
  CHECK(json["convention"] == "bonus");
  CHECK(json["gamma"] == 5);
  CHECK(json["best_gamma"] == 8);
  const auto close = [&](const char* key, double wanted) {
    CAPTURE(key);
    CHECK(json[key].get<double>() == Approx(wanted).epsilon(tests::few_ulp));
  };
  // Worked by hand: sum of 0.8^k, k = 0..5; over 1.25; (0.25 + 6) over it.
  close("tokens_per_iteration", 3.68928);
  close("tokens_variance", 3.8640930816);
  close("speedup", 2.951424);
  close("operations_factor", 1.694097493277821);
  close("memory_access_factor", 0.2710555989244514);
  close("best_speedup", 3.0920795428571437);
  close("real_gamma", 7.8566544588706915);
  close("oracle_speedup", 4.166666666666667);
}

TEST_CASE("without an operations ratio its factor is null, and without gamma the best one is taken") {
  const auto json = json_of(question(0.8, 0.05, std::nullopt));
  CHECK(json["operations_factor"].is_null());
  CHECK(json["operations_ratio"].is_null());
  CHECK(json["gamma"] == 8);
  CHECK(json["speedup"] == json["best_speedup"]);
}

TEST_CASE("if speculation never gains, the real-valued optimum is 0, and the shortest draft without a bonus token") {
  for (const double c : {0.79, 0.81, 0.95, 1.0, 3.0}) {  // on both sides of alpha
    CAPTURE(c);
    const auto json = json_of(question(0.8, c, std::nullopt));
    CHECK(json["best_gamma"] == (c < 0.8 ? 1 : 0));
    // Just above alpha a fraction of a draft would still gain.
    if (c < 0.9) {
      CHECK((json["real_gamma"] > 0.0 && json["real_gamma"] < 1.0));
    } else {
      CHECK(json["real_gamma"] == 0.0);
    }
  }
  answers::Question without = question(0.8, 50.0, std::nullopt);
  without.scenario.convention = Convention::no_bonus;
  CHECK(json_of(without)["real_gamma"] == 1.0);
}

TEST_CASE("an unbounded optimum is printed as a word, with the other fields at their limits") {
  answers::Question asked = question(0.75, 0.0, std::nullopt);
  asked.scenario.operations_ratio = 0.5;
  auto json = json_of(asked);
  CHECK(json["gamma"] == "unbounded");
  CHECK(json["best_gamma"] == "unbounded");
  CHECK(json["tokens_per_iteration"] == 4.0);  // 1 / (1 - alpha)
  CHECK(json["tokens_variance"] == 12.0);      // alpha / (1 - alpha)^2
  CHECK(json["speedup"] == 4.0);
  CHECK(json["memory_access_factor"] == 0.25);
  CHECK(json["operations_factor"].is_null());  // grows without limit
  CHECK(json["real_gamma"].is_null());

  acceptance_of(asked) = Iid{1.0};  // every draft accepted, at no cost: only the cost per token is finite
  json = json_of(asked);
  CHECK(json["best_gamma"] == "unbounded");
  CHECK(json["tokens_per_iteration"].is_null());
  CHECK(json["tokens_variance"].is_null());
  CHECK(json["best_speedup"].is_null());
  CHECK(json["oracle_speedup"].is_null());
  CHECK(json["operations_factor"] == 1.5);
  CHECK(json["memory_access_factor"] == 0.0);

  asked.gamma = 3;  // given: finite although the optimum is not
  json = json_of(asked);
  CHECK(json["gamma"] == 3);
  CHECK(json["tokens_per_iteration"] == 4.0);
  CHECK(json["best_gamma"] == "unbounded");
}

TEST_CASE("a vector limits gamma to its length and has neither real-valued optimum nor oracle") {
  answers::Question asked = question(0.0, 0.0, std::nullopt);
  acceptance_of(asked) = Positional{{0.5, 0.5, 0.5}};
  const auto json = json_of(asked);
  CHECK(json["best_gamma"] == 3);  // c = 0: the longest possible
  CHECK(json["tokens_per_iteration"] == 1.875);
  CHECK(json["real_gamma"].is_null());
  CHECK(json["oracle_speedup"].is_null());
  CHECK(json["conditional"] == std::vector<double>{0.5, 0.5, 0.5});
  CHECK_FALSE(json.contains("alpha"));
  asked.gamma = 4;
  CHECK_THROWS_AS(predicted(asked), DomainError);
}

TEST_CASE("an inferred alpha is printed to four digits, a given one as it was given") {
  answers::Question asked = question(0.6914139797817368, 0.05, 3);
  asked.acceptance_length = 2.5;
  CHECK_THAT(text_of(asked), Catch::Contains("acceptances of mean 0.6914, however"));
  CHECK_THAT(text_of(question(0.99999, 0.05, 3)), Catch::Contains("acceptances of mean 0.99999, however"));
}

TEST_CASE("gamma 0 is autoregressive decoding, and the answer says so") {
  const answers::Question asked = question(0.1, 0.5, std::nullopt);
  CHECK_THAT(text_of(asked), Catch::Contains("Speculation does not\npay."));
  const auto json = json_of(asked);
  CHECK(json["gamma"] == 0);
  CHECK(json["speedup"] == 1.0);
  CHECK(json["tokens_variance"] == 0.0);
}

TEST_CASE("a block drafter and the convention without bonus are charged and counted accordingly") {
  answers::Question asked = question(0.5, 0.5, 2);
  asked.scenario.convention = Convention::no_bonus;
  asked.scenario.drafter = BlockDrafter{};
  const auto json = json_of(asked);
  CHECK(json["convention"] == "no_bonus");
  CHECK(json["drafter"] == "block");
  CHECK(json["tokens_per_iteration"] == 1.5);  // 1 + alpha, no third token
  CHECK(json["speedup"] == 1.0);               // one pass of c = 0.5, not two
  CHECK(json["oracle_speedup"].is_null());
}

}  // namespace foredraft::app
