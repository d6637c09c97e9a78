// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "experiments/reproduce/paper_formulas.hpp"
#include "experiments/reproduce/specdec/logit_ladder.hpp"
#include "experiments/reproduce/specdec/speedup_fit.hpp"
#include "experiments/reproduce/table_account.hpp"

/// Fits for the tables of the two SpecDec papers.
namespace foredraft::experiments {
namespace {

/// Rows without the one that Eq. 4 cannot explain together with the others.
constexpr std::array<std::size_t, 3> consistent_rows{1, 3, 4};
constexpr std::array<std::size_t, 4> drafter_rows{1, 2, 3, 4};
constexpr Interval verify_range{0.1, 1000.0};

/// Least-squares fit to `rows` without one of them.
StepTimes step_times(const PublishedTable& table, std::span<const std::size_t> rows, std::size_t without) {
  std::vector<DrafterRow> drafters;
  for (const std::size_t row : rows) {
    if (row == without) continue;
    drafters.push_back({.tokens = table.value(row, "tok"),
                        .draft_time = table.value(row, "t_d"),
                        .speedup = table.value(row, "speed_x")});
  }
  return fit_step_times(drafters, verify_range);
}

/// The range of t_v that explains these rows within their rounding.
std::string verify_times(const PublishedTable& table, std::span<const std::size_t> rows) {
  std::vector<Strip> strips;
  for (const std::size_t row : rows) {
    strips.push_back(step_times_strip(table.number(row, "tok").rounding, table.number(row, "t_d").rounding,
                                      table.number(row, "speed_x").rounding));
  }
  const auto range = feasible_x(strips, verify_range);
  return range ? fmt::format("t_v in [{:.2f}, {:.2f}]", range->low, range->high) : "no t_v";
}

void emnlp_table2(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  account.define("verify", [&](const Cells& at) { return step_times(table, consistent_rows, at.row()).verify; });
  account.define("step", [&](const Cells& at) { return step_times(table, consistent_rows, at.row()).step; });
  const StepTimes all = step_times(table, drafter_rows, table.size());
  account.define("verify_all", all.verify);
  account.define("step_all", all.step);
  account.define_text("times_of_consistent", [&](const Cells&) { return verify_times(table, consistent_rows); });
  account.define_text("times_of_all", [&](const Cells&) { return verify_times(table, drafter_rows); });
}

struct LadderTarget {
  TopBetaRule rule;
  double acceptance;
};
using LadderTargets = std::array<LadderTarget, 3>;

// As a function of spread, acceptance changes in steps of about 1e-5, because contexts pass the tolerance one by one.
// Slopes are therefore taken over many steps, and the fit ends when a printed Tok would change by less than half its
// last digit.
constexpr double fitted_to = 4e-5;
constexpr double slope_step = 0.02;
constexpr double longest_step = 0.5;
constexpr int max_steps = 60;

LogitLadder ladder_of(const Eigen::Vector3d& logs) {
  return {.spread = std::exp(logs[0]), .noise = std::exp(logs[1]), .unlike = std::exp(std::min(logs[2], 0.0))};
}

Eigen::Vector3d misfit(const LadderContexts& contexts, const LadderTargets& targets, const Eigen::Vector3d& logs) {
  Eigen::Vector3d result;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    result[static_cast<Eigen::Index>(i)] =
        contexts.acceptance(ladder_of(logs), targets[i].rule) - targets[i].acceptance;
  }
  return result;
}

/// Fits the three parameters to three acceptances by Newton's method on their logarithms. Starts with values for a
/// drafter that is right nine times in ten.
LogitLadder fit_ladder(const LadderContexts& contexts, const LadderTargets& targets) {
  Eigen::Vector3d logs{std::log(13.0), std::log(1.8), std::log(0.03)};
  Eigen::Vector3d off = misfit(contexts, targets, logs);
  for (int step = 0; step < max_steps; ++step) {
    if (off.cwiseAbs().maxCoeff() < fitted_to) return ladder_of(logs);
    Eigen::Matrix3d slopes;
    for (Eigen::Index j = 0; j < 3; ++j) {
      Eigen::Vector3d beside = logs;
      beside[j] += slope_step;
      slopes.col(j) = (misfit(contexts, targets, beside) - off) / slope_step;
    }
    const Eigen::Vector3d move = slopes.fullPivLu().solve(-off);
    logs += move.cwiseMax(-longest_step).cwiseMin(longest_step);
    off = misfit(contexts, targets, logs);
  }
  throw std::runtime_error("logit ladder: no parameters explain the three acceptances");
}

/// Vanilla verification accepts only the best token.
TopBetaRule rule_of_row(const PublishedTable& table, std::size_t row) {
  if (!table.is_number(row, "top_beta")) return {.top_beta = 1, .tolerance = 0.0};
  return {.top_beta = table.count(row, "top_beta"), .tolerance = table.value(row, "tau")};
}

/// Blocks of 25 drafts.
void relaxed_verification(TableAccount& account, const ExperimentSettings& settings) {
  const PublishedTable& table = account.published();
  const LadderContexts contexts(8000, 32, settings.seed);
  const std::vector<std::size_t> fitted = account.rows_of("tok", Kind::fitted);
  LadderTargets targets{};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets[i] = {.rule = rule_of_row(table, fitted.at(i)),
                  .acceptance = account.value("specdec_alpha(tok, 25)", fitted.at(i))};
  }
  const LogitLadder ladder = fit_ladder(contexts, targets);
  std::vector<double> acceptances;
  for (std::size_t row = 0; row < table.size(); ++row) {
    acceptances.push_back(contexts.acceptance(ladder, rule_of_row(table, row)));
  }
  account.define("acceptance", [acceptances](const Cells& at) { return acceptances[at.row()]; });
  account.define("spread", ladder.spread);
  account.define("noise", ladder.noise);
  account.define("unlike", ladder.unlike);
}

/// Slopes of one line that explains the three rows of SpecDec within their rounding.
void iclr_table6(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  std::vector<Strip> strips;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (!table.text(row, "model").starts_with("SpecDec")) continue;
    strips.push_back(
        inverse_speedup_strip(table.number(row, "iterations").rounding, table.number(row, "speed_x").rounding));
  }
  const auto slopes = feasible_x(strips, {0.0, 1.0});
  const Declaration& declared = account.declared();
  account.after().text = slopes ? declared.said("one_line", slopes->low, slopes->high) : declared.said("no_line");
}

}  // namespace

ExperimentCodes specdec_tables() {
  return {{"emnlp-table2", emnlp_table2},
          {"emnlp-table4", relaxed_verification},
          {"iclr-table3", relaxed_verification},
          {"iclr-table6", iclr_table6}};
}

}  // namespace foredraft::experiments
