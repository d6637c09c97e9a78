// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "analytic/cost/iteration_cost.hpp"
#include "core/intervals.hpp"
#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/paper_formulas.hpp"
#include "experiments/reproduce/table_account.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/estimates.hpp"
#include "sim/simulate.hpp"

namespace foredraft::experiments {
namespace {

/// A simulated run with the reference path, one draw per drafted token. `point` numbers the runs of an experiment.
struct IidRun {
  double alpha;
  std::int64_t gamma;
  std::uint64_t iterations;
  std::uint64_t point;
};

sim::Tally simulate(const IidRun& run, const ExperimentSettings& settings) {
  const auto simulator =
      sim::make_simulator({.fidelity = ProcessFidelity{.acceptance = Iid{run.alpha}}, .gamma = run.gamma},
                          {.iterations = run.iterations, .path = Path::reference});
  return sim::run(*simulator, {.seed = settings.seed, .point = run.point, .stop = settings.stop}, settings.threads);
}

void leviathan_table1(FigureAccount& figure, const ExperimentSettings& settings) {
  TableAccount account(figure.declared());
  const PublishedTable& published = account.published();
  for (std::size_t i = 0; i < published.size(); ++i) {
    const IidRun run{.alpha = published.value(i, "alpha"),
                     .gamma = published.count(i, "gamma"),
                     .iterations = 10'000'000,
                     .point = i};
    const Estimate simulated = sim::speedup(simulate(run, settings), constant_ratio(0.0));
    const double half_width = normal_quantile(0.95) * simulated.standard_error;
    account.define("simulated", simulated.mean);
    account.define("half_width", half_width);
    std::vector<std::string> shown;
    figure.row();
    for (const std::string& column : published.columns()) {
      ScorecardRow row = account.answer(i, column).value();
      row.row = fmt::format("alpha {} gamma {}", published.text(i, "alpha"), published.text(i, "gamma"));
      figure.score(row);
      figure.add(published.text(i, column));
      shown.push_back(published.text(i, column));
      if (row.kind == Kind::input) continue;
      const std::string verdict(to_string(row.verdict));
      figure.add(*row.ours, verdict);
      shown.back() += "x";
      shown.insert(shown.end(), {fmt::format("{:.4f}", *row.ours), verdict});
    }
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
    const auto rounded_value = [&](const char* formula) { return evaluate(formula_of(formula, {}), published, i); };
    const PrintedNumber speed = published.number(i, "speed_x");
    const std::string name = fmt::format("{} {} T={}", text("task"), text("approx_model"), text("temperature"));
    const RoundedValue c = rounded_value("implied_c(alpha, #gamma, speed_x)");  // negative: no cost explains the speed
    const auto best = c.value > 0.0 ? std::optional(best_iid(published.value(i, "alpha"), c.value)) : std::nullopt;
    // The largest speedups, at c = 0 and the upper end of alpha's rounding.
    const double iid_bound = rounded_value("iid_tokens(alpha, #gamma)").rounding.high;
    const double process_bound = rounded_value("any_process_tokens(alpha, #gamma)").rounding.high;
    const bool explained = speed.rounding.low <= iid_bound;
    const std::string note = explained ? declared.said("fitted", c.value, c.rounding.low, c.rounding.high)
                                       : declared.said(speed.rounding.low > process_bound ? "impossible" : "dependent",
                                                       text("alpha"), iid_bound, process_bound);
    if (!explained) findings += fmt::format(" finding  {}  paper {}x; {}\n", name, speed.text, note);
    for (const char* column : {"temperature", "gamma", "alpha"}) {
      figure.score_input(name, column, published.number(i, column));
    }
    const Verdict verdict = explained ? Verdict::shown : Verdict::finding;
    figure.score({.experiment = declared.id(),
                  .row = name,
                  .column = "speed_x",
                  .published = speed,
                  .ours = explained ? speed.value : iid_bound,
                  .kind = explained ? Kind::fitted : Kind::exact,
                  .verdict = verdict,
                  .note = note});
    figure.row(text("task"), text("approx_model"), text("temperature"), text("gamma"), text("alpha"), speed.text,
               c.value, c.rounding.low, c.rounding.high,
               best ? std::optional(static_cast<double>(best->gamma.value())) : std::nullopt,
               best ? std::optional(best->speedup) : std::nullopt, iid_bound, process_bound, to_string(verdict));
    figure.shown(
        {text("task"), text("approx_model"), text("temperature"), text("gamma"), text("alpha"), speed.text + "x",
         fmt::format("{:.3f}", c.value), fmt::format("{:.3f} to {:.3f}", c.rounding.low, c.rounding.high),
         best ? fmt::format("{}", best->gamma.value()) : "-", best ? fmt::format("{:.2f}x", best->speedup) : "-",
         fmt::format("{:.2f}x", iid_bound), fmt::format("{:.2f}x", process_bound), std::string(to_string(verdict))});
  }
  figure.say_declared("heading");
  figure.say_table();
  figure.say(findings);
}

/// Rows per drafter, from no lenience to the largest.
constexpr std::size_t rows_per_drafter = 4;

/// A point (x, alpha), x = 1 / lenience.
struct LeniencePoint {
  double x;
  RoundedValue alpha;
};

/// The interval at x of the line through two rounded points.
Interval chord(const LeniencePoint& a, const LeniencePoint& b, double x) {
  const double share = (x - a.x) / (b.x - a.x);
  return propagate_rounding({a.alpha, b.alpha},
                            [share](std::span<const double> alpha) { return alpha[0] + share * (alpha[1] - alpha[0]); })
      .rounding;
}

/// The interval of point `i` given the other acceptances of the drafter. sum min(p x, q) is concave, nondecreasing and
/// 0 at x = 0, so it lies above the chord across the point and below the extended neighboring chords.
Interval allowed_by_others(const std::vector<LeniencePoint>& points, std::size_t i) {
  const double x = points[i].x;
  const bool is_last = i + 1 == points.size();
  Interval allowed{is_last ? points[i - 1].alpha.rounding.low : chord(points[i - 1], points[i + 1], x).low, 1.0};
  if (i >= 2) allowed.high = std::min(allowed.high, chord(points[i - 2], points[i - 1], x).high);
  if (i + 2 < points.size()) allowed.high = std::min(allowed.high, chord(points[i + 1], points[i + 2], x).high);
  return allowed;
}

/// The acceptances need the trained networks; only their consistency can be checked.
void leviathan_table5(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  const auto allowed_in = [&table](std::size_t row) {
    const std::size_t first = row - row % rows_per_drafter;
    std::vector<LeniencePoint> points{{.x = 0.0, .alpha = {.value = 0.0, .rounding = {0.0, 0.0}}}};
    for (std::size_t k = first; k < first + rows_per_drafter; ++k) {
      points.push_back({.x = 1.0 / table.value(k, "lenience"), .alpha = rounded(table.number(k, "alpha"))});
    }
    return allowed_by_others(points, row - first + 1);
  };
  account.define("allowed_low", [=](const Cells& at) { return allowed_in(at.row()).low; });
  account.define("allowed_high", [=](const Cells& at) { return allowed_in(at.row()).high; });
}

/// Used for gamma = infinity in the simulation; at alpha <= 0.9 fewer than one iteration in 10^17 reaches it.
constexpr std::int64_t practically_unbounded = 400;

void leviathan_figure2(FigureAccount& figure, const ExperimentSettings& settings) {
  figure.say_declared("caption");
  std::uint64_t point = 0;
  for (const std::optional<std::int64_t> gamma :
       std::array<std::optional<std::int64_t>, 6>{1, 3, 5, 7, 10, std::nullopt}) {
    const std::string label = gamma ? fmt::format("{}", *gamma) : "inf";
    const int last_percent = gamma ? 100 : 92;  // above, the limit 1 / (1 - alpha) leaves the figure
    for (int percent = 0; percent <= last_percent; ++percent) {
      const double alpha = percent / 100.0;
      std::optional<Estimate> simulated;
      if (percent % 10 == 0) {
        const IidRun run{.alpha = alpha,
                         .gamma = gamma.value_or(practically_unbounded),
                         .iterations = gamma ? 100'000U : 20'000U,
                         .point = point++};
        simulated = sim::tokens_per_iteration(simulate(run, settings));
      }
      figure.row(label, alpha, gamma ? iid_tokens(alpha, *gamma) : 1.0 / (1.0 - alpha), simulated);
    }
  }
}

/// Maximum draft length of the simulated search; the optimum at alpha = 0.95, c = 0.01 is 40.
constexpr std::int64_t longest_draft = 96;

/// The draft lengths that a simulation cannot distinguish from the best one.
struct SimulatedBest {
  std::int64_t gamma;
  std::int64_t low;
  std::int64_t high;
};

/// Shorter drafts are truncations of the same run, so all lengths are compared on the same iterations. The difference
/// of two speedups is the mean of a function of the accepted count, which gives its exact standard error.
SimulatedBest simulated_best(const sim::Tally& tally, double c) {
  const auto speedup = [&](std::int64_t gamma, std::int64_t tokens) {
    return static_cast<double>(std::min(tokens, gamma + 1)) / (1.0 + static_cast<double>(gamma) * c);
  };
  const auto iterations = static_cast<double>(tally.units.sum(sim::iterations));
  const auto mean = [&](auto value) {
    double sum = 0.0;
    for (std::size_t k = 0; k < tally.tokens_count.size(); ++k) {
      sum += static_cast<double>(tally.tokens_count[k]) * value(static_cast<std::int64_t>(k) + 1);
    }
    return sum / iterations;
  };

  SimulatedBest best{.gamma = 0, .low = 0, .high = 0};
  double best_speedup = 0.0;
  for (std::int64_t gamma = 0; gamma <= longest_draft; ++gamma) {
    const double value = mean([&](std::int64_t tokens) { return speedup(gamma, tokens); });
    if (value > best_speedup) {
      best_speedup = value;
      best.gamma = gamma;
    }
  }
  const double z = normal_quantile(0.95);
  const auto indistinguishable = [&](std::int64_t gamma) {
    const auto difference = [&](std::int64_t tokens) { return speedup(best.gamma, tokens) - speedup(gamma, tokens); };
    const double average = mean(difference);
    const double variance = mean([&](std::int64_t tokens) { return std::pow(difference(tokens) - average, 2); });
    return average <= z * std::sqrt(variance / iterations);
  };
  best.low = best.high = best.gamma;
  while (best.low > 0 && indistinguishable(best.low - 1)) --best.low;
  while (best.high < longest_draft && indistinguishable(best.high + 1)) ++best.high;
  return best;
}

void leviathan_figure3(FigureAccount& figure, const ExperimentSettings& settings) {
  figure.say_declared("caption");
  constexpr std::array simulated_percents{10, 20, 30, 40, 50, 60, 70, 80, 90, 95};
  std::map<int, sim::Tally> tallies;  // by alpha in permille
  for (std::size_t i = 0; i < simulated_percents.size(); ++i) {
    const double alpha = simulated_percents[i] / 100.0;
    tallies.emplace(10 * simulated_percents[i],
                    simulate({.alpha = alpha, .gamma = longest_draft, .iterations = 1'000'000, .point = i}, settings));
  }
  for (const double c : {0.01, 0.02, 0.05, 0.1, 0.2}) {
    for (int permille = 0; permille <= 950; permille += 5) {
      const double alpha = permille / 1000.0;
      figure.row(c, alpha, best_iid(alpha, c).gamma.value());
      if (const auto tally = tallies.find(permille); tally != tallies.end()) {
        const SimulatedBest simulated = simulated_best(tally->second, c);
        figure.add(simulated.gamma, simulated.low, simulated.high);
      } else {
        figure.add("", "", "");
      }
    }
  }
}

void leviathan_figure4(FigureAccount& figure, const ExperimentSettings& settings) {
  constexpr double c = 0.0;
  constexpr double operations_ratio = 0.0;
  figure.say_declared("caption");
  std::uint64_t point = 0;
  for (const std::int64_t gamma : {1, 3, 5, 7, 10}) {
    for (int percent = 0; percent <= 100; ++percent) {
      const double alpha = percent / 100.0;
      std::optional<Estimate> speedup;
      std::optional<Estimate> operations;
      if (percent % 10 == 0) {
        const sim::Tally tally =
            simulate({.alpha = alpha, .gamma = gamma, .iterations = 100'000, .point = point++}, settings);
        speedup = sim::speedup(tally, constant_ratio(c));
        operations = sim::operations_factor(tally, operations_ratio, Convention::bonus);
      }
      figure.row(gamma, alpha, iid_speedup(alpha, gamma, c),
                 analytic::operations_factor(iid_tokens(alpha, gamma), static_cast<double>(gamma), operations_ratio,
                                             Convention::bonus),
                 speedup, operations);
    }
  }
}

/// The figure has a lane per draft length, which shows the iterations of one text in target steps.
void leviathan_figure5(FigureAccount& figure, const ExperimentSettings& settings) {
  constexpr double alpha = 0.8;
  constexpr double c = 0.1;
  constexpr std::int64_t text_tokens = 24;
  figure.say_declared("caption", text_tokens, alpha, c);
  std::uint64_t point = 0;
  for (const std::int64_t gamma : {7, 3, 0}) {
    const std::string lane = gamma == 0 ? "plain decoding" : fmt::format("gamma = {}", gamma);
    double now = 0.0;
    const auto step = [&](std::string_view kind, double duration) {
      figure.row(lane, kind, now, now + duration, "");
      now += duration;
    };
    std::int64_t emitted = 0;
    int iterations = 0;
    while (emitted < text_tokens) {
      for (std::int64_t draft = 0; draft < gamma; ++draft) step("draft", c);
      step("target", 1.0);
      const auto tally = simulate({.alpha = alpha, .gamma = gamma, .iterations = 1, .point = point++}, settings);
      // The tokens of an iteration appear when its target step ends.
      const auto tokens = static_cast<std::int64_t>(tally.units.sum(sim::tokens));
      const std::int64_t kept = std::min(tokens, text_tokens - emitted);
      for (std::int64_t i = 1; i <= kept; ++i) {
        figure.row(lane, "token", now, now,
                   i < tokens                         ? "accepted"
                   : tokens == gamma + 1 && gamma > 0 ? "bonus"
                                                      : "corrected");
      }
      emitted += kept;
      ++iterations;
    }
    figure.say(fmt::format(" {:<15} {:>2} iterations, {:>5.1f} target steps, {:.2f}x\n", lane, iterations, now,
                           static_cast<double>(text_tokens) / now));
  }
}

}  // namespace

ExperimentCodes leviathan() {
  return {{"leviathan-table1", leviathan_table1},   {"leviathan-table2", leviathan_table2},
          {"leviathan-table5", leviathan_table5},   {"leviathan-figure2", leviathan_figure2},
          {"leviathan-figure3", leviathan_figure3}, {"leviathan-figure4", leviathan_figure4},
          {"leviathan-figure5", leviathan_figure5}};
}

}  // namespace foredraft::experiments
