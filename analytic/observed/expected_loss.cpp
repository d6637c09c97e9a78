// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/expected_loss.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check_candidates(std::span<const Candidate> candidates) {
  if (candidates.empty() || candidates.front().speedups.empty()) {
    throw DomainError("invalid candidates (must be at least one, with at least one draw)");
  }
  for (const Candidate& one : candidates) {
    check_at_least("gamma", one.gamma, 0);
    for (const double speedup : one.speedups) check_positive("speedup", speedup);
    if (one.speedups.size() == candidates.front().speedups.size()) continue;
    throw DomainError(fmt::format("invalid speedups ({} and {} draws: must be equal numbers)",
                                  candidates.front().speedups.size(), one.speedups.size()));
  }
}

/// Interpolates linearly between the two nearest draws.
double quantile_of_sorted(std::span<const double> sorted, double probability) {
  const double place = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

CandidateLoss without_loss(const Candidate& candidate) {
  constexpr double tail = 0.025;
  std::vector<double> sorted = candidate.speedups;
  std::sort(sorted.begin(), sorted.end());
  return {.gamma = candidate.gamma,
          .median = quantile_of_sorted(sorted, 0.5),
          .ci95 = {quantile_of_sorted(sorted, tail), quantile_of_sorted(sorted, 1.0 - tail)},
          .p_best = 0.0,
          .expected_loss = 0.0};
}

/// Adds one draw to the losses.
void add_draw(std::span<const Candidate> candidates, std::size_t draw, std::span<CandidateLoss> losses) {
  double largest = 0.0;
  double winners = 0.0;
  for (const Candidate& one : candidates) {
    const double speedup = one.speedups[draw];
    winners = speedup > largest ? 1.0 : winners + (speedup == largest ? 1.0 : 0.0);
    largest = std::max(largest, speedup);
  }
  const auto draws = static_cast<double>(candidates.front().speedups.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double speedup = candidates[i].speedups[draw];
    if (speedup == largest) losses[i].p_best += 1.0 / (winners * draws);
    losses[i].expected_loss += (1.0 - speedup / largest) / draws;
  }
}

}  // namespace

std::vector<CandidateLoss> expected_losses(std::span<const Candidate> candidates) {
  check_candidates(candidates);
  std::vector<CandidateLoss> losses;
  for (const Candidate& one : candidates) losses.push_back(without_loss(one));
  for (std::size_t draw = 0; draw < candidates.front().speedups.size(); ++draw) add_draw(candidates, draw, losses);
  return losses;
}

LeastLoss least_loss(std::span<const CandidateLoss> losses) {
  if (losses.empty()) throw DomainError("invalid losses (must be at least one)");
  const auto by_loss = [](const CandidateLoss& one, const CandidateLoss& other) {
    return one.expected_loss < other.expected_loss;
  };
  const double least = std::min_element(losses.begin(), losses.end(), by_loss)->expected_loss;
  LeastLoss choice{.chosen = 0, .ties = {}};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (losses[i].expected_loss <= least + equal_loss) choice.ties.push_back(i);
  }
  choice.chosen = *std::min_element(choice.ties.begin(), choice.ties.end(), [&](std::size_t one, std::size_t other) {
    return std::tuple(losses[one].gamma, losses[one].expected_loss) <
           std::tuple(losses[other].gamma, losses[other].expected_loss);
  });
  return choice;
}

}  // namespace foredraft::analytic
