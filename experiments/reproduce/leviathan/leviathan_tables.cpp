// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <vector>

#include "analytic/cost/iteration_cost.hpp"
#include "experiments/reproduce/iid_answers.hpp"
#include "experiments/reproduce/ngram_models.hpp"
#include "experiments/reproduce/table_account.hpp"
#include "sim/estimates.hpp"
#include "sim/ngram/acceptance_study.hpp"

namespace foredraft::experiments {
namespace {

/// alpha and gamma of this table are chosen, not measured, so they are taken as exact: the strictest reading.
ExperimentResult leviathan_table1(const Declaration& declared, const ExperimentSettings& settings) {
  constexpr double c = 0.0;
  constexpr double operations_ratio = 0.0;
  const PublishedTable& published = published_table(declared.published());
  ExperimentResult result;
  Table table = declared.table();
  DataText data = declared.data();
  for (std::size_t i = 0; i < published.size(); ++i) {
    const PrintedNumber alpha = published.number(i, "alpha");
    const PrintedNumber gamma_text = published.number(i, "gamma");
    const std::int64_t gamma = published.count(i, "gamma");
    const std::string name = fmt::format("alpha {} gamma {}", alpha.text, gamma_text.text);
    const double operations =
        analytic::operations_factor(iid_tokens(alpha.value, gamma), gamma, operations_ratio, Convention::bonus);
    const double speedup = iid_speedup(alpha.value, gamma, c);
    const Estimate simulated =
        sim::speedup(simulate({.alpha = alpha.value, .gamma = gamma, .iterations = 10'000'000, .point = i}, settings),
                     constant_ratio(c));

    result.rows.push_back(input_row(declared.id(), name, "alpha", alpha));
    result.rows.push_back(input_row(declared.id(), name, "gamma", gamma_text));
    result.rows.push_back(exact_row(declared.id(), name, "operations_x", published.number(i, "operations_x"),
                                    operations, {operations, operations}));
    const std::string operations_verdict(to_string(result.rows.back().verdict));
    result.rows.push_back(
        exact_row(declared.id(), name, "speed_x", published.number(i, "speed_x"), speedup, {speedup, speedup}));
    const std::string speed_verdict(to_string(result.rows.back().verdict));
    const double half_width = normal_quantile(0.95) * simulated.standard_error;
    result.rows.back().note = fmt::format("simulated {:.5f} +- {:.5f}", simulated.mean, half_width);
    table.rows.push_back({alpha.text, gamma_text.text, published.text(i, "operations_x") + "x",
                          fmt::format("{:.4f}", operations), operations_verdict, published.text(i, "speed_x") + "x",
                          fmt::format("{:.4f}", speedup), speed_verdict,
                          fmt::format("{:.4f} +- {:.4f}", simulated.mean, half_width)});
    data.row().cell(alpha.text).cell(gamma_text.text);
    data.cell(published.text(i, "operations_x")).cell(operations).cell(operations_verdict);
    data.cell(published.text(i, "speed_x")).cell(speedup).cell(speed_verdict).cell(simulated);
  }
  result.text = declared.text("heading") + to_text(table);
  result.add_table(declared.id(), table, data.csv());
  return result;
}

ExperimentResult leviathan_table2(const Declaration& declared, const ExperimentSettings& /*settings*/) {
  const PublishedTable& published = published_table(declared.published());
  ExperimentResult result;
  Table table = declared.table();
  DataText data = declared.data();
  std::string findings;
  for (std::size_t i = 0; i < published.size(); ++i) {
    const PrintedNumber alpha = published.number(i, "alpha");
    const PrintedNumber speed = published.number(i, "speed_x");
    const std::string name = fmt::format("{} {} T={}", published.text(i, "task"), published.text(i, "approx_model"),
                                         published.text(i, "temperature"));
    const ImpliedCost implied = implied_cost(alpha, published.count(i, "gamma"), speed);
    const bool explained = speed.rounding.low <= implied.iid_bound;
    const std::string note =
        explained ? declared.text("fitted", {implied.c, implied.c_interval})
                  : declared.text(speed.rounding.low > implied.process_bound ? "impossible" : "dependent",
                                  {alpha, implied.iid_bound, implied.process_bound});
    if (!explained) findings += fmt::format(" finding  {}  paper {}x; {}\n", name, speed.text, note);

    for (const char* column : {"temperature", "gamma", "alpha"}) {
      result.rows.push_back(input_row(declared.id(), name, column, published.number(i, column)));
    }
    result.rows.push_back({.experiment = declared.id(),
                           .row = name,
                           .column = "speed_x",
                           .published = speed,
                           .ours = explained ? speed.value : implied.iid_bound,
                           .kind = explained ? Kind::fitted : Kind::exact,
                           .verdict = explained ? Verdict::shown : Verdict::finding,
                           .note = note});
    const std::string verdict(to_string(result.rows.back().verdict));
    data.row();
    for (const char* column : {"task", "approx_model", "temperature", "gamma", "alpha", "speed_x"}) {
      data.cell(published.text(i, column));
    }
    data.cell(implied.c).cell(implied.c_interval.low).cell(implied.c_interval.high);
    data.cell(implied.best_gamma ? std::optional<double>(static_cast<double>(*implied.best_gamma)) : std::nullopt);
    data.cell(implied.best_speedup).cell(implied.iid_bound).cell(implied.process_bound).cell(verdict);
    const bool has_best = implied.best_gamma.has_value();
    table.rows.push_back(
        {published.text(i, "task"), published.text(i, "approx_model"), published.text(i, "temperature"),
         published.text(i, "gamma"), alpha.text, speed.text + "x", fmt::format("{:.3f}", implied.c),
         fmt::format("{:.3f} to {:.3f}", implied.c_interval.low, implied.c_interval.high),
         has_best ? fmt::format("{}", *implied.best_gamma) : "-",
         has_best ? fmt::format("{:.2f}x", *implied.best_speedup) : "-", fmt::format("{:.2f}x", implied.iid_bound),
         fmt::format("{:.2f}x", implied.process_bound), verdict});
  }
  result.text = declared.text("heading") + to_text(table) + findings;
  result.add_table(declared.id(), table, data.csv());
  return result;
}

/// The printed alphas need the trained networks, so they are listed beside ours, not imitated.
ExperimentResult leviathan_table3(const Declaration& declared, const ExperimentSettings& settings) {
  ExperimentResult result;
  Table table = declared.table();
  std::string sizes;
  std::uint64_t point = 0;
  for (const NgramStudyModels& models : ngram_study_models(settings)) {
    sizes += declared.text("corpus", {models.corpus, models.tokens, models.vocabulary, 100.0 * models.unknown_share});
    result.inputs.insert(result.inputs.end(), models.inputs.begin(), models.inputs.end());
    for (const double temperature : {0.0, 1.0}) {
      for (const auto& drafter : models.drafters) {
        const Estimate alpha = ngram::alpha(acceptance_study(
            models, drafter, temperature, {.seed = settings.seed, .point = point++}, settings.threads));
        table.rows.push_back({fmt::format("5-gram ({})", models.corpus), drafter_name(drafter->order()),
                              fmt::format("{:.0f}", temperature), fmt::format("{:.4f}", alpha.mean),
                              fmt::format("{:.4f}", normal_quantile(0.95) * alpha.standard_error), "ours"});
      }
    }
  }
  result.text = declared.text("heading") + sizes + to_text(table);
  const PublishedTable& published = published_table(declared.published());
  for (std::size_t i = 0; i < published.size(); ++i) {
    const std::string& temperature = published.text(i, "temperature");
    const std::string name =
        fmt::format("{}, {} T={}", published.text(i, "target_model"), published.text(i, "approx_model"), temperature);
    result.rows.push_back(input_row(declared.id(), name, "temperature", published.number(i, "temperature")));
    result.rows.push_back({.experiment = declared.id(),
                           .row = name,
                           .column = "alpha",
                           .published = published.number(i, "alpha"),
                           .kind = Kind::out_of_reach,
                           .note = "needs the trained networks"});
    table.rows.push_back({published.text(i, "target_model"), published.text(i, "approx_model"), temperature,
                          published.text(i, "alpha"), "", "paper"});
  }
  result.add_table(declared.id(), table);
  return result;
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
  return {{"leviathan-table1", leviathan_table1},
          {"leviathan-table2", leviathan_table2},
          {"leviathan-table3", leviathan_table3}};
}

}  // namespace foredraft::experiments
