// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "answers/advice_choice.hpp"

namespace foredraft::answers {
namespace {

/// The minimum relative gain for which a schedule is recommended.
double schedule_cost(std::string_view engine) {
  // With a schedule, vLLM's V1 runner does not use full CUDA graphs: 50.0 instead of 59.6 tokens/s in its issue 49548.
  // The value for other engines is assumed.
  constexpr double of_vllm = 0.16;
  constexpr double of_others = 0.05;
  return engine == "vllm" ? of_vllm : of_others;
}

/// Draft lengths by batch size. They change at the geometric mean of two neighboring loads. `requests`: ascending.
std::vector<GammaRange> schedule_of(const std::vector<std::int64_t>& gammas, const std::vector<double>& requests) {
  std::vector<GammaRange> ranges;
  std::int64_t first = 1;
  for (std::size_t i = 0; i < gammas.size(); ++i) {
    const double last = i + 1 < requests.size() ? std::sqrt(requests[i] * requests[i + 1]) : requests[i];
    const auto end = std::max(first, static_cast<std::int64_t>(std::floor(last)));
    if (!ranges.empty() && ranges.back().gamma == gammas[i]) {
      ranges.back().to_batch = end;
    } else {
      ranges.push_back({first, end, gammas[i]});
    }
    first = end + 1;
  }
  return ranges;
}

struct Scheduled {
  std::vector<GammaRange> ranges = {};
  std::vector<Draws> by_load = {};  ///< speedups of the draft lengths
};

/// The best setting of one drafter at each load, no speculation included. Empty if a load has no known requests in
/// flight or is of one category, sampling or context, or if the drafter has no draft length there.
Scheduled best_schedule(const LoggedTraffic& traffic, std::size_t curve, const Advice& advice) {
  std::vector<std::int64_t> gammas;
  std::vector<double> requests;
  Scheduled scheduled;
  for (std::size_t i = 0; i < traffic.options.size(); ++i) {
    const LoadAdvice& load = advice.loads[traffic.loads[i]];
    const auto& in_flight = advice.runs[load.logged.front().run].run.requests;
    const RunLoad& at = load.load;
    if (!at.requests || at.context || at.category || at.sampling || !in_flight) return {};
    Options of_curve;
    for (const auto& [option, known] : *traffic.options[i]) {
      const bool between = known.time == SpeedupRow::Time::interpolated;  // not logged at this load
      if (option.curve == curve && option.gamma > 0 && !option.adaptive && !between) of_curve.emplace(option, known);
    }
    if (of_curve.empty()) return {};
    const Losses losses = losses_of(of_curve, traffic.over_plain);
    const std::size_t chosen = chosen_of(losses, clear_gain(load));
    gammas.push_back(losses.candidates[chosen].gamma);
    requests.push_back(*in_flight);
    scheduled.by_load.push_back(losses.candidates[chosen].speedups);
  }
  scheduled.ranges = schedule_of(gammas, requests);
  return scheduled;
}

/// Median relative gain over the draws; a mean would depend on the tails of few windows.
double gain_over(const Draws& one, const Draws& other) {
  Draws ratios = ratio_of(one, other);
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle - 1.0;
}

/// Whether a schedule gains more than it costs at any load; `fixed`: the setting for all loads.
bool schedule_pays(const Scheduled& scheduled, const Option& fixed, const LoggedTraffic& traffic, double cost) {
  if (scheduled.ranges.size() < 2) return false;
  for (std::size_t i = 0; i < traffic.options.size(); ++i) {
    const Draws none(scheduled.by_load[i].size(), 1.0);
    const Draws& of_fixed = is_off(fixed) ? none : traffic.options[i]->at(fixed).speedups;
    if (gain_over(scheduled.by_load[i], of_fixed) > cost) return true;
  }
  return false;
}

}  // namespace

std::vector<GammaRange> paying_schedule(const LoggedTraffic& traffic, const Option& fixed, const Advice& advice) {
  Scheduled scheduled = best_schedule(traffic, advice.main_curve, advice);
  const bool pays = schedule_pays(scheduled, fixed, traffic, schedule_cost(advice.engine));
  return pays ? std::move(scheduled.ranges) : std::vector<GammaRange>();
}

}  // namespace foredraft::answers
