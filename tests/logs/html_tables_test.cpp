// SPDX-License-Identifier: Apache-2.0
#include "logs/html_tables.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <string>

#include "tests/logs/logs_testing.hpp"

/// Tables of web pages.
namespace foredraft::tests {
namespace {

std::string in_markdown(const std::string& html) {
  logs::HtmlTables tables;
  std::string text;
  tables.append(html, text);
  tables.finish(text);
  return text;
}

}  // namespace

TEST_CASE("a table of a web page is read as one of Markdown") {
  for (const std::string text :
       {"<h2>Box</h2>\n<table>\n<tr><th>setup</th><th>c=1 tok/s</th><th>tok/s (8 users)</th></tr>\n"
        "<tr>\n<td>off</td>\n<td>20</td>\n<td>90</td>\n</tr>\n<tr><td>MTP "
        "K=2</td><td><b>31</b></td><td>99</td></tr></table>\n",
        "<p>x</p><TABLE border=1><tr><td>setup<td>c=1 tok/s<td>c=8 tok/s<tr><td>off<td>20<td>90"
        "<tr><td>MTP K=2<td>31<td>99</TABLE>\n"}) {
    CAPTURE(text);
    const auto runs = posted_runs(text, "table");
    REQUIRE(runs.size() == 4);
    CHECK(runs[0].concurrency == 1.0);
    CHECK(runs[1].concurrency == 8.0);
    CHECK(runs[2].gamma == 2);
    CHECK(runs[2].times.output_tokens_per_s == near(31.0));
  }
}

TEST_CASE("cells of several columns and rows stand beside empty ones") {
  const std::string text =
      "<h3>All &amp; one</h3>\n<table><caption>tok/s</caption>\n"
      "<tr><th rowspan=2>a</th><th "
      "colspan=\"2\">b|c</th></tr>\n<tr><td>d&nbsp;e</td><td>f<br>g</td></tr></table>\nend\n";
  CHECK(in_markdown(text) == "## All & one\ntok/s\n\n| a | b/c |  |\n|---|---|---|\n|  | d e | f g |\n\nend\n");
}

TEST_CASE("what is no whole table of a page stays as it is") {
  for (const std::string text : {"<table><tr><td>20 tok/s\n", "{\"text\": \"<table><tr><td>1</td></tr></table>\"}\n",
                                 "<table><tr><td><table><tr><td>1</td></tr></table></td></tr></table>\n",
                                 "a <tab> line\n<header>x</header>\n"}) {
    CAPTURE(text);
    CHECK(in_markdown(text) == text);
  }
  const std::string log = "<table>\n" + std::string(std::size_t{2} << 20U, 'x') + "\n";
  logs::HtmlTables tables;
  std::string so_far;
  tables.append(log, so_far);  // not kept until the end
  CHECK(so_far == log);
  // Lines behind a table keep their numbers.
  const std::string rows = "<table>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n<tr>\n<td>3</td>\n</tr>\n</table>\nend\n";
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 10);
  const std::string text = in_markdown(rows);
  CHECK(std::count(text.begin(), text.end(), '\n') == 10);
}

}  // namespace foredraft::tests
