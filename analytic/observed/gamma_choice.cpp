// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/gamma_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

/// Interval of `value` from two independent errors, on a logarithmic scale.
double low_end(double value, double first, double second) { return value * std::exp(-std::hypot(first, second)); }
double high_end(double value, double first, double second) { return value * std::exp(std::hypot(first, second)); }

SpeedupAt speedup_of(const TokensAtGamma& tokens, const TimeAt& cost, double batch) {
  SpeedupAt at{tokens.gamma,          batch, cost.knowledge, tokens.value / cost.value, tokens.low / cost.high,
               tokens.high / cost.low};
  if (std::isnan(at.value)) return at;
  at.low = low_end(at.value, std::log(tokens.value / tokens.low), std::log(cost.high / cost.value));
  at.high = high_end(at.value, std::log(tokens.high / tokens.value), std::log(cost.value / cost.low));
  return at;
}

const SpeedupAt& largest_of(std::span<const SpeedupAt> candidates) {
  return *std::max_element(candidates.begin(), candidates.end(),
                           [](const SpeedupAt& left, const SpeedupAt& right) { return left.value < right.value; });
}

/// The gammas that noise does not distinguish from the best, ascending. One baseline time: errs toward ties.
std::vector<std::int64_t> ties_of(std::span<const SpeedupAt> candidates) {
  const SpeedupAt& best = largest_of(candidates);
  std::vector<std::int64_t> ties;
  for (const SpeedupAt& one : candidates) {
    const double noise = std::hypot(std::log(best.value / best.low), std::log(one.high / one.value));
    if (std::log(best.value / one.value) <= noise) ties.push_back(one.gamma);
  }
  std::sort(ties.begin(), ties.end());
  return ties;
}

std::vector<SpeedupAt> with_value(std::span<const SpeedupAt> speedups) {
  std::vector<SpeedupAt> found;
  std::copy_if(speedups.begin(), speedups.end(), std::back_inserter(found),
               [](const SpeedupAt& one) { return !std::isnan(one.value); });
  return found;
}

const SpeedupAt* find_gamma(std::span<const SpeedupAt> speedups, std::int64_t gamma) {
  const auto one = std::find_if(speedups.begin(), speedups.end(),
                                [&](const SpeedupAt& at) { return at.gamma == gamma && !std::isnan(at.value); });
  return one == speedups.end() ? nullptr : &*one;
}

/// Speedup over all loads with one gamma each: the harmonic mean by tokens, separately for value, low and high.
SpeedupAt over_loads(std::int64_t gamma, std::span<const Load> loads, std::span<const SpeedupAt> at_load) {
  double share = 0.0;
  double time = 0.0;
  double max_time = 0.0;
  double min_time = 0.0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    share += loads[i].share;
    time += loads[i].share / at_load[i].value;
    max_time += loads[i].share / at_load[i].low;
    min_time += loads[i].share / at_load[i].high;
  }
  return {gamma, 0.0, TimeAt::Knowledge::measured, share / time, share / max_time, share / min_time};
}

/// The speedups of one gamma at every load; empty unless all have a value.
std::vector<SpeedupAt> of_gamma(std::int64_t gamma, std::span<const std::vector<SpeedupAt>> by_load) {
  std::vector<SpeedupAt> found;
  for (const std::vector<SpeedupAt>& speedups : by_load) {
    const SpeedupAt* one = find_gamma(speedups, gamma);
    if (one == nullptr) return {};
    found.push_back(*one);
  }
  return found;
}

void check(std::span<const Load> loads, std::int64_t max_gamma, double schedule_cost) {
  for (const Load& load : loads) check_nonnegative("share", load.share);
  check_range("max_gamma", max_gamma, 1, max_observed_gamma);
  check_nonnegative("schedule_cost", schedule_cost);
}

/// The best gamma of each load; that for all loads if noise does not distinguish the two.
std::vector<SpeedupAt> scheduled(std::int64_t best_for_all, std::span<const BestAt> best,
                                 std::span<const std::vector<SpeedupAt>> by_load) {
  std::vector<SpeedupAt> speedups;
  for (std::size_t i = 0; i < by_load.size(); ++i) {
    const bool stays = std::binary_search(best[i].ties.begin(), best[i].ties.end(), best_for_all);
    speedups.push_back(stays ? of_gamma(best_for_all, by_load.subspan(i, 1)).front() : best[i].best);
  }
  return speedups;
}

}  // namespace

std::vector<SpeedupAt> speedups_at(const AcceptanceFit& tokens, const ObservedTimes& times, double batch,
                                   std::int64_t max_gamma) {
  std::vector<SpeedupAt> speedups;
  for (std::int64_t gamma = 1; gamma <= max_gamma; ++gamma) {
    const TimeAt cost = break_even_tokens(times, gamma, batch);
    if (cost.knowledge != TimeAt::Knowledge::unknown) {
      speedups.push_back(speedup_of(tokens_at(tokens, gamma), cost, batch));
    }
  }
  return speedups;
}

std::optional<BestAt> best_at(std::span<const SpeedupAt> speedups) {
  const std::vector<SpeedupAt> candidates = with_value(speedups);
  if (candidates.empty()) return std::nullopt;
  BestAt best{.batch = speedups.front().batch, .best = {}, .ties = ties_of(candidates), .sign_certain = false};
  best.best = *find_gamma(candidates, best.ties.front());
  best.sign_certain = best.best.low > 1.0 || best.best.high < 1.0;
  return best;
}

std::optional<GammaChoice> choose_gamma(const AcceptanceFit& tokens, const ObservedTimes& times,
                                        std::span<const Load> loads, std::int64_t max_gamma, double schedule_cost) {
  check(loads, max_gamma, schedule_cost);
  std::vector<Load> used;
  std::copy_if(loads.begin(), loads.end(), std::back_inserter(used), [](const Load& load) { return load.share > 0.0; });
  std::vector<std::vector<SpeedupAt>> by_load;
  for (const Load& load : used) by_load.push_back(speedups_at(tokens, times, load.batch, max_gamma));
  std::vector<SpeedupAt> candidates;
  for (std::int64_t gamma = 1; gamma <= max_gamma; ++gamma) {
    const std::vector<SpeedupAt> speedups = of_gamma(gamma, by_load);
    if (!speedups.empty()) candidates.push_back(over_loads(gamma, used, speedups));
  }
  if (candidates.empty()) return std::nullopt;
  GammaChoice choice{.fixed_gamma = 0,
                     .fixed_speedup = 0.0,
                     .ties = ties_of(candidates),
                     .by_load = {},
                     .schedule_gain = 0.0,
                     .schedule_pays = false};
  choice.fixed_gamma = choice.ties.front();
  choice.fixed_speedup = over_loads(choice.fixed_gamma, used, of_gamma(choice.fixed_gamma, by_load)).value;
  for (const auto& speedups : by_load) choice.by_load.push_back(*best_at(speedups));
  const SpeedupAt& best_for_all = largest_of(candidates);
  const double by_schedule = over_loads(0, used, scheduled(best_for_all.gamma, choice.by_load, by_load)).value;
  choice.schedule_gain = std::max(0.0, by_schedule / best_for_all.value - 1.0);
  choice.schedule_pays = choice.schedule_gain > schedule_cost;
  return choice;
}

}  // namespace foredraft::analytic
