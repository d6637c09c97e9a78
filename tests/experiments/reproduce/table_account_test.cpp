// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/table_account.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "inputs/table_reader.hpp"
#include "tests/experiments/reproduce/reproduced.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

Declaration declared_as(const std::string& text) { return {"test", inputs::parse_toml(text, "test")}; }

/// [Xia2023, Table 15]: two rows, power, hours, energy, carbon.
Declaration energy_declaration(const std::string& cells, const std::string& caption = "caption",
                               const std::string& more = "") {
  return declared_as("published = 'emnlp_table15'\ncaption = '" + caption +
                     "'\nlabels = ['model', 'gpu_type']\ncells = [{ columns = ['avg_power_w', 'gpu_hours_h'], kind = "
                     "'input' }," +
                     cells + "]\n" + more);
}

Declaration complete_declaration(const std::string& cells = "", const std::string& more = "") {
  return energy_declaration(
      "{ columns = ['carbon_g_co2eq'], kind = 'out_of_reach', note = 'not today' },"
      "{ columns = ['total_energy_wh'], kind = 'predicted', ours = 'energy', note = 'a model; off by {off:+.1f} %' },"
      "{ columns = ['total_energy_wh'], where = { model = 'AR*' }, kind = 'exact', ours = 'energy', note = 'as "
      "computed' "
      "}," +
          cells,
      "what it is", more);
}

TableAccount complete_account(const Declaration& declared) {
  TableAccount account(declared);
  account.define("energy", [](const Cells& at) { return at.row() == 0 ? 25.536 : 6.05; });
  return account;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a table fails while a number has no account, and names it") {
  const Declaration declared = energy_declaration(
      "{ columns = ['total_energy_wh'], kind = 'input' },"
      "{ columns = ['carbon_g_co2eq'], where = { model = 'AR (greedy)' }, kind = 'input' }");
  CHECK_THROWS_WITH(TableAccount(declared).finish(),
                    Catch::Contains("row 1 ") && Catch::Contains("carbon_g_co2eq") && !Catch::Contains("row 0 "));
}

TEST_CASE("a cell that is declared to be computed has no account without a formula") {
  const Declaration declared = energy_declaration(
      "{ columns = ['total_energy_wh'], kind = 'exact', note = 'which?' },"
      "{ columns = ['carbon_g_co2eq'], kind = 'out_of_reach' }");
  CHECK_THROWS_WITH(TableAccount(declared).finish(),
                    Catch::Contains("row 0 ") && Catch::Contains("row 1 ") && Catch::Contains("total_energy_wh"));
}

TEST_CASE("every printed number gets one row in printed order, with our value and verdict") {
  const Declaration declared = complete_declaration();
  const ExperimentResult result = complete_account(declared).finish();
  REQUIRE(result.rows.size() == 8);
  CHECK(result.rows[0].row == "AR (greedy) Nvidia P100");
  CHECK(result.rows[0].column == "avg_power_w");
  CHECK(result.rows[0].kind == Kind::input);
  CHECK(result.rows[0].published.value().text == "86");
  CHECK(result.rows[4].row == "SpecDec (k = 25) Nvidia P100");
  const ScorecardRow& exact = tests::row_of(result, "AR (greedy) Nvidia P100", "total_energy_wh");
  CHECK(exact.verdict == Verdict::pass);
  CHECK(exact.ours.value() == 25.536);
  CHECK(exact.note == "as computed");
  CHECK(tests::row_of(result, "SpecDec (k = 25) Nvidia P100", "total_energy_wh").verdict == Verdict::shown);
  CHECK(tests::row_of(result, "SpecDec (k = 25) Nvidia P100", "carbon_g_co2eq").note == "not today");
}

TEST_CASE("the text shows our value and the printed one, ours with one digit more") {
  const Declaration declared = complete_declaration();
  const ExperimentResult result = complete_account(declared).finish();
  CHECK(contains(result.text, "what it is"));
  CHECK(contains(result.text, "total_energy_wh, paper"));
  CHECK(contains(result.text, "25.536 pass"));
  CHECK(contains(result.text, "6.050 shown"));
  CHECK_FALSE(contains(result.text, "avg_power_w, paper"));
  CHECK(result.artifacts.size() == 3);
}

TEST_CASE("the data of a table hold every column as printed, and our values and verdicts in separate columns") {
  const Declaration declared =
      complete_declaration("{ columns = ['total_energy_wh'], where = { model = 'SpecDec*' }, kind = 'input' }");
  const ExperimentResult result = complete_account(declared).finish();
  CHECK(result.artifacts.at(0).content ==
        "model,gpu_type,avg_power_w,gpu_hours_h,total_energy_wh,total_energy_wh_ours,total_energy_wh_verdict,"
        "carbon_g_co2eq\n"
        "AR (greedy),Nvidia P100,86,0.27,25.54,25.536,pass,9.83\n"
        "SpecDec (k = 25),Nvidia P100,110,0.05,6.05,,,2.33\n");
}

