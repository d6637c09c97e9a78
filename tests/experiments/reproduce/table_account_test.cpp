// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/table_account.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "experiments/reproduce/cell_answers.hpp"

namespace foredraft::experiments {
namespace {

/// [Xia2023, Table 15]: two rows, power, hours, energy, carbon.
TableAccount energy_account() { return {"test", "emnlp_table15", {"model", "gpu_type"}}; }

TableAccount complete_account() {
  TableAccount account = energy_account();
  account.inputs("avg_power_w");
  account.inputs("gpu_hours_h");
  account.out_of_reach("carbon_g_co2eq", "not today");
  account.each("total_energy_wh", [](std::size_t row) {
    return row == 0 ? exact_cell({.value = 25.5, .rounding = {25.4, 25.535}}, "as computed")
                    : predicted_cell(6.05, parse_printed_number("6.05"), "a model");
  });
  return account;
}

const ScorecardRow& row_of(const ExperimentResult& result, std::string_view row, std::string_view column) {
  for (const ScorecardRow& entry : result.rows) {
    if (entry.row == row && entry.column == column) return entry;
  }
  throw std::logic_error("no such row");
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a table does not finish while a number has no account, and says which") {
  TableAccount account = energy_account();
  account.inputs("avg_power_w");
  account.inputs("gpu_hours_h");
  account.inputs("total_energy_wh");
  account.cell(0, "carbon_g_co2eq", input_cell());
  CHECK_THROWS_WITH(account.finish("caption"),
                    "test: numbers without an account: row 1 (SpecDec (k = 25) Nvidia P100), column carbon_g_co2eq");
  account.cell(1, "carbon_g_co2eq", input_cell());
  CHECK(account.finish("caption").rows.size() == 8);
}

TEST_CASE("every printed number gets one row in printed order, with our value and verdict") {
  const ExperimentResult result = complete_account().finish("caption");
  REQUIRE(result.rows.size() == 8);
  CHECK(result.rows[0].row == "AR (greedy) Nvidia P100");
  CHECK(result.rows[0].column == "avg_power_w");
  CHECK(result.rows[0].kind == Kind::input);
  CHECK(result.rows[0].published.value().text == "86");
  CHECK(result.rows[4].row == "SpecDec (k = 25) Nvidia P100");
  const ScorecardRow& exact = row_of(result, "AR (greedy) Nvidia P100", "total_energy_wh");
  CHECK(exact.verdict == Verdict::pass);
  CHECK(exact.ours.value() == 25.5);
  CHECK(row_of(result, "SpecDec (k = 25) Nvidia P100", "total_energy_wh").verdict == Verdict::shown);
  CHECK(row_of(result, "SpecDec (k = 25) Nvidia P100", "carbon_g_co2eq").note == "not today");
}

TEST_CASE("the text shows our value beside the printed one, with one digit more") {
  const ExperimentResult result = complete_account().finish("what it is");
  CHECK(contains(result.text, "what it is"));
  CHECK(contains(result.text, "total_energy_wh, paper"));
  CHECK(contains(result.text, "25.500 pass"));
  CHECK(contains(result.text, "6.050 shown"));
  CHECK_FALSE(contains(result.text, "avg_power_w, paper"));
  CHECK(result.artifacts.size() == 3);
}

TEST_CASE("the data of a table hold every column as printed, and our values and verdicts under names of their own") {
  TableAccount account = complete_account();
  account.cell(1, "total_energy_wh", input_cell());
  const ExperimentResult result = account.finish("caption");
  CHECK(result.artifacts.at(0).content ==
        "model,gpu_type,avg_power_w,gpu_hours_h,total_energy_wh,total_energy_wh_ours,total_energy_wh_verdict,"
        "carbon_g_co2eq\n"
        "AR (greedy),Nvidia P100,86,0.27,25.54,25.5,pass,9.83\n"
        "SpecDec (k = 25),Nvidia P100,110,0.05,6.05,,,2.33\n");
}

TEST_CASE("an exact answer passes where its interval touches the rounding and fails beside it") {
  const PrintedNumber printed = parse_printed_number("25.54");
  const auto verdict = [&](double low, double high) {
    return verdict_of(exact_cell({.value = low, .rounding = {low, high}}, {}), printed);
  };
  CHECK(verdict(25.0, 25.535) == Verdict::pass);
  CHECK(verdict(25.0, 25.534) == Verdict::fail);
  CHECK(verdict(25.546, 26.0) == Verdict::fail);
  CHECK(verdict_of(with_finding(exact_cell({.value = 1.0, .rounding = {1.0, 1.0}}, {}), "why"), printed) ==
        Verdict::finding);
  CHECK(verdict_of(fitted_cell(25.54, {}), printed) == Verdict::shown);
  CHECK(verdict_of(predicted_cell(25.54, printed, {}), printed) == Verdict::shown);
}

TEST_CASE("a finding is printed with its arithmetic, in a cell or of the text") {
  TableAccount account = complete_account();
  account.cell(1, "gpu_hours_h", with_finding(input_cell(), "5 is not 6"));
  account.remark("Sec. 9", "540 % shorter");
  const ExperimentResult result = account.finish("caption");
  CHECK(contains(result.text, "finding  SpecDec (k = 25) Nvidia P100, gpu_hours_h: paper 0.05; 5 is not 6"));
  CHECK(contains(result.text, "finding  Sec. 9: 540 % shorter"));
  REQUIRE(result.rows.size() == 9);
  CHECK(row_of(result, "SpecDec (k = 25) Nvidia P100", "gpu_hours_h").verdict == Verdict::finding);
  CHECK(result.rows.back().verdict == Verdict::finding);
  CHECK_FALSE(result.rows.back().published);
  CHECK_FALSE(any_failed(result.rows));
}

TEST_CASE("later accounts replace earlier ones, and labels that are numbers are inputs") {
  TableAccount account("test", "emnlp_table3", {"model", "k"});
  account.inputs("tok");
  account.inputs("bleu");
  account.inputs("speed_x");
  account.cell(1, "tok", fitted_cell(6.0, "late"));
  const ExperimentResult result = account.finish("caption");
  CHECK(row_of(result, "SpecDec k=10", "k").kind == Kind::input);
  CHECK(row_of(result, "SpecDec k=10", "tok").kind == Kind::fitted);
  CHECK(row_of(result, "AR-base (b = 5)", "tok").kind == Kind::input);
}

TEST_CASE("an account refuses cells without a number, unknown columns and exact answers without an interval") {
  TableAccount account = energy_account();
  CHECK_THROWS_AS(account.cell(0, "gpu_type", input_cell()), std::logic_error);
  CHECK_THROWS_AS(account.cell(0, "nothing", input_cell()), std::logic_error);
  CHECK_THROWS_AS(
      account.cell(0, "total_energy_wh", {.kind = Kind::exact, .ours = 1.0, .interval = {}, .note = {}, .finding = {}}),
      std::logic_error);
  CHECK_THROWS_AS(TableAccount("test", "no_such_table", {}), std::logic_error);
}

TEST_CASE("a prediction's note ends with its signed error") {
  CHECK(predicted_cell(4.95, parse_printed_number("4.4"), "Eq. 4").note == "Eq. 4; off by +12.5 %");
  CHECK(predicted_cell(3.3, parse_printed_number("4.4"), "Eq. 4").note == "Eq. 4; off by -25.0 %");
}

}  // namespace foredraft::experiments
