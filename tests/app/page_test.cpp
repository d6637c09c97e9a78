// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "app/commands/commands.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace foredraft::tests {

// This test program is compiled with tests/app/page.html for a page.
TEST_CASE("page writes the page that the program was built with, byte by byte") {
  const TemporaryFolder folder;
  const std::string page = content_of(FOREDRAFT_SOURCE "/tests/app/page.html");
  REQUIRE_FALSE(page.empty());
  CHECK(app::page_text() == page);
  const std::string path = folder / "written.html";
  write_text(path, "an older page, which is longer: " + page);
  CHECK(app::run_program({"page", "--out", path}) == 0);
  CHECK(content_of(path) == page);
  CHECK(app::run_program({"page", "--out", folder / "no_folder/written.html"}) != 0);
  CHECK(app::run_program({"page", "written.html"}) == 2);
}

TEST_CASE("page in a program without the page says how to get it, and writes nothing") {
  const TemporaryFolder folder;
  const Outcome outcome = foredraft(folder, "page");
  const bool written = std::filesystem::exists(folder / "foredraft.html");
  if (outcome.code == 0) {  // built with -DFOREDRAFT_PAGE
    CHECK_THAT(content_of(folder / "foredraft.html"), Catch::StartsWith("<!DOCTYPE html>"));
    return;
  }
  CHECK(outcome.code == 1);
  CHECK_FALSE(written);
  CHECK(brief(outcome.err) == "foredraft page: not in this build\n");
  CHECK_THAT(outcome.err, Catch::Contains("scripts/page.sh") && Catch::Contains("-DFOREDRAFT_PAGE="));
}

}  // namespace foredraft::tests
