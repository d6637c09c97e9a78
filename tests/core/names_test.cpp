// SPDX-License-Identifier: Apache-2.0
#include "core/names.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/problems.hpp"

namespace foredraft {

TEST_CASE("the nearest word is found for a typing mistake and none for another word") {
  const std::vector<std::string> words{"alpha", "gamma", "convention", "c"};
  CHECK(nearest("gama", words) == "gamma");
  CHECK(nearest("aplha", words) == "alpha");
  CHECK(nearest("convetnion", words) == "convention");
  CHECK(nearest("temperature", words).empty());
  CHECK(suggestion_for("temperature", words) == "known: alpha, gamma, convention, c");
  // Neither the word itself nor one that resembles it is meant.
  CHECK(nearest("alpha", words).empty());
  CHECK(suggestion_for("convention", words) == "known: alpha, gamma, convention, c");
  CHECK(suggestion_for("alpha ", words) == "remove the spaces around it");
  CHECK(suggestion_for(" ", words) == "did you mean c?");
}

TEST_CASE("a name with other numbers is a different name, not a typing mistake") {
  const std::vector<std::string> models{"deepseek-v3", "llama-3.1-70b", "minimax-m2", "qwen1.5-7b", "qwen3-8b"};
  for (const char* other : {"deepseek_v4", "deepseek-v3.1", "minimax_m3", "llama-3.3-70b", "llama-3.11-70b",
                            "llama-3-70b", "qwen2.5-7b", "qwen3-14b", "qwen3-b", "rwen3-8b"}) {
    CAPTURE(other);
    CHECK(nearest(other, models).empty());
  }
  CHECK(nearest("qwem3-8b", models) == "qwen3-8b");
  CHECK(nearest("wqen3-8b", models) == "qwen3-8b");
  CHECK(nearest("qwen3-8", models) == "qwen3-8b");
  // Repeated, missing or swapped keys; in a short number other digits mean another size.
  CHECK(nearest("h2000", std::vector<std::string>{"h200"}) == "h200");
  CHECK(nearest("h10", std::vector<std::string>{"h100"}) == "h100");
  CHECK(nearest("a100-08gb", std::vector<std::string>{"a100-80gb"}) == "a100-80gb");
  CHECK(nearest("llama-3.2-11b", std::vector<std::string>{"llama-3.2-1b"}).empty());
}

TEST_CASE("a name is found in spite of other separators, case or order of words, at any length") {
  const std::vector<std::string> models{"llama-3.1-8b", "qwen3-coder-30b-a3b", "qwen2.5-7b"};
  CHECK(nearest("Qwen 3 Coder 30B A3B", models) == "qwen3-coder-30b-a3b");
  CHECK(nearest("LLAMA_31_8B", models) == "llama-3.1-8b");
  CHECK(nearest("coder-qwen3-a3b-30b", models) == "qwen3-coder-30b-a3b");
  CHECK(nearest("8b-llama-3.1", models) == "llama-3.1-8b");
  CHECK(nearest("llama-1.3-8b", models).empty());
  CHECK(nearest("...", models).empty());
}

TEST_CASE("for many names a message says how to list those of the word instead of printing all") {
  std::vector<std::string> names{"deepseek-v3"};
  for (int i = 0; i < 11; ++i) names.push_back("model-" + std::to_string(i));
  CHECK(suggestion_for("deepseek_v4", names, "models").starts_with("known: deepseek-v3, model-0, "));
  names.emplace_back("model-11");
  CHECK(suggestion_for("DeepSeek_v4", names, "models") == "foredraft list models DeepSeek shows those of that word");
  CHECK(suggestion_for("olmo-7b", names, "models") == "foredraft list models shows all");
  CHECK(suggestion_for("m99", names, "models") == "foredraft list models shows all");  // one letter is not a word
  CHECK(suggestion_for("mdoel-7", names, "models") == "did you mean model-7?");
  CHECK(suggestion_for("olmo-7b", names).starts_with("known: "));
}

TEST_CASE("a search ignores case and separators, and without a result it gives the closest name") {
  CHECK(plain_name("Qwen/Qwen2.5-7B_x") == "qwenqwen257bx");
  CHECK(mentions("NVIDIA H100 SXM5 80GB", "h100-sxm"));
  CHECK(mentions("qwen2.5-7b", "QWEN 25"));
  CHECK_FALSE(mentions("qwen2.5-7b", "qwen3"));
  CHECK(mentions("anything", "-"));
  const std::vector<std::string> names{"deepseek-v3", "llama-3.1-8b", "qwen3-8b"};
  CHECK(closest_match(std::vector<std::string>{"qwem"}, names) == "qwen3-8b");
  CHECK(closest_match(std::vector<std::string>{"v4", "deepseek"}, names) == "deepseek-v3");
  CHECK(closest_match(std::vector<std::string>{"zebra"}, names).empty());
}

}  // namespace foredraft
