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
  // Pairs to simulate and shapes to measure share the word.
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

TEST_CASE("list --markdown prints a table") {
  const TemporaryFolder folder;
  for (const std::string& name : list_names()) {
    CAPTURE(name);
    CHECK_THAT(foredraft(folder, "list " + name + " --markdown").out,
               Catch::StartsWith("| ") && Catch::Contains("|\n|---"));
  }
}

}  // namespace foredraft::tests
