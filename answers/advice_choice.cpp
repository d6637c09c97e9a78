// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "answers/advice.hpp"
#include "answers/observed.hpp"

namespace foredraft::answers {
namespace {

using analytic::SpeedupAt;

/// Loads are told apart by their place in the list.
double batch_of(std::size_t load) { return static_cast<double>(load + 1); }

Estimate with_relative_error(double mean, double relative) { return {mean, mean * relative}; }

/// How far the ratio of times at two draft lengths may be off: they differ in the tokens that are verified.
double growth_error(const PredictedTimes& predicted, std::int64_t gamma, std::int64_t logged) {
  const double doublings = std::abs(std::log2(static_cast<double>(gamma + 1) / static_cast<double>(logged + 1)));
  return predicted.error * std::min(1.0, doublings);
}

/// Predicted iterations at draft lengths that were not logged, at the level of those that were.
void add_predicted(const PredictedTimes& predicted, const LoadAdvice& load, std::size_t number,
                   analytic::ObservedTimes& times) {
  if (!load.requests || !load.gamma || !load.iteration_ms) return;
  const double batch = std::max(1.0, std::round(*load.requests));
  const auto same = std::ranges::find_if(
      predicted.times, [&](const PredictedTime& at) { return at.batch == batch && at.gamma == *load.gamma; });
  if (same == predicted.times.end()) return;
  const double scale = load.iteration_ms->mean / same->iteration;
  const double level = load.iteration_ms->standard_error / load.iteration_ms->mean;
  for (const PredictedTime& at : predicted.times) {
    if (at.batch != batch || std::ranges::binary_search(load.gammas, at.gamma)) continue;
    const double error = std::hypot(level, growth_error(predicted, at.gamma, *load.gamma));
    times.logged.push_back({at.gamma, batch_of(number), with_relative_error(scale * at.iteration, error)});
  }
  if (!load.plain_ms && load.arms_differ.empty()) {
    const double error = std::hypot(level, growth_error(predicted, 0, *load.gamma));
    times.plain.push_back({batch_of(number), with_relative_error(scale * same->plain, error)});
  }
}

analytic::ObservedTimes times_of(const AdviceQuestion& question, const Advice& advice) {
  const bool block = drafter_class(advice.settings.method.value_or("")) == analytic::DrafterClass::parallel_heads;
  analytic::ObservedTimes times{
      .logged = {}, .plain = {}, .drafting = block ? Drafting::block : Drafting::autoregressive};
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const LoadAdvice& load = advice.loads[i];
    if (load.plain_ms) times.plain.push_back({batch_of(i), *load.plain_ms});
    for (const Run& run : advice.runs) {
      const bool here =
          run.decoding == logs::Decoding::speculative && run.gamma && run.iteration_ms && run.load == load.load;
      if (!here) continue;
      const bool part = run.draft_ms && run.draft_ms->mean <= run.iteration_ms->mean;
      times.logged.push_back({*run.gamma, batch_of(i), *run.iteration_ms, part ? run.draft_ms : std::nullopt});
    }
    if (question.predicted) add_predicted(*question.predicted, load, i, times);
  }
  return times;
}

bool is_known(const SpeedupAt& at) { return std::isfinite(at.value); }

std::size_t known_lengths(const LoadAdvice& load) {
  return static_cast<std::size_t>(std::ranges::count_if(load.by_gamma, is_known));
}

/// No draft length gains more at a load: where its time is not known, as if it took no longer than the longest logged
/// one. NaN where nothing is known.
double at_most(const LoadAdvice& load, const Advice& advice) {
  if (!load.chain || load.gammas.empty() || load.by_gamma.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double logged = normal_interval(load.chain->speedup).high;
  double maximum = logged;
  for (const SpeedupAt& at : load.by_gamma) maximum = std::max(maximum, at.high);
  for (const analytic::TokensAtGamma& at : advice.by_gamma) {
    if (at.gamma > load.gammas.back()) maximum = std::max(maximum, at.high / load.tokens->mean * logged);
  }
  return maximum;
}

/// Speedup of one draft length over several loads, by the share of tokens; each end apart.
Recommendation over_loads(std::int64_t gamma, const std::vector<const LoadAdvice*>& loads) {
  double share = 0.0;
  double time = 0.0;
  double maximum = 0.0;
  double least = 0.0;
  for (const LoadAdvice* load : loads) {
    const auto at = std::ranges::find(load->by_gamma, gamma, &SpeedupAt::gamma);
    share += load->share;
    time += load->share / at->value;
    maximum += load->share / at->low;
    least += load->share / at->high;
  }
  return {.gamma = gamma, .value = share / time, .low = share / maximum, .high = share / least, .ties = {gamma}};
}

/// Of the draft lengths that noise does not distinguish from the best: the smallest one that was logged at all loads,
/// so that nothing interpolated or predicted replaces a measurement; else the smallest.
std::int64_t smallest_logged(const std::vector<std::int64_t>& ties, const std::vector<const LoadAdvice*>& loads) {
  for (const std::int64_t gamma : ties) {
    const auto logged = [&](const LoadAdvice* load) { return std::ranges::binary_search(load->gammas, gamma); };
    if (std::ranges::all_of(loads, logged)) return gamma;
  }
  return ties.front();
}

/// Draft lengths by batch, with edges in the middle between loads; empty where a load is no number of requests.
std::vector<ScheduleRange> advised_schedule(const analytic::GammaChoice& choice,
                                            const std::vector<const LoadAdvice*>& loads) {
  std::vector<ScheduleRange> ranges;
  std::int64_t first = 1;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (!loads[i]->requests || loads[i]->load.request_rate_per_s) return {};
    const double here = *loads[i]->requests;
    const double last = i + 1 < loads.size() ? std::sqrt(here * loads[i + 1]->requests.value_or(here)) : here;
    const std::int64_t gamma = smallest_logged(choice.by_load[i].ties, {loads[i]});
    const auto end = std::max(first, static_cast<std::int64_t>(std::floor(last)));
    if (!ranges.empty() && ranges.back().gamma == gamma) {
      ranges.back().last = end;
    } else {
      ranges.push_back({first, end, gamma});
    }
    first = end + 1;
  }
  return ranges;
}

/// The relative speedup that a schedule must gain to be recommended.
double schedule_cost(std::string_view engine) {
  // vLLM's V1 runner gives up full CUDA graphs for a schedule: 59.6 against 50.0 tokens/s in its issue 49548. Of other
  // engines nothing is known: assumed.
  constexpr double of_vllm = 0.16;
  constexpr double of_others = 0.05;
  return engine == "vllm" ? of_vllm : of_others;
}

void choose(const analytic::ObservedTimes& times, Advice& advice) {
  std::vector<analytic::Load> shares;
  std::vector<const LoadAdvice*> loads;
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    if (known_lengths(advice.loads[i]) < 2) continue;
    shares.push_back({batch_of(i), advice.loads[i].share});
    loads.push_back(&advice.loads[i]);
  }
  if (shares.empty()) return;
  const auto longest = static_cast<std::int64_t>(advice.by_gamma.size());
  const auto choice = choose_gamma(*advice.fit(), times, shares, longest, schedule_cost(advice.engine));
  if (!choice) return;
  Recommendation recommended = over_loads(smallest_logged(choice->ties, loads), loads);
  recommended.ties.clear();
  for (const std::int64_t tie : choice->ties) {
    if (over_loads(tie, loads).high >= recommended.low) recommended.ties.push_back(tie);
  }
  if (choice->schedule_pays && loads.size() > 1) recommended.schedule = advised_schedule(*choice, loads);
  if (recommended.high < 1.0 && recommended.schedule.empty()) {
    recommended = {.gamma = 0, .value = 1.0, .low = 1.0, .high = 1.0, .ties = {0}};
  }
  advice.recommendation = recommended;
}

