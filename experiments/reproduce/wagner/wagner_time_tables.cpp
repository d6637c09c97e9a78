// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "analytic/cost/published_costs.hpp"
#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/registry.hpp"
#include "experiments/reproduce/reproduction_folder.hpp"
#include "experiments/reproduce/wagner/call_cost.hpp"
#include "experiments/reproduce/wagner/wagner_tables.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {
namespace {

/// The gain over all calls if there were as many calls as in the baseline: that of one call, from Table 4. Where the
/// printed gain is another one, the number of calls has changed, and by how much is solved from both.
CellAnswer total_profiling_gain(const std::string& run, const std::string& variant, const PrintedNumber& printed) {
  const RoundedValue call = wagner_call_gain(run, variant);
  const RoundedValue total = rounded(printed, 0.01);
  const RoundedValue ratio = propagate_rounding(
      {total, call}, [](std::span<const double> gains) { return analytic::implied_call_ratio(gains[0], gains[1]); });
  const RoundedValue as_many_calls = propagate_rounding(
      {call}, [](std::span<const double> gain) { return 100.0 * analytic::total_gain(gain[0], 1.0); });
  CellAnswer answer = exact_cell(as_many_calls, "gain of one call (Table 4), as many calls as in the baseline");
  if (contradicts(as_many_calls, printed)) {
    answer.finding = fmt::format(
        "one call gains {:.1f} % (Table 4), so {} % in all needs {:.3f} ({:.3f} to {:.3f}) times the calls: "
        "(1 - {:.3f}) / (1 - {:.3f}); {}",
        100.0 * call.value, printed.text, ratio.value, ratio.rounding.low, ratio.rounding.high, total.value, call.value,
        variant == "exact" ? "yet its outputs are said to be the baseline's"
                           : "calls spared by accepting more, not by a faster kernel");
  }
  return answer;
}

/// Faster calls and fewer calls of one run, apart; gains as shares.
struct SeparatedGain {
  double call;        ///< of a call, Table 4
  double call_ratio;  ///< calls over the baseline's, what is left between the two
  double token;       ///< of a generated token, Table 1, as far as the outputs are as long as the baseline's
  double counted_call;
  double counted_token;  ///< the same calls at their counted gain
};

SeparatedGain separated_gain(const PublishedTable& table, std::size_t row, const std::string& variant) {
  const std::string run = wagner_run(table, row);
  const double call = wagner_call_gain(run, variant).value;
  const double token = table.number(row, fmt::format("profiling_gain_{}_percent", variant)).value / 100.0;
  const double ratio = analytic::implied_call_ratio(token, call);
  const double counted = counted_gain(run, variant).at_first_gamma;
  return {.call = call,
          .call_ratio = ratio,
          .token = token,
          .counted_call = counted,
          .counted_token = analytic::total_gain(counted, ratio)};
}

void separate_calls(const TableAccount& account, ExperimentResult& result) {
  using enum Table::Align;
  const PublishedTable& published = account.published();
  DataText data({"run", "variant", "gain_per_call_percent", "call_ratio", "gain_per_token_percent",
                 "counted_gain_per_call_percent", "counted_gain_per_token_percent"});
  Table shown{
      .caption = fmt::format("Faster calls and fewer calls apart [Wagner2024, Tables 1 and 4]; gains in percent. "
                             "Counted at gamma {}, not measured: {}.",
                             first_gamma, counted_time_source()),
      .columns = {{"run", left},
                  {"variant", left},
                  {"gain per call", right},
                  {"ratio of calls", right},
                  {"gain per token", right},
                  {"counted gain per call", right},
                  {"counted gain per token", right}},
      .rows = {}};
  result.text +=
      fmt::format(" faster calls and fewer calls apart, in percent; counted at gamma {}, not measured\n", first_gamma);
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100.0 * share); };
  for (const std::string variant : {"exact", "sigmoid"}) {
    std::vector<SeparatedGain> gains;
    for (std::size_t row = 0; row < published.size(); ++row) {
      const std::string run = wagner_run(published, row);
      const SeparatedGain gain = separated_gain(published, row, variant);
      gains.push_back(gain);
      data.row().cell(run).cell(variant).cell(100.0 * gain.call).cell(gain.call_ratio).cell(100.0 * gain.token);
      data.cell(100.0 * gain.counted_call).cell(100.0 * gain.counted_token);
      shown.rows.push_back({run, variant, percent(gain.call), fmt::format("{:.3f}", gain.call_ratio),
                            percent(gain.token), percent(gain.counted_call), percent(gain.counted_token)});
      add_counted_row(result, "wagner-table1", account.row_name(row),
                      fmt::format("counted_profiling_gain_{}_percent", variant), 100.0 * gain.counted_token,
                      fmt::format("{:.1f} % a call at gamma {}, with the printed tables' {:.3f} times the calls; {}",
                                  100.0 * gain.counted_call, first_gamma, gain.call_ratio, counted_time_source()));
    }
    const auto range = [&gains](double SeparatedGain::*member) {
      std::vector<double> values;
      for (const SeparatedGain& gain : gains) values.push_back(gain.*member);
      return percent_range(values);
    };
    result.text += fmt::format("  {}: per call {}, {} % of the calls, per token {}; counted per call {}\n", variant,
                               range(&SeparatedGain::call), range(&SeparatedGain::call_ratio),
                               range(&SeparatedGain::token), range(&SeparatedGain::counted_call));
  }
  for (Artifact& artifact : table_artifacts("wagner-table1-calls", shown, data)) {
    result.artifacts.push_back(std::move(artifact));
  }
}

}  // namespace

