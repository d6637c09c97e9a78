// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analytic/cost/published_costs.hpp"
#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/specdec/specdec_experiments.hpp"

namespace foredraft::experiments {
namespace {

constexpr double data_centre_pue = 1.1;              // [Xia2023, App. F]
constexpr double carbon_intensity_g_per_wh = 0.385;  // the same

}  // namespace

ExperimentResult emnlp_table15(const ExperimentSettings& /*settings*/) {
  enum Row : std::size_t { greedy = 0, specdec = 1 };
  TableAccount account("emnlp-table15", "emnlp_table15", {"model", "gpu_type"});
  const PublishedTable& table = account.published();
  account.inputs("avg_power_w");
  account.inputs("gpu_hours_h");
  account.each("total_energy_wh", [&](std::size_t row) {
    return exact_cell(
        propagate_rounding({rounded(table.number(row, "avg_power_w")), rounded(table.number(row, "gpu_hours_h"))},
                           [](std::span<const double> x) {
                             return analytic::energy_wh({.power_w = x[0], .hours_h = x[1], .pue = data_centre_pue});
                           }),
        "power x hours x PUE 1.1");
  });
  account.each("carbon_g_co2eq", [&](std::size_t row) {
    return exact_cell(propagate_rounding({rounded(table.number(row, "total_energy_wh"))},
                                         [](std::span<const double> x) {
                                           return analytic::carbon_g(x[0], carbon_intensity_g_per_wh);
                                         }),
                      "0.385 g/Wh x printed energy");
  });
  const RoundedValue hours_ratio =
      rounded_quotient(rounded(table.number(greedy, "gpu_hours_h")), rounded(table.number(specdec, "gpu_hours_h")));
  const PublishedTable main = published_table("emnlp_table1");
  const RoundedValue main_ratio =
      rounded_quotient(rounded(main.number(5, "en_de_speed_x")), rounded(main.number(1, "en_de_speed_x")));
  account.remark(
      "App. F, \"GPU hours are 540% shorter\"",
      fmt::format("nothing is shortened by more than 100 %: {} / {} = {:.1f} ({:.1f} to {:.1f} within rounding), "
                  "so the hours are {:.1f} times fewer, {:.0f} % shorter; Table 1 has {} / {} = {:.1f} ({:.1f} "
                  "to {:.1f})",
                  table.text(greedy, "gpu_hours_h"), table.text(specdec, "gpu_hours_h"), hours_ratio.value,
                  hours_ratio.rounding.low, hours_ratio.rounding.high, hours_ratio.value,
                  100.0 * (1.0 - 1.0 / hours_ratio.value), main.text(5, "en_de_speed_x"), main.text(1, "en_de_speed_x"),
                  main_ratio.value, main_ratio.rounding.low, main_ratio.rounding.high));
  const double power_ratio = table.number(specdec, "avg_power_w").value / table.number(greedy, "avg_power_w").value;
  ExperimentResult result = account.finish(
      "Energy and carbon of EN-DE [Xia2023, Table 15]: power x hours x PUE, and 0.385 g of CO2 equivalent a Wh.");
  result.text += fmt::format(
      " power {:.2f} times as high, hours {:.1f} times fewer: energy {:.1f} % (paper 23.7 %); saves while power rises "
      "by "
      "less than the speedup\n",
      power_ratio, hours_ratio.value, 100.0 * analytic::energy_ratio(power_ratio, hours_ratio.value));
  return result;
}

}  // namespace foredraft::experiments
