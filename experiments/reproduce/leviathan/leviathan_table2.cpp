// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "experiments/reproduce/artifacts.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/implied_cost.hpp"
#include "experiments/reproduce/published.hpp"

namespace foredraft::experiments {
namespace {

/// Why a printed speedup cannot be, or nothing.
std::string finding(const PrintedNumber& alpha, const PrintedNumber& speed, const ImpliedCost& implied) {
  if (speed.rounding.low <= implied.iid_bound) return {};
  const std::string reach = fmt::format("alpha {} allows {:.2f}x i.i.d., {:.2f}x for any acceptance process",
                                        alpha.text, implied.iid_bound, implied.process_bound);
  return speed.rounding.low > implied.process_bound ? reach + ": no acceptance process explains it"
                                                    : reach + ": needs dependent acceptances and c near 0";
}

}  // namespace

ExperimentResult leviathan_table2(const ExperimentSettings& /*settings*/) {
  constexpr auto id = "leviathan-table2";
  using enum Table::Align;
  const PublishedTable published = published_table("leviathan_table2");
  ExperimentResult result;
  Table table{.caption =
                  "Speedup on T5-XXL [Leviathan2023, Table 2]: the draft/target cost c that explains each printed "
                  "speedup, the best gamma at that c, and the largest speedup that alpha allows at c = 0.",
              .columns = {{"task", left},
                          {"drafter", left},
                          {"T", right},
                          {"gamma", right},
                          {"alpha", right},
                          {"speedup, paper", right},
                          {"implied c", right},
                          {"c from rounding", right},
                          {"best gamma", right},
                          {"speedup there", right},
                          {"i.i.d. bound", right},
                          {"any process", right},
                          {"verdict", left}},
              .rows = {}};
  DataText data({"task", "approx_model", "temperature", "gamma", "alpha", "speed_x", "implied_c", "implied_c_low",
                 "implied_c_high", "best_gamma", "best_speed_x", "iid_bound_x", "process_bound_x", "verdict"});
  std::string findings;
  for (std::size_t i = 0; i < published.size(); ++i) {
    const PrintedNumber alpha = published.number(i, "alpha");
    const PrintedNumber gamma = published.number(i, "gamma");
    const PrintedNumber speed = published.number(i, "speed_x");
    const std::string name = fmt::format("{} {} T={}", published.text(i, "task"), published.text(i, "approx_model"),
                                         published.text(i, "temperature"));
    const ImpliedCost implied = implied_cost(alpha, static_cast<std::int64_t>(gamma.value), speed);
    const std::string why = finding(alpha, speed, implied);
    if (!why.empty()) findings += fmt::format(" finding  {}  paper {}x; {}\n", name, speed.text, why);

    result.rows.push_back(input_row(id, name, "temperature", published.number(i, "temperature")));
    result.rows.push_back(input_row(id, name, "gamma", gamma));
    result.rows.push_back(input_row(id, name, "alpha", alpha));
    result.rows.push_back({.experiment = id,
                           .row = name,
                           .column = "speed_x",
                           .published = speed,
                           .ours = why.empty() ? speed.value : implied.iid_bound,
                           .ours_interval = std::nullopt,
                           .kind = why.empty() ? Kind::fitted : Kind::exact,
                           .verdict = why.empty() ? Verdict::shown : Verdict::finding,
                           .note = why.empty() ? fmt::format("c = {:.4f} ({:.4f} to {:.4f}) solved from this cell",
                                                             implied.c, implied.c_interval.low, implied.c_interval.high)
                                               : why});
    data.row();
    for (const char* column : {"task", "approx_model", "temperature", "gamma", "alpha", "speed_x"}) {
      data.cell(published.text(i, column));
    }
    data.cell(implied.c).cell(implied.c_interval.low).cell(implied.c_interval.high);
    data.cell(implied.best_gamma ? std::optional<double>(static_cast<double>(*implied.best_gamma)) : std::nullopt);
    data.cell(implied.best_speedup).cell(implied.iid_bound).cell(implied.process_bound);
    data.cell(to_string(result.rows.back().verdict));
    const bool has_best = implied.best_gamma.has_value();
    table.rows.push_back(
        {published.text(i, "task"), published.text(i, "approx_model"), published.text(i, "temperature"), gamma.text,
         alpha.text, speed.text + "x", fmt::format("{:.3f}", implied.c),
         fmt::format("{:.3f} to {:.3f}", implied.c_interval.low, implied.c_interval.high),
         has_best ? fmt::format("{}", *implied.best_gamma) : "-",
         has_best ? fmt::format("{:.2f}x", *implied.best_speedup) : "-", fmt::format("{:.2f}x", implied.iid_bound),
         fmt::format("{:.2f}x", implied.process_bound), why.empty() ? "shown" : "finding"});
  }
  result.text =
      "speedup on T5-XXL; c solved from each speedup (fitted: not agreement). Bounds at the upper end of "
      "alpha's rounding\n" +
      to_text(table) + findings;
  result.artifacts = table_artifacts(id, table, data);
  return result;
}

}  // namespace foredraft::experiments