ExperimentResult wagner_table1(const ExperimentSettings& /*settings*/) {
  TableAccount account("wagner-table1", "wagner_table1", {"dataset", "subset", "target"});
  const PublishedTable& table = account.published();
  account.out_of_reach("metric_baseline", "needs the trained networks and their data");
  account.out_of_reach("metric_sigmoid", "needs the trained networks and their data");
  account.each("metric_exact", [&](std::size_t row) {
    return exact_cell(rounded(table.number(row, "metric_baseline")),
                      "a lossless rule leaves the outputs, so the score is the baseline's");
  });
  for (const std::string variant : {"exact", "sigmoid"}) {
    const std::string column = fmt::format("profiling_gain_{}_percent", variant);
    account.each(column, [&](std::size_t row) {
      return total_profiling_gain(wagner_run(table, row), variant, table.number(row, column));
    });
  }
  ExperimentResult result = account.finish(
      "Gain over all calls of the verification step [Wagner2024, Table 1], beside the gain of one call from Table 4: "
      "they agree where the number of calls stayed.");
  separate_calls(account, result);
  return result;
}

namespace {

/// What Tables 1, 3 and 4 say of one run.
struct WallClockRun {
  PrintedNumber printed_wall;       ///< wall-clock gain of the exact variant
  PrintedNumber printed_profiling;  ///< its gain in the verification step
  RoundedValue share;               ///< of the step in the baseline's time, from the two
  RoundedValue kernel_only;         ///< wall-clock gain of the sigmoid variant if only the step's time changed
  double fewer_iterations;          ///< the same if every call that was saved had saved its whole iteration
};

double at_most_all(double share) { return std::min(share, 1.0); }

WallClockRun wall_clock_run(const PublishedTable& walls, std::size_t row) {
  const std::string run = wagner_run(walls, row);
  const PublishedTable totals = published_table("wagner_table1");
  const std::size_t total_row = wagner_row(totals, run);
  const PrintedNumber wall = walls.number(row, "wallclock_gain_exact_percent");
  const PrintedNumber exact = totals.number(total_row, "profiling_gain_exact_percent");
  const RoundedValue sigmoid = rounded(totals.number(total_row, "profiling_gain_sigmoid_percent"), 0.01);
  const RoundedValue call = wagner_call_gain(run, "sigmoid");
  const std::vector<RoundedValue> gains{rounded(wall, 0.01), rounded(exact, 0.01), sigmoid};
  const RoundedValue share =
      propagate_rounding(gains, [](std::span<const double> g) { return analytic::implied_share(g[0], g[1]); });
  return {.printed_wall = wall,
          .printed_profiling = exact,
          .share = share,
          .kernel_only = propagate_rounding(gains,
                                            [](std::span<const double> g) {
                                              return analytic::wall_gain(
                                                  at_most_all(analytic::implied_share(g[0], g[1])), g[2]);
                                            }),
          .fewer_iterations = analytic::total_gain(analytic::wall_gain(at_most_all(share.value), call.value),
                                                   analytic::implied_call_ratio(sigmoid.value, call.value))};
}

/// The two ends of the table contradict each other: nearly one gain in the step, very different gains in wall clock.
std::string extreme_share(const WallClockRun& run, const WallClockRun& least, const WallClockRun& greatest) {
  const bool is_greatest = run.share.value == greatest.share.value;
  if (!is_greatest && run.share.value != least.share.value) return {};
  const WallClockRun& other = is_greatest ? least : greatest;
  return fmt::format(
      "{} % of the step gives {} % of wall clock, a share of {:.2f} ({:.2f} to {:.2f}){}; in another row "
      "{} % gives {} %: noise in wall clock exceeds the effect",
      run.printed_profiling.text, run.printed_wall.text, run.share.value, run.share.rounding.low,
      run.share.rounding.high, run.share.rounding.low > 1.0 ? ", more than the whole" : "",
      other.printed_profiling.text, other.printed_wall.text);
}

}  // namespace

