// SPDX-License-Identifier: Apache-2.0
// Configurations of `foredraft methods`: several pairs of models, and values of parameters.
#include "inputs/methods_file.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <variant>
#include <vector>

#include "foredraft/errors.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::inputs {
namespace {

MethodsQuestion read(const std::string& text) {
  return parse_methods_file("schema = \"foredraft.methods/1\"\n" + text, "m.toml").question;
}

void rejected(const std::string& text, const std::string& message) {
  CHECK_THROWS_MATCHES(read(text), InputError, Says(message));
}

}  // namespace

TEST_CASE("a configuration defines several pairs, and its models table has the keys that a pair omits") {
  const MethodsQuestion question = read(R"(
[models]
vocabulary = 50
[pairs.hard]
alpha = 0.5
[pairs."5-gram and bigram"]
kind = "ngram"
corpus = "prose"
target_order = 4
pool = 100
[pairs.easy]
alpha = 0.9
vocabulary = 60
)");
  REQUIRE(question.pairs.size() == 3);
  CHECK(question.pairs[0].name == "hard");  // in the order of the file
  CHECK(std::get<SyntheticModels>(question.pairs[0].models).alpha == 0.5);
  CHECK(std::get<SyntheticModels>(question.pairs[0].models).vocabulary == 50);
  CHECK(std::get<SyntheticModels>(question.pairs[2].models).vocabulary == 60);
  const auto& text = std::get<NgramModels>(question.pairs[1].models);
  CHECK(question.pairs[1].name == "5-gram and bigram");
  CHECK(text.corpus == std::vector<std::string>{"prose"});
  CHECK(text.target_order == 4);
  CHECK(text.draft_order == NgramModels{}.draft_order);
  CHECK(question.pairs[1].pool == 100);
}

TEST_CASE("parameters of a method are named without the prefix of their family") {
  const MethodsQuestion question = read(R"(
[parameters]
lenience.lenience = [0.3, 1]
DFlash = { decay = 0.9 }
svip = { threshold = [1.0], alternatives = 5 }
)");
  REQUIRE(question.parameters.size() == 4);
  CHECK(question.parameters[0].method == "lenience");
  CHECK(question.parameters[0].parameter == "rule.lenience");
  CHECK(question.parameters[0].values == std::vector{0.3, 1.0});
  CHECK(question.parameters[1].parameter == "drafter.decay");
  CHECK(question.parameters[2].parameter == "policy.threshold");
  CHECK(question.parameters[3].values == std::vector{5.0});
}

TEST_CASE("errors of a pair or a parameter name its line and key") {
  rejected("[pairs.a]\nalpha = 7\n", "m.toml:3: pairs.a.alpha: invalid models.alpha=7");
  rejected("[pairs.a]\nalfa = 0.7\n", "m.toml:3: pairs.a.alfa: unknown key");
  rejected("[pairs.a]\norder = 2\nkind = \"ngram\"\n", "m.toml:3: pairs.a.order: unknown key");
  rejected("[pairs.a]\nkind = \"ngram\"\npool = 1\n", "m.toml:4: pairs.a.pool: invalid pool=1");
  rejected("[pairs.a]\nkind = \"text\"\n", "m.toml:3: pairs.a.kind: unknown models.kind \"text\"");
  rejected("pairs = [1]\n", "m.toml:2: pairs: wrong type");
  rejected("[pairs]\na = 1\n", "m.toml:3: pairs.a: wrong type");
  rejected("[parameters]\nnobody.margin = 1\n", "m.toml:3: parameters.nobody: unknown method");
  rejected("[parameters]\nlenience.lenience = \"much\"\n", "m.toml:3: parameters.lenience.lenience: wrong type");
  rejected("[parameters]\nlenience.lenience = []\n", "m.toml:3: parameters.lenience.lenience: wrong type");
}

TEST_CASE("a JSON document is read like a TOML configuration of methods") {
  const MethodsQuestion question =
      parse_methods_document(R"({"schema": "foredraft.methods/1", "models": {"vocabulary": 70},
                                 "pairs": {"a": {"alpha": 0.6}}, "parameters": {"lenience": {"lenience": [0.5]}}})",
                             "here")
          .question;
  REQUIRE(question.pairs.size() == 1);
  CHECK(std::get<SyntheticModels>(question.pairs[0].models).vocabulary == 70);
  CHECK(question.parameters.size() == 1);
  CHECK_THROWS_MATCHES(
      parse_methods_document(R"({"schema": "foredraft.methods/1", "pairs": {"a": {"alpha": 6}}})", "here"), InputError,
      Says("here: pairs.a.alpha: invalid models.alpha=6"));
}

}  // namespace foredraft::inputs