/// Whether no draft length pays at any load that was compared. Where the drafter fails after its first drafts, it is
/// enough that the logged one loses and none can gain more than a little.
bool loses_everywhere(const Advice& advice) {
  constexpr double little = 1.2;
  const bool fault = advice.fit()->collapsed_position.has_value();
  const auto loads = advice.compared();
  return !loads.empty() && std::ranges::all_of(loads, [&](const LoadAdvice* load) {
    const bool loses = normal_interval(load->chain->speedup).high < 1.0;
    return load->at_most < (fault && loses ? little : 1.0);
  });
}

bool holds_prefill(const Advice& advice) {
  constexpr double bound_by_prefill = 0.9;
  return std::ranges::any_of(advice.loads,
                             [](const LoadAdvice& load) { return load.prompt_share.value_or(0.0) > bound_by_prefill; });
}

}  // namespace

bool too_uncertain(const Advice& advice) {
  constexpr double maximum = 0.05;
  return advice.tokens_observed &&
         normal_quantile(0.95) * advice.tokens_observed->standard_error > maximum * advice.tokens_observed->mean;
}

void add_choice(const AdviceQuestion& question, Advice& advice) {
  const analytic::ObservedTimes times = times_of(question, advice);
  const auto longest = static_cast<std::int64_t>(advice.by_gamma.size());
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    LoadAdvice& load = advice.loads[i];
    load.by_gamma = speedups_at(*advice.fit(), times, batch_of(i), longest);
    if (known_lengths(load) > 1) load.best = best_at(load.by_gamma);
    load.at_most = at_most(load, advice);
  }
  if (too_uncertain(advice) || holds_prefill(advice)) return;
  if (loses_everywhere(advice)) {
    advice.recommendation = Recommendation{.gamma = 0, .value = 1.0, .low = 1.0, .high = 1.0, .ties = {0}};
    return;
  }
  choose(times, advice);
}

}  // namespace foredraft::answers
