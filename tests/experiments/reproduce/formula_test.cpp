// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/formula.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

/// [Xia2023, Table 15], row "SpecDec": 110 W, 0.05 h, 6.05 Wh.
const PublishedTable& energy_table() { return published_table("emnlp_table15"); }

double value_of(std::string_view formula, const Names& names = {}) {
  return formula_of(formula, names)(Cells(energy_table(), 1));
}

std::string text_of(std::string_view text, const Names& names = {}) {
  return filled(text, names, Cells(energy_table(), 1));
}

}  // namespace

TEST_CASE("a declared formula is arithmetic of numbers and cells") {
  CHECK(value_of("2 + 3 * 4 - 6 / 4") == 12.5);
  CHECK(value_of("(2 + 3) * 4 - 10 - 1") == 9.0);
  CHECK(value_of("16 / 4 / 2") == 2.0);
  CHECK(value_of("avg_power_w * 2") == 220.0);
  CHECK(value_of("avg_power_w[model=AR*]") == 86.0);
  CHECK(value_of("avg_power_w[model=AR (greedy), gpu_type] + 1") == 87.0);
  CHECK(value_of("emnlp_table2.tok[model=SpecDec w/ h*]") == 2.32);
  CHECK(value_of("max(avg_power_w, min(300, 200)) - mean(1, 2, 6)") == 197.0);
  CHECK(value_of("least(emnlp_table15.gpu_hours_h) / greatest(emnlp_table15.gpu_hours_h)") == 0.05 / 0.27);
}

TEST_CASE("names stand for declared formulas, cells, columns and tables, and for values that code computes") {
  const Names names{.declared = {{"self", "avg_power_w"}, {"twice", "2 * self"}, {"other", "emnlp_table2"}},
                    .computed = {{"three", [](const Cells&) { return 3.0; }}},
                    .texts = {{"row", [](const Cells& at) { return "row " + std::to_string(at.row()); }}}};
  CHECK(value_of("twice + self[model=AR*] * three", names) == 220.0 + 3.0 * 86.0);
  CHECK(value_of("other.tok[model=SpecDec w/ h*]", names) == 2.32);
  CHECK(text_of("{self} of {row}: {twice:.1f}, {total_energy_wh}", names) == "110 of row 1: 220.0, 6.05");
}

TEST_CASE("a place without a format takes the text as printed, one with a format a number") {
  CHECK(text_of("{avg_power_w} {avg_power_w:.1f} {avg_power_w[model=AR*]} {gpu_hours_h:} {1 - 3:+.0f} %") ==
        "110 110.0 86 0.05 -2 %");
}

TEST_CASE("low and high are the ends of the rounding interval, and whole numbers are not rounded") {
  CHECK(value_of("low(avg_power_w / gpu_hours_h)") == Approx(109.5 / 0.055).epsilon(tests::few_ulp));
  CHECK(value_of("high(avg_power_w / gpu_hours_h)") == Approx(110.5 / 0.045).epsilon(tests::few_ulp));
  CHECK(value_of("high(avg_power_w / avg_power_w)") == 1.0);
  CHECK(value_of("low(#avg_power_w)") == 110.0);
  CHECK(value_of("high(least(emnlp_table15.gpu_hours_h))") == Approx(0.055).epsilon(tests::few_ulp));
}

TEST_CASE("a formula over all rows gives the minimum, the maximum or the mean of its values") {
  CHECK(value_of("lowest(2 * avg_power_w)") == 172.0);
  CHECK(value_of("highest(gpu_hours_h)") == 0.27);
  CHECK(value_of("average(avg_power_w)") == 98.0);
}

TEST_CASE("a formula that cannot be read is an error") {
  for (const char* wrong : {"", "2 +", "(2", "2 3", "min(1", "no_such(1)", "tok[model", "no_such_column", "1 ** 2"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(value_of(wrong), std::logic_error);
  }
}

}  // namespace foredraft::experiments
