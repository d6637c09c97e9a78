// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/commands/commands.hpp"
#include "core/files.hpp"
#include "core/readable.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/schema_check.hpp"

namespace foredraft::tests {
namespace {

std::vector<std::string> list_names() { return app::list_command().spec.words(); }

}  // namespace

TEST_CASE("list shows every inventory, in lines that fit") {
  const TemporaryFolder folder;
  const Outcome overview = foredraft(folder, "list");
  CHECK(overview.code == 0);
  for (const std::string& name : list_names()) {
    CAPTURE(name);
    CHECK_THAT(overview.out, Catch::Contains("\n  " + name + " "));
    const Outcome listed = foredraft(folder, "list " + name);
    CHECK(listed.code == 0);
    std::istringstream lines(listed.out);
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK(line.size() <= text_columns);
    }
  }
  CHECK_THAT(foredraft(folder, "list rules").out, Catch::Contains("rejection_sampling") && Catch::Contains("lossless"));
  // Pairs to simulate and shapes to measure share the word "models".
  CHECK_THAT(foredraft(folder, "list models").out, Catch::Contains("synthetic") && Catch::Contains("llama-2-7b"));
}

TEST_CASE("list --json prints every inventory as its schema says") {
  const TemporaryFolder folder;
  const auto schema = nlohmann::ordered_json::parse(read_file(FOREDRAFT_SOURCE "/docs/schemas/list.schema.json"));
  for (const std::string& name : list_names()) {
    CAPTURE(name);
    const Outcome listed = foredraft(folder, "list " + name + " --json");
    REQUIRE(listed.code == 0);
    const auto document = nlohmann::ordered_json::parse(listed.out);
    CHECK_FALSE(document.at(name).empty());
    check_against(schema, schema, document, "");
  }
  const auto wrong = nlohmann::ordered_json::parse(foredraft(folder, "list rule --json").out);
  CHECK(wrong.at("error") == "foredraft list: rule: unknown list - did you mean rules?");
}

TEST_CASE("list searches names, aliases, summaries and sources for every word") {
  const TemporaryFolder folder;
  const auto names_of = [&](const std::string& arguments, const std::string& list) {
    std::vector<std::string> names;
    const Outcome found = foredraft(folder, "list " + arguments + " --json");
    CHECK(found.code == 0);
    const auto document = nlohmann::json::parse(found.out);
    for (const auto& entry : document.at(list)) names.push_back(entry.at("name"));
    return names;
  };
  CHECK(names_of("models QWEN3 8b", "models") == std::vector<std::string>{"qwen3-8b"});
  CHECK(names_of("models QWEN3 8b", "pairs").empty());
  CHECK(names_of("models zipf", "models").empty());
  CHECK(names_of("models zipf", "pairs") == std::vector<std::string>{"zipf"});
  CHECK(names_of("devices a100-80g", "devices") == std::vector<std::string>{"a100-80gb", "a100-pcie"});  // an alias
  CHECK(names_of("devices h100 70b", "profiles").size() == 2);
  CHECK(names_of("rules leviathan", "rules").size() < names_of("rules", "rules").size());  // a source

  const Outcome qwen = foredraft(folder, "list models qwen3 b");
  CHECK_THAT(qwen.out, Catch::StartsWith("Shapes of models") && Catch::Contains("\nqwen3-8b ") &&
                           !Catch::Contains("llama") && !Catch::Contains("zipf"));
  const Outcome card = foredraft(folder, "list devices mi300x");
  CHECK_THAT(card.out, Catch::StartsWith("device ") && Catch::Contains("\nmi300x ") && !Catch::Contains("profile"));
  CHECK_THAT(foredraft(folder, "list devices h100-vllm").out,
             Catch::StartsWith("profile ") && Catch::Contains("Each covers batch 1, 2, 4, 8"));
}

TEST_CASE("a search without a result succeeds and names the nearest entry") {
  const TemporaryFolder folder;
  const Outcome mistyped = foredraft(folder, "list models deepsek v3");
  CHECK(mistyped.code == 0);
  CHECK(mistyped.out ==
        "None of the models has \"deepsek\" and \"v3\" in its name, summary or source; the nearest is\ndeepseek-v3.\n");
  CHECK(foredraft(folder, "list rules zebra").out ==
        "None of the rules has \"zebra\" in its name, summary or source; foredraft list rules shows all.\n");
  CHECK(nlohmann::json::parse(foredraft(folder, "list rules zebra --json").out).at("rules").empty());
  CHECK(foredraft(folder, "list models qwen --markdown").code == 2);
  const Outcome hostile = foredraft(folder, "list rules '\x1b[2J" + std::string(100'000, 'x') + "'");
  CHECK(hostile.code == 0);
  CHECK(hostile.out.size() < 1'000);
  CHECK(hostile.out.find('\x1b') == std::string::npos);
}

TEST_CASE("list --markdown prints a table") {
  const TemporaryFolder folder;
  for (const std::string& name : list_names()) {
    CAPTURE(name);
    CHECK_THAT(foredraft(folder, "list " + name + " --markdown").out,
               Catch::StartsWith("| ") && Catch::Contains("|\n|---"));
  }
}

}  // namespace foredraft::tests
