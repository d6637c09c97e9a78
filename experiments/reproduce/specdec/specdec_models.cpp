// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/specdec_models.hpp"

#include <fmt/format.h>
#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "analytic/cost/speedup_fit.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "experiments/reproduce/cell_answers.hpp"

namespace foredraft::experiments {
namespace {

// In the spread, acceptance moves in steps of about 1e-5, as one context after another passes the tolerance: slopes are
// taken over many of them, and the fit ends where a printed Tok would move by less than half its last digit.
constexpr double fitted_to = 4e-5;
constexpr double slope_step = 0.02;
constexpr double longest_step = 0.5;
constexpr int max_steps = 60;

sim::LogitLadder ladder_of(const Eigen::Vector3d& logs) {
  return {.spread = std::exp(logs[0]), .noise = std::exp(logs[1]), .unlike = std::exp(std::min(logs[2], 0.0))};
}

Eigen::Vector3d misfit(const sim::LadderContexts& contexts, const std::array<LadderTarget, 3>& targets,
                       const Eigen::Vector3d& logs) {
  Eigen::Vector3d result;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    result[static_cast<Eigen::Index>(i)] =
        contexts.acceptance(ladder_of(logs), targets[i].rule) - targets[i].acceptance;
  }
  return result;
}

}  // namespace

sim::LogitLadder fit_ladder(const sim::LadderContexts& contexts, const std::array<LadderTarget, 3>& targets) {
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

ProfileSpeed::ProfileSpeed(double beam_ms, std::string source) : beam_ms_(beam_ms), source_(std::move(source)) {}

ProfileSpeed ProfileSpeed::through(const PrintedNumber& iterations, const PrintedNumber& speed, std::string source) {
  return {speed.value * analytic::sentence_ms(specdec_profile(), iterations.value), std::move(source)};
}

double ProfileSpeed::speed(double iterations) const {
  return analytic::speedup(specdec_profile(), iterations, beam_ms_);
}

CellAnswer ProfileSpeed::predict(double iterations, const PrintedNumber& printed) const {
  return predicted_cell(speed(iterations), printed, fmt::format("{}, at {} iterations", source_, iterations));
}

CellAnswer ProfileSpeed::drafter_alone(double iterations, const PrintedNumber& printed) const {
  const analytic::BlockLatency profile = specdec_profile();
  const double time = analytic::drafter_alone_ms(profile, iterations);
  return predicted_cell(beam_ms_ / time, printed,
                        fmt::format("{}: encoder and {} passes of the drafter ({:.1f} with \"Others\")", source_,
                                    iterations, beam_ms_ / (time + profile.fixed_ms)));
}

namespace {

std::size_t specdec_row(const PublishedTable& table, std::string_view column, std::string_view text) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.text(row, column) == text) return row;
  }
  throw std::logic_error("specdec models: a printed row is missing");
}

constexpr std::string_view profiled_model = "SpecDec++ (k = 25 high-efficiency)";

}  // namespace

analytic::BlockLatency specdec_profile() {
  const PublishedTable profile = published_table("iclr_table18");
  const PublishedTable main = published_table("iclr_table1");
  const auto module_ms = [&](std::string_view name) {
    return profile.number(specdec_row(profile, "module", name), "latency_ms").value;
  };
  const double iterations = main.number(specdec_row(main, "model", profiled_model), "iterations").value;
  return {.target_encoder_ms = module_ms("AT Encoder"),
          .drafter_encoder_ms = module_ms("NAT Encoder"),
          .draft_ms = module_ms("NAT Decoder") / iterations,
          .verify_ms = module_ms("AT Decoder") / iterations,
          .overhead_ms = 0.0,
          .fixed_ms = module_ms("Others")};
}

double specdec_beam_ms() {
  const PublishedTable profile = published_table("iclr_table18");
  const PublishedTable main = published_table("iclr_table1");
  return profile.number(specdec_row(profile, "module", "Total"), "latency_ms").value *
         main.number(specdec_row(main, "model", profiled_model), "speedup_rerun_x").value;
}

double specdec_greedy_speedup() {
  const PublishedTable main = published_table("iclr_table1");
  return main.number(specdec_row(main, "model", "AT verifier (b = 1)"), "speedup_rerun_x").value;
}

double specdec_mean_tokens() {
  const PublishedTable sizes = published_table("iclr_table5");
  const std::size_t row = specdec_row(sizes, "drafter", "NAT-base");
  return sizes.number(row, "tok").value * sizes.number(row, "iterations").value;
}

double specdec_alpha(double tokens_per_iteration, std::int64_t block) {
  return analytic::alpha_from_sentence_tokens(tokens_per_iteration, block, Convention::no_bonus, specdec_mean_tokens());
}

double specdec_tokens(double alpha, std::int64_t block) {
  return analytic::sentence_tokens_per_iteration({.alpha = alpha, .gamma = block, .convention = Convention::no_bonus},
                                                 specdec_mean_tokens());
}

analytic::Line specdec_cost_line(const PublishedTable& block_sizes) {
  std::vector<double> blocks;
  std::vector<double> costs;
  for (std::size_t row = 0; row < block_sizes.size(); ++row) {
    if (!block_sizes.is_number(row, "k")) continue;
    blocks.push_back(block_sizes.number(row, "k").value);
    costs.push_back(block_sizes.number(row, "tok").value / block_sizes.number(row, "speed_x").value);
  }
  return analytic::least_squares_line(blocks, costs);
}

double specdec_cost(const analytic::Line& line, std::int64_t block) {
  return line.intercept + line.slope * static_cast<double>(block);
}

}  // namespace foredraft::experiments
