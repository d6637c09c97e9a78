// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/ladder_fit.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>

namespace foredraft::experiments {
namespace {

// In the spread, acceptance moves in steps of about 1e-5, as one context after another passes the tolerance: slopes are
// taken over many of them, and the fit ends where a printed Tok would move by less than half its last digit.
constexpr double fitted_to = 4e-5;
constexpr double slope_step = 0.02;
constexpr double longest_step = 0.5;
constexpr int most_steps = 60;

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
  for (int step = 0; step < most_steps; ++step) {
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

}  // namespace foredraft::experiments
