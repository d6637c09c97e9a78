// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <vector>

#include "analytic/cost/iteration_cost.hpp"
#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/iid_answers.hpp"
#include "experiments/reproduce/table_account.hpp"
#include "sim/estimates.hpp"

namespace foredraft::experiments {
namespace {

/// alpha and gamma of this table are chosen, not measured, so they are taken as exact: the strictest reading.
void leviathan_table1(FigureAccount& figure, const ExperimentSettings& settings) {
  constexpr double c = 0.0;
  constexpr double operations_ratio = 0.0;
  const PublishedTable& published = published_table("leviathan_table1");
  for (std::size_t i = 0; i < published.size(); ++i) {
    const double alpha = published.value(i, "alpha");
    const std::int64_t gamma = published.count(i, "gamma");
    const std::string name = fmt::format("alpha {} gamma {}", published.text(i, "alpha"), published.text(i, "gamma"));
    const Estimate simulated = sim::speedup(
        simulate({.alpha = alpha, .gamma = gamma, .iterations = 10'000'000, .point = i}, settings), constant_ratio(c));
    const double half_width = normal_quantile(0.95) * simulated.standard_error;
    std::vector<std::string> shown;
    figure.row();
    for (const char* column : {"alpha", "gamma"}) {
      figure.score_input(name, column, published.number(i, column));
      figure.add(published.text(i, column));
      shown.push_back(published.text(i, column));
    }
    const auto add_exact = [&](const std::string& column, double ours, const std::string& note) {
      const ScorecardRow row = scored({.experiment = figure.declared().id(),
                                       .row = name,
                                       .column = column,
                                       .published = published.number(i, column),
                                       .ours = ours,
                                       .ours_interval = Interval{ours, ours},
                                       .kind = Kind::exact,
                                       .note = note});
      const std::string verdict(to_string(row.verdict));
      figure.score(row);
      figure.add(published.text(i, column), ours, verdict);
      shown.insert(shown.end(), {published.text(i, column) + "x", fmt::format("{:.4f}", ours), verdict});
    };
    add_exact("operations_x",
              analytic::operations_factor(iid_tokens(alpha, gamma), gamma, operations_ratio, Convention::bonus), "");
    add_exact("speed_x", iid_speedup(alpha, gamma, c),
              fmt::format("simulated {:.5f} +- {:.5f}", simulated.mean, half_width));
    figure.add(simulated);
    shown.push_back(fmt::format("{:.4f} +- {:.4f}", simulated.mean, half_width));
    figure.shown(shown);
  }
  figure.say_declared("heading");
  figure.say_table();
}

void leviathan_table2(FigureAccount& figure, const ExperimentSettings& /*settings*/) {
  const Declaration& declared = figure.declared();
  const PublishedTable& published = published_table("leviathan_table2");
  std::string findings;
  for (std::size_t i = 0; i < published.size(); ++i) {
    const auto text = [&](const char* column) { return published.text(i, column); };
    const PrintedNumber alpha = published.number(i, "alpha");
    const PrintedNumber speed = published.number(i, "speed_x");
    const std::string name = fmt::format("{} {} T={}", text("task"), text("approx_model"), text("temperature"));
    const ImpliedCost implied = implied_cost(alpha, published.count(i, "gamma"), speed);
    const bool explained = speed.rounding.low <= implied.iid_bound;
    const std::string note =
        explained ? declared.text("fitted", {implied.c, implied.c_interval})
                  : declared.text(speed.rounding.low > implied.process_bound ? "impossible" : "dependent",
                                  {alpha, implied.iid_bound, implied.process_bound});
    if (!explained) findings += fmt::format(" finding  {}  paper {}x; {}\n", name, speed.text, note);
    for (const char* column : {"temperature", "gamma", "alpha"}) {
      figure.score_input(name, column, published.number(i, column));
    }
    const Verdict verdict = explained ? Verdict::shown : Verdict::finding;
    figure.score({.experiment = declared.id(),
                  .row = name,
                  .column = "speed_x",
                  .published = speed,
                  .ours = explained ? speed.value : implied.iid_bound,
                  .kind = explained ? Kind::fitted : Kind::exact,
                  .verdict = verdict,
                  .note = note});
    const auto& best = implied.best_gamma;
    figure.row(text("task"), text("approx_model"), text("temperature"), text("gamma"), alpha.text, speed.text,
               implied.c, implied.c_interval.low, implied.c_interval.high,
               best ? std::optional(static_cast<double>(*best)) : std::nullopt, implied.best_speedup, implied.iid_bound,
               implied.process_bound, to_string(verdict));
    figure.shown({text("task"), text("approx_model"), text("temperature"), text("gamma"), alpha.text, speed.text + "x",
                  fmt::format("{:.3f}", implied.c),
                  fmt::format("{:.3f} to {:.3f}", implied.c_interval.low, implied.c_interval.high),
                  best ? fmt::format("{}", *best) : "-", best ? fmt::format("{:.2f}x", *implied.best_speedup) : "-",
                  fmt::format("{:.2f}x", implied.iid_bound), fmt::format("{:.2f}x", implied.process_bound),
                  std::string(to_string(verdict))});
  }
  figure.say_declared("heading");
  figure.say_table();
  figure.say(findings);
}

/// The table of appendix A.3, where c comes from profiler traces: so it predicts what Table 2 of the paper measured.
void leviathan_table4(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  const Formula speedup = [](const Cells& at) { return iid_speedup(at("alpha"), at.count("gamma"), at("c")); };
  account.exact("expected_x", speedup);
  account.compute("measured_x", [&](std::size_t row) {
    const ImpliedCost cost =
        implied_cost(table.number(row, "alpha"), table.count(row, "gamma"), table.number(row, "measured_x"));
    return Computed(evaluate(speedup, table, row), {cost.c, cost.c_interval});
  });
}

/// Every drafter's acceptances stand in this many rows, from no lenience to the most.
constexpr std::size_t rows_per_drafter = 4;

/// A point of alpha as a function of x = 1 / lenience.
struct LeniencePoint {
  double x;
  RoundedValue alpha;
};

/// The line through two points, at x, with what rounding leaves of it.
Interval chord(const LeniencePoint& a, const LeniencePoint& b, double x) {
  const double share = (x - a.x) / (b.x - a.x);
  return propagate_rounding({a.alpha, b.alpha},
                            [share](std::span<const double> alpha) { return alpha[0] + share * (alpha[1] - alpha[0]); })
      .rounding;
}

/// What the other acceptances of a drafter allow for point `i`. sum min(p x, q) is concave in x, never falls, and
/// starts at 0: it lies above the chord across the point and below the chords beside it, carried on.
Interval allowed_by_others(const std::vector<LeniencePoint>& points, std::size_t i) {
  const double x = points[i].x;
  const bool is_last = i + 1 == points.size();
  Interval allowed{is_last ? points[i - 1].alpha.rounding.low : chord(points[i - 1], points[i + 1], x).low, 1.0};
  if (i >= 2) allowed.high = std::min(allowed.high, chord(points[i - 2], points[i - 1], x).high);
  if (i + 2 < points.size()) allowed.high = std::min(allowed.high, chord(points[i + 1], points[i + 2], x).high);
  return allowed;
}

/// The acceptances need the trained networks; what can be held against each other is their shape.
void leviathan_table5(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  account.exact("alpha", [](const Cells& at) {
    const std::string& drafter = at.table().text(at.row(), "approx_model");
    return at("leviathan_table3", {{"target_model", "T5-XXL (EnDe)"}, {"approx_model", drafter}, {"temperature", "1"}},
              "alpha");
  });
  account.compute("alpha", [&](std::size_t row) {
    const std::size_t first = row - row % rows_per_drafter;
    std::vector<LeniencePoint> points{{.x = 0.0, .alpha = {.value = 0.0, .rounding = {0.0, 0.0}}}};
    for (std::size_t k = first; k < first + rows_per_drafter; ++k) {
      points.push_back({.x = 1.0 / table.value(k, "lenience"), .alpha = rounded(table.number(k, "alpha"))});
    }
    const Interval allowed = allowed_by_others(points, row - first + 1);
    Computed answer = Computed::of_words({allowed});
    answer.finding = !intersects(allowed, table.number(row, "alpha").rounding);
    return answer;
  });
}

}  // namespace

TableCodes leviathan_tables() {
  return {{"leviathan-table4", leviathan_table4}, {"leviathan-table5", leviathan_table5}};
}

FigureCodes leviathan_own_tables() {
  return {{"leviathan-table1", leviathan_table1}, {"leviathan-table2", leviathan_table2}};
}

}  // namespace foredraft::experiments