TEST_CASE("an exact answer passes if its interval touches the rounding, and fails otherwise") {
  const auto verdict = [](const ScorecardRow& answer, const std::string& finding = {}) {
    ScorecardRow row = answer;
    row.published = parse_printed_number("25.54");
    return scored(row, finding).verdict;
  };
  const auto exact = [](double low, double high) {
    return ScorecardRow{.ours = low, .ours_interval = Interval{low, high}, .kind = Kind::exact};
  };
  CHECK(verdict(exact(25.0, 25.535)) == Verdict::pass);
  CHECK(verdict(exact(25.0, 25.534)) == Verdict::fail);
  CHECK(verdict(exact(25.546, 26.0)) == Verdict::fail);
  CHECK(verdict(exact(1.0, 1.0), "why") == Verdict::finding);
  CHECK(verdict({.ours = 25.54, .kind = Kind::fitted}) == Verdict::shown);
  CHECK(verdict({.ours = 25.54, .kind = Kind::predicted}) == Verdict::shown);
}

TEST_CASE("a finding is printed with its arithmetic, in a cell or in the text") {
  const Declaration declared = complete_declaration(
      "{ columns = ['gpu_hours_h'], where = { model = 'SpecDec*' }, kind = 'input', finding = '5 is not 6' }",
      "after = [{ about = 'Sec. 9', text = '{100 * 5.4:.0f} % shorter' }]");
  const ExperimentResult result = complete_account(declared).finish();
  CHECK(contains(result.text, "finding  SpecDec (k = 25) Nvidia P100, gpu_hours_h: paper 0.05; 5 is not 6"));
  CHECK(contains(result.text, "finding  Sec. 9: 540 % shorter"));
  REQUIRE(result.rows.size() == 9);
  CHECK(tests::row_of(result, "SpecDec (k = 25) Nvidia P100", "gpu_hours_h").verdict == Verdict::finding);
  CHECK(result.rows.back().verdict == Verdict::finding);
  CHECK_FALSE(result.rows.back().published);
  CHECK_FALSE(any_failed(result.rows));
}

TEST_CASE("texts follow a table in order, once or for each of some rows, as do rows that no paper prints") {
  const Declaration declared = complete_declaration(
      "",
      "after = [{ text = 'hours:' }, { where = { gpu_type = 'Nvidia*' }, text = ' {gpu_hours_h}' }, { text = '.' },"
      "{ column = 'double_power', ours = '2 * avg_power_w', text = 'twice {avg_power_w}' }]");
  TableAccount account = complete_account(declared);
  account.after().text = " And more";
  const ExperimentResult result = account.finish();
  CHECK(result.text.ends_with("hours: 0.27 0.05. And more"));
  REQUIRE(result.rows.size() == 10);
  CHECK(result.rows.back().column == "double_power");
  CHECK(result.rows.back().ours.value() == 220.0);
  CHECK(result.rows.back().note == "twice 110");
  CHECK_FALSE(result.rows.back().published);
}

TEST_CASE("a finding of an exact cell holds if our interval misses the printed one, any other under its condition") {
  const Declaration declared = energy_declaration(
      "{ columns = ['total_energy_wh'], kind = 'exact', ours = 'energy', note = 'fine', finding = '{ours:.1f} "
      "({low(ours):.2f} to {high(ours):.2f}), not {self}: {why}' },"
      "{ columns = ['carbon_g_co2eq'], kind = 'fitted', ours = '4.66', note = 'fine', finding = 'off by {off:.0f} %', "
      "if = 'at_least(1, gpu_hours_h / 0.1)' }");
  TableAccount account(declared);
  account.define(
      "energy", [](const Cells& at) { return at.row() == 0 ? 25.54 : 0.08 * at(at.table(), at.row(), "avg_power_w"); });
  account.define_text("why", [](const Cells&) { return "why"; });
  const ExperimentResult result = account.finish();
  CHECK(tests::row_of(result, "AR (greedy) Nvidia P100", "total_energy_wh").note == "fine");
  CHECK(tests::row_of(result, "SpecDec (k = 25) Nvidia P100", "total_energy_wh").note ==
        "8.8 (8.76 to 8.84), not 6.05: why");
  CHECK(tests::row_of(result, "AR (greedy) Nvidia P100", "carbon_g_co2eq").note == "fine");
  CHECK(tests::row_of(result, "SpecDec (k = 25) Nvidia P100", "carbon_g_co2eq").note == "off by 100 %");
}

