// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/specdec_models.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "analytic/cost/speedup_fit.hpp"
#include "analytic/tokens/finite_length.hpp"

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

namespace {

double profile_ms(std::string_view module) {
  const PublishedTable& profile = published_table("iclr_table18");
  return profile.value(profile.row_where({{"module", std::string(module)}}), "latency_ms");
}

double main_result(std::string_view model, std::string_view column) {
  const PublishedTable& main = published_table("iclr_table1");
  return main.value(main.row_where({{"model", std::string(model)}}), column);
}

constexpr std::string_view profiled_model = "SpecDec++ (k = 25 high-efficiency)";

}  // namespace

analytic::BlockLatency specdec_profile() {
  const double iterations = main_result(profiled_model, "iterations");
  return {.target_encoder_ms = profile_ms("AT Encoder"),
          .drafter_encoder_ms = profile_ms("NAT Encoder"),
          .draft_ms = profile_ms("NAT Decoder") / iterations,
          .verify_ms = profile_ms("AT Decoder") / iterations,
          .overhead_ms = 0.0,
          .fixed_ms = profile_ms("Others")};
}

double specdec_beam_ms() { return profile_ms("Total") * main_result(profiled_model, "speedup_rerun_x"); }

double specdec_greedy_speedup() { return main_result("AT verifier (b = 1)", "speedup_rerun_x"); }

double specdec_mean_tokens() {
  const PublishedTable& sizes = published_table("iclr_table5");
  const std::size_t row = sizes.row_where({{"drafter", "NAT-base"}});
  return sizes.value(row, "tok") * sizes.value(row, "iterations");
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
    blocks.push_back(block_sizes.value(row, "k"));
    costs.push_back(block_sizes.value(row, "tok") / block_sizes.value(row, "speed_x"));
  }
  return analytic::least_squares_line(blocks, costs);
}

double specdec_cost(const analytic::Line& line, std::int64_t block) {
  return line.intercept + line.slope * static_cast<double>(block);
}

}  // namespace foredraft::experiments
