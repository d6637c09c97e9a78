// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/csv.hpp"
#include "core/digest.hpp"
#include "core/documents.hpp"
#include "core/numbers.hpp"
#include "core/random_stream.hpp"
#include "core/table.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace foredraft {

TEST_CASE("a written number reads back to the same double, in the fewest digits") {
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(3.0) == "3");
  CHECK(number_text(1e300) == "1e+300");
  RandomStream random(1, {Purpose::test, 0, 0});
  for (int i = 0; i < 20000; ++i) {
    const double number = (random.uniform() - 0.5) * std::pow(10.0, 60.0 * (random.uniform() - 0.5));
    REQUIRE(parse_real(number_text(number)) == number);
  }
}

TEST_CASE("numbers are read whole or not at all") {
  for (const char* text : {"", " 1", "1 ", "0.8x", "nan", "inf", "-inf", "1e400", "0x10", "1,5", "+1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_real(text));
    CHECK_FALSE(parse_integer(text));
  }
  CHECK(parse_real("-1.5e-3") == -1.5e-3);
  CHECK(parse_integer("1e6") == 1000000);
  CHECK(parse_integer("-3") == -3);
  CHECK_FALSE(parse_integer("1.5"));
  CHECK_FALSE(parse_integer("1e17"));  // beyond 2^53 not every whole number is a double
  CHECK(parse_integer("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("cells with commas, quotes and line breaks survive a round trip through CSV") {
  const std::vector<std::string> cells{"plain", "a, b", "say \"x\"", "\"x\" said", "", "0.9 0.8"};
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + csv_cell(cell);
  CHECK(split_csv_line(line) == cells);
  CHECK(csv_cell("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(csv_cell("two\nlines") == "two lines");
  CHECK(split_csv_line("") == std::vector<std::string>{""});
  CHECK(split_csv_line("a,") == std::vector<std::string>{"a", ""});
  CHECK_FALSE(split_csv_line("a,\"open"));
}

TEST_CASE("the CSV reader names the damaged row") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder / "a.csv", "x,y\n1,2\n3\n");
  CsvReader reader(folder / "a.csv");
  CHECK(reader.column("y") == 1U);
  CHECK_FALSE(reader.column("z"));
  std::vector<std::string> cells;
  REQUIRE(reader.next(cells));
  CHECK(cells == std::vector<std::string>{"1", "2"});
  CHECK_THROWS_WITH(reader.next(cells), Catch::EndsWith("a.csv:3: damaged row"));
  const std::string longest(max_line_bytes - 2, '1');
  tests::write_text(folder / "b.csv", "x,y\n1," + longest + "\n2,2" + longest + "\n");
  CsvReader long_lines(folder / "b.csv");
  REQUIRE(long_lines.next(cells));
  CHECK((cells[1] == longest));
  CHECK_THROWS_WITH(long_lines.next(cells), Catch::EndsWith("b.csv:3: a line of more than 1048576 bytes"));
  tests::write_text(folder / "c.csv", "x,y\n\n1,2");
  CsvReader no_end(folder / "c.csv");
  CHECK_THROWS_WITH(no_end.next(cells), Catch::EndsWith("c.csv:2: damaged row"));
  REQUIRE(no_end.next(cells));
  CHECK(cells == std::vector<std::string>{"1", "2"});
  CHECK_FALSE(no_end.next(cells));
}

TEST_CASE("SHA-256 gives the known digests of FIPS 180-4, whole or in pieces") {
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 hash;
  hash.add("a");
  hash.add("bc");
  CHECK(hash.finish() == sha256("abc"));
  const tests::TemporaryFolder folder;
  tests::write_text(folder / "a", "abc");
  CHECK(digest_file(folder / "a").sha256 == sha256("abc"));
  CHECK(digest_file(folder / "a").bytes == 3);
}

TEST_CASE("one table renders as text, Markdown, LaTeX and CSV") {
  using enum Table::Align;
  const Table table{.caption = "Speed at 10 %.",
                    .columns = {{"rule_name", left}, {"speed", right}},
                    .rows = {{"a|b & c", "1.5x"}, {"50 %, all", "10.25x"}}};
  CHECK(to_text(table) ==
        "rule_name   speed\n"
        "a|b & c      1.5x\n"
        "50 %, all  10.25x\n");
  CHECK(to_markdown(table) ==
        "Speed at 10 %.\n\n"
        "| rule\\_name | speed |\n|---|---:|\n"
        "| a\\|b & c | 1.5x |\n"
        "| 50 %, all | 10.25x |\n");
  CHECK(to_latex(table) ==
        "% needs \\usepackage{booktabs}\n% Speed at 10 %.\n"
        "\\begin{tabular}{lr}\n\\toprule\n"
        "rule name & speed \\\\\n\\midrule\n"
        "a|b \\& c & 1.5$\\times$ \\\\\n"
        "50 \\%, all & 10.25$\\times$ \\\\\n"
        "\\bottomrule\n\\end{tabular}\n");
  CHECK(to_csv(table) == "rule_name,speed\na|b & c,1.5x\n\"50 %, all\",10.25x\n");
}

TEST_CASE("a group of columns is one column in text, and a heading over its columns in LaTeX") {
  using enum Table::Align;
  const Table table{.caption = "",
                    .columns = {{"alpha", right}, {"gamma", right, "c = 0.1"}, {"speedup at c", right, "c = 0.1"}},
                    .rows = {{"0.5", "3 ", "1.5x"}, {"0.25", "12*", "10.5x"}}};
  CHECK(to_text(table) ==
        "alpha  c = 0.1\n"
        "  0.5   3    1.5x\n"
        " 0.25  12*  10.5x\n");
  CHECK_THAT(to_markdown(table), Catch::StartsWith("| alpha | c = 0.1 |\n|---:|---|\n| 0.5 |  3    1.5x |\n"));
  CHECK(to_latex(table, {"* end of the axis"}) ==
        "% needs \\usepackage{booktabs}\n"
        "\\begin{tabular}{rrr}\n\\toprule\n"
        " & \\multicolumn{2}{c}{$c = 0.1$} \\\\\n\\cmidrule(lr){2-3}\n"
        "$\\alpha$ & $\\gamma$ & speedup at $c$ \\\\\n\\midrule\n"
        "0.5 & 3 & 1.5$\\times$ \\\\\n"
        "0.25 & 12* & 10.5$\\times$ \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
        "\\par\\smallskip{\\footnotesize * end of the axis\\par}\n");
}

TEST_CASE("adjacent titles that begin with the same words become a group in LaTeX") {
  using enum Table::Align;
  const Table table{.caption = "",
                    .columns = {{"speed_x, paper", right},
                                {"alpha, paper", right},
                                {"alpha, ours", left},
                                {"t_d", right},
                                {"latency_p99, all", right}},
                    .rows = {{"1", "0.8", "0.79 pass", "2", "3"}}};
  CHECK(to_latex(table) ==
        "% needs \\usepackage{booktabs}\n"
        "\\begin{tabular}{rrlrr}\n\\toprule\n"
        " & \\multicolumn{2}{c}{$\\alpha$} &  &  \\\\\n\\cmidrule(lr){2-3}\n"
        "speed ($\\times$), paper & paper & ours & $t_{d}$ & latency p99, all \\\\\n\\midrule\n"
        "1 & 0.8 & 0.79 pass & 2 & 3 \\\\\n"
        "\\bottomrule\n\\end{tabular}\n");
  CHECK_THAT(to_latex({.caption = "", .columns = {{"alpha, paper", right}}, .rows = {{"0.8"}}}),
             Catch::Contains("\n$\\alpha$, paper \\\\\n"));
}

TEST_CASE("a wide LaTeX table gets smaller letters, then wrapped text, then a landscape page") {
  using enum Table::Align;
  const auto of_width = [](std::size_t words, std::size_t characters) {
    std::string text;
    for (std::size_t i = 0; i < words; ++i) text += (i == 0 ? "" : " ") + std::string(characters, 'a');
    return to_latex({.caption = "", .columns = {{"text", left}}, .rows = {{text}}});
  };
  const Table many{.caption = "",
                   .columns = std::vector<Table::Column>(8, {"gain of alpha", right}),
                   .rows = {std::vector<std::string>(8, "0.5")}};
  CHECK_THAT(to_latex(many), Catch::StartsWith("% needs \\usepackage{booktabs}\n\\begin{tabular}{rrrrrrrr}\n\\toprule\n"
                                               "\\begin{tabular}[b]{@{}c@{}}gain\\\\of $\\alpha$\\end{tabular} & "));
  CHECK_THAT(of_width(7, 10), Catch::StartsWith("% needs \\usepackage{booktabs}\n\\begin{tabular}{l}\n"));
  CHECK_THAT(of_width(8, 10), Catch::StartsWith("% needs \\usepackage{booktabs}\n\\begingroup\\footnotesize"
                                                "\\setlength{\\tabcolsep}{3pt}%\n\\begin{tabular}{l}\n") &&
                                  Catch::EndsWith("\\end{tabular}\\endgroup\n"));
  CHECK_THAT(of_width(9, 10), Catch::Contains("\\scriptsize") && Catch::Contains("\\begin{tabular}{l}"));
  CHECK_THAT(of_width(20, 10), Catch::StartsWith("% needs \\usepackage{array,booktabs}\n") &&
                                   Catch::Contains("{>{\\raggedright\\arraybackslash}p{390pt}}"));
  const Table numbers{.caption = "",
                      .columns = std::vector<Table::Column>(8, {"loss", right}),
                      .rows = {std::vector<std::string>(8, "0.1424 +- 0.0018")}};
  CHECK_THAT(to_latex(numbers), Catch::Contains("{>{\\raggedleft\\arraybackslash}p{") && !Catch::Contains("landscape"));
  CHECK_THAT(of_width(2, 110),
             Catch::StartsWith("% needs \\usepackage{array,booktabs}\n% wider than 5.5 inches: set it in "
                               "landscape (package pdflscape)\n"));
}

TEST_CASE("a LaTeX table longer than a page continues in another tabular with the same head") {
  using enum Table::Align;
  Table table{.caption = "", .columns = {{"k", right}}, .rows = std::vector<std::vector<std::string>>(41, {"1"})};
  CHECK_THAT(to_latex(table), !Catch::Contains("medskip"));
  table.rows.emplace_back(1, "2");
  CHECK_THAT(to_latex(table), Catch::EndsWith("1 \\\\\n\\bottomrule\n\\end{tabular}\\par\\medskip\\noindent\n"
                                              "\\begin{tabular}{r}\n\\toprule\nk \\\\\n\\midrule\n2 \\\\\n"
                                              "\\bottomrule\n\\end{tabular}\n"));
}

TEST_CASE("no CSV has two columns of one name") {
  using enum Table::Align;
  CHECK_THROWS_MATCHES(to_csv(Table{.caption = "", .columns = {{"speed", right}, {"speed", right}}, .rows = {}}),
                       std::logic_error, Says("speed"));
  CHECK_THROWS_MATCHES(DataText({"ours", "verdict", "ours"}).csv(), std::logic_error, Says("ours"));
}

TEST_CASE("LaTeX sets signs as mathematics and keeps hyphens") {
  using enum Table::Align;
  const Table table{
      .caption = "", .columns = {{"+-", right}}, .rows = {{"-0.006 to -0.003"}, {"1.5 +- 0.1"}, {"T5-3B"}}};
  CHECK_THAT(to_latex(table), Catch::Contains("\n$\\pm$ \\\\\n") && Catch::Contains("\n$-$0.006 to $-$0.003 \\\\\n") &&
                                  Catch::Contains("\n1.5 $\\pm$ 0.1 \\\\\n") && Catch::Contains("\nT5-3B \\\\\n"));
}

TEST_CASE("numbers for people stay short however large they are") {
  CHECK(decimal_text(2.95067, 4) == "2.9507");
  CHECK(decimal_text(-0.5, 2) == "-0.50");
  CHECK(decimal_text(999999.0, 1) == "999999.0");
  CHECK(decimal_text(1e6, 2) == "1.00e+06");
  CHECK(decimal_text(-1e300, 4) == "-1.0000e+300");
  CHECK(decimal_text(std::numeric_limits<double>::infinity(), 2) == "inf");
}

TEST_CASE("a computed sum prints without rounding residue, and others keep all their digits") {
  CHECK(short_number_text(0.1 + 0.2) == "0.3");
  CHECK(short_number_text(0.7899999999999999) == "0.79");
  CHECK(short_number_text(0.123456789012) == "0.123456789012");
  CHECK(short_number_text(1e6) == number_text(1e6));
  CHECK(short_number_text(-2.5) == "-2.5");
}

TEST_CASE("a text of a CSV file is no formula of a spreadsheet, and a number stays a number") {
  for (const char* text :
       {"=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "=", "-1e", "+-1"}) {
    CHECK(csv_cell(text) == "'" + std::string(text));
    CHECK(csv_cell(csv_cell(text)) == csv_cell(text));
  }
  CHECK(csv_cell("=HYPERLINK(\"a\",\"b\")") == "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\"");
  for (const char* text : {"-1", "-0.5", "-1e-300", "+1.5", "-", "-inf", "inf", "nan", "1=1", "a@b", "", "gamma-1"}) {
    CHECK(csv_cell(text) == text);
  }
}

}  // namespace foredraft
