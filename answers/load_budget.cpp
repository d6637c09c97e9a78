// SPDX-License-Identifier: Apache-2.0
#include "answers/load_budget.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <cstdint>
#include <variant>
#include <vector>

#include "analytic/draft_length/token_budget.hpp"
#include "foredraft/acceptance.hpp"

namespace foredraft::answers {
namespace {

constexpr std::int64_t largest_budget_batch = 512;

std::vector<double> powers(double alpha, std::int64_t gamma) {
  std::vector<double> survival;
  double all = 1.0;
  for (std::int64_t i = 0; i < gamma; ++i) survival.push_back(all *= alpha);
  return survival;
}

/// Survival by position of each request of a batch. Empty: unknown for this acceptance.
analytic::Survival survival_of(const ProfileQuestion& pair, std::int64_t batch, std::int64_t gamma) {
  analytic::Survival survival;
  const auto requests = static_cast<std::size_t>(batch);
  if (const auto* iid = std::get_if<Iid>(&pair.acceptance)) survival.assign(requests, powers(iid->alpha, gamma));
  if (const auto* positional = std::get_if<Positional>(&pair.acceptance)) {
    survival.assign(requests, {positional->marginal.begin(), positional->marginal.begin() + gamma});
  }
  if (const auto* mixture = std::get_if<BetaMixture>(&pair.acceptance)) {
    const boost::math::beta_distribution<double> rates(mixture->a, mixture->b);
    for (std::size_t r = 0; r < requests; ++r) {
      const double share = (static_cast<double>(r) + 0.5) / static_cast<double>(requests);
      survival.push_back(powers(boost::math::quantile(rates, share), gamma));
    }
  }
  return survival;
}

}  // namespace

std::optional<double> adaptive_gain(const LoadPrediction& prediction, const LoadServers& servers) {
  if (!prediction.best_latency || servers.engine().slot_by_slot) return std::nullopt;
  const AtLoad& best = prediction.at(*prediction.best_latency);
  if (best.gamma == 0 && prediction.lengths.size() < 2) return std::nullopt;
  const std::int64_t batch = std::max<std::int64_t>(1, std::llround(best.equilibrium.batch));
  if (batch > largest_budget_batch || prediction.question.pair.convention != Convention::bonus) return std::nullopt;
  const LoadQuestion& question = prediction.question;
  const auto context = std::llround(question.prompt.tokens + 0.5 * question.output.tokens);
  double fixed = 0.0;
  double adaptive = 0.0;
  for (const AtLoad& at : prediction.lengths) {
    if (!at.answers()) continue;
    const analytic::Survival survival = survival_of(question.pair, batch, at.gamma);
    if (survival.empty()) return std::nullopt;
    std::vector<double> times;  // with 1, 2, ... tokens for each request
    for (std::int64_t tokens = 1; tokens <= at.gamma + 1; ++tokens) {
      times.push_back(servers.iteration_us(batch, context, at.gamma, tokens));
    }
    const auto time_us = [&](std::int64_t tokens) {
      const double of_each = static_cast<double>(tokens) / static_cast<double>(batch) - 1.0;
      const auto below = std::min(static_cast<std::size_t>(of_each), times.size() - 1);
      const auto above = std::min(below + 1, times.size() - 1);
      return std::lerp(times[below], times[above], of_each - static_cast<double>(below));
    };
    fixed = std::max(fixed, analytic::best_fixed(survival, time_us).rate);
    adaptive = std::max(adaptive, analytic::best_budget(survival, time_us).rate);
  }
  return fixed > 0.0 ? std::optional(std::max(1.0, adaptive / fixed)) : std::nullopt;
}

}  // namespace foredraft::answers