TEST_CASE("a value that is not exact has an interval if declared, and `of` follows the column") {
  const Declaration declared = energy_declaration(
      "{ columns = ['total_energy_wh', 'carbon_g_co2eq'], of = ['avg_power_w', 'gpu_hours_h'], kind = 'fitted', ours = "
      "'of', rounded = true }");
  const ExperimentResult result = TableAccount(declared).finish();
  CHECK(tests::row_of(result, "AR (greedy) Nvidia P100", "total_energy_wh").ours.value() == 86.0);
  CHECK(tests::row_of(result, "AR (greedy) Nvidia P100", "total_energy_wh").ours_interval->high == 86.5);
  CHECK(tests::row_of(result, "AR (greedy) Nvidia P100", "carbon_g_co2eq").ours.value() == 0.27);
}

TEST_CASE("a formula's interval covers the corners of all cells that it reads, each once") {
  const RoundedValue energy = evaluate(
      [](const Cells& at) {
        const auto own = [&](const char* column) { return at(at.table(), at.row(), column); };
        const PublishedTable& drafters = published_table("emnlp_table2");
        return own("gpu_hours_h") * own("avg_power_w") / own("gpu_hours_h") +
               at(drafters, drafters.row_where({{"model", "SpecDec w/ h*"}}), "tok");
      },
      published_table("emnlp_table15"), 1);
  CHECK(energy.value == Approx(110.0 + 2.32).epsilon(tests::few_ulp));
  CHECK(energy.rounding.low == Approx(109.5 + 2.315).epsilon(tests::few_ulp));
  CHECK(energy.rounding.high == Approx(110.5 + 2.325).epsilon(tests::few_ulp));
  const RoundedValue nothing_read = evaluate([](const Cells&) { return 3.0; }, published_table("emnlp_table15"), 0);
  CHECK(nothing_read.rounding.low == 3.0);
  CHECK(nothing_read.rounding.high == 3.0);
}

TEST_CASE("later rules replace earlier ones, and labels that are numbers are inputs") {
  const Declaration declared = declared_as(
      "published = 'emnlp_table3'\ncaption = 'caption'\nlabels = ['model', 'k']\n"
      "cells = [{ columns = ['tok', 'bleu', 'speed_x'], kind = 'input' },"
      "{ columns = ['tok'], where = { k = '10' }, kind = 'out_of_reach' },"
      "{ columns = ['tok'], where = { k = '15' }, kind = 'fitted', ours = '6' }]");
  const ExperimentResult result = TableAccount(declared).finish();
  CHECK(tests::row_of(result, "SpecDec k=10", "k").kind == Kind::input);
  CHECK(tests::row_of(result, "SpecDec k=10", "tok").kind == Kind::out_of_reach);
  CHECK(tests::row_of(result, "SpecDec k=15", "tok").kind == Kind::fitted);
  CHECK(tests::row_of(result, "AR-base (b = 5)", "tok").kind == Kind::input);
}

TEST_CASE("an account rejects unknown tables, columns and exact answers without an interval") {
  const Declaration unknown = declared_as("published = 'no_such_table'\nlabels = []");
  CHECK_THROWS_AS(TableAccount(unknown), std::logic_error);
  const Declaration nothing = energy_declaration("{ columns = ['carbon_g_co2eq'], kind = 'fitted', ours = 'nothing' }");
  CHECK_THROWS_AS(TableAccount(nothing).finish(), std::logic_error);
  CHECK_THROWS_AS(scored({.ours = 1.0, .kind = Kind::exact}), std::logic_error);
}

TEST_CASE("a prediction's note ends with its signed error") {
  const auto note = [&](const std::string& ours) {
    const Declaration declared = declared_as(
        "published = 'emnlp_table2'\nlabels = ['model']\n"
        "cells = [{ columns = ['speed_x'], kind = 'predicted', ours = '" +
        ours +
        "', note = 'Eq. 4; off by {off:+.1f} %' }, { columns = ['tok', 't_d', 'bleu'], kind = 'input' }]\n"
        "caption = 'caption'");
    // prints 4.4
    return tests::row_of(TableAccount(declared).finish(), "SpecDec w/ Spec-Drafter (w/o Principle I)", "speed_x").note;
  };
  CHECK(note("4.95") == "Eq. 4; off by +12.5 %");
  CHECK(note("3.3") == "Eq. 4; off by -25.0 %");
}

TEST_CASE("every declared rule applies to a printed number") {
  for (const Declaration& declared : declarations()) {
    CAPTURE(declared.id());
    for (const CellRule& rule : declared.rules()) {
      const PublishedTable& table = published_table(declared.published());
      for (const std::string& column : rule.columns) {
        CAPTURE(column, rule.note, rule.finding);
        int cells = 0;
        for (std::size_t row = 0; row < table.size(); ++row) {
          if (table.is_number(row, column) && declared.rule(table, row, column) == &rule) ++cells;
        }
        CHECK(cells > 0);
      }
    }
  }
}

}  // namespace foredraft::experiments