ExperimentResult wagner_table3(const ExperimentSettings& /*settings*/) {
  TableAccount account("wagner-table3", "wagner_table3", {"dataset", "subset", "target"});
  const PublishedTable& table = account.published();
  std::vector<WallClockRun> runs;
  for (std::size_t row = 0; row < table.size(); ++row) runs.push_back(wall_clock_run(table, row));
  const auto [least, greatest] =
      std::minmax_element(runs.begin(), runs.end(),
                          [](const WallClockRun& a, const WallClockRun& b) { return a.share.value < b.share.value; });

  account.each("wallclock_gain_exact_percent", [&](std::size_t row) {
    const WallClockRun& run = runs[row];
    return with_finding(fitted_cell(at_most_all(run.share.value) * run.printed_profiling.value,
                                    fmt::format("share of the step in the time, {:.3f} ({:.3f} to {:.3f}), solved from "
                                                "this cell and Table 1",
                                                run.share.value, run.share.rounding.low, run.share.rounding.high)),
                        extreme_share(run, *least, *greatest));
  });
  double kernel_error = 0.0;
  double iteration_error = 0.0;
  account.each("wallclock_gain_sigmoid_percent", [&](std::size_t row) {
    const WallClockRun& run = runs[row];
    const double printed = table.number(row, "wallclock_gain_sigmoid_percent").value;
    const double ours = 100.0 * run.kernel_only.value;
    kernel_error += std::abs(ours - printed) / static_cast<double>(table.size());
    iteration_error += std::abs(100.0 * run.fewer_iterations - printed) / static_cast<double>(table.size());
    return CellAnswer{
        .kind = Kind::predicted,
        .ours = ours,
        .interval = Interval{100.0 * run.kernel_only.rounding.low, 100.0 * run.kernel_only.rounding.high},
        .note = fmt::format("share from the exact column, gain from Table 1: off by {:+.1f} points; {:.1f} if "
                            "each call saved had saved its iteration",
                            ours - printed, 100.0 * run.fewer_iterations),
        .finding = {}};
  });
  ExperimentResult result = account.finish(
      "Wall-clock gain [Wagner2024, Table 3]: the share of the verification step from the exact column, and what it "
      "predicts for the sigmoid column.");
  result.text += fmt::format(
      " sigmoid column, mean error over {} rows: {:.1f} points if only the step's time changed, {:.1f} if each call "
      "saved had saved its iteration\n",
      table.size(), kernel_error, iteration_error);
  for (const std::string variant : {"exact", "sigmoid"}) {
    std::vector<double> gains;
    for (std::size_t row = 0; row < table.size(); ++row) {
      const double call = counted_gain(wagner_run(table, row), variant).at_first_gamma;
      gains.push_back(analytic::wall_gain(at_most_all(runs[row].share.value), call));
      add_counted_row(result, "wagner-table3", account.row_name(row),
                      fmt::format("counted_wallclock_gain_{}_percent", variant), 100.0 * gains.back(),
                      fmt::format("{:.1f} % a call at gamma {} and as many calls, with the share solved from the exact "
                                  "column; {}",
                                  100.0 * call, first_gamma, counted_time_source()));
    }
    result.text += fmt::format(" {}: of wall clock {} % by counted calls alone, as many as in the baseline\n", variant,
                               percent_range(gains));
  }
  return result;
}

}  // namespace foredraft::experiments
