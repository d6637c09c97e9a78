// SPDX-License-Identifier: Apache-2.0
#include "answers/advice_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analytic/observed/expected_loss.hpp"
#include "answers/advice_steps.hpp"

namespace foredraft::answers {
namespace {

using Time = SpeedupRow::Time;

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// Whether the error of the speedup of an option is known: its own if it was logged, else those of all logged runs.
bool error_is_known(const LoadAdvice& load, const Option& option, const Advice& advice) {
  for (const LoggedRun& logged : load.logged) {
    if (option_of(logged, advice) == option && logged.speedup) return !is_assumed(*logged.speedup);
  }
  return std::ranges::none_of(load.logged,
                              [](const LoggedRun& one) { return one.speedup && is_assumed(*one.speedup); });
}

SpeedupRow row_of(const Option& option, const Known& known, const analytic::CandidateLoss& loss, const LoadAdvice& load,
                  const Advice& advice) {
  SpeedupRow row{.curve = option.curve,
                 .gamma = option.gamma,
                 .time = known.time,
                 .value = loss.median,
                 .low = loss.ci95.low,
                 .high = loss.ci95.high,
                 .p_best = loss.p_best,
                 .expected_loss = loss.expected_loss};
  for (const LoggedRun& logged : load.logged) {
    if (!logged.speedup || option_of(logged, advice) != option) continue;
    const Interval interval = analytic::interval_of(*logged.speedup);
    row.value = logged.speedup->value;
    row.low = interval.low;
    row.high = interval.high;
  }
  if (!error_is_known(load, option, advice)) row.low = row.high = not_known;
  return row;
}

/// A row for each option of a load except no speculation.
void add_rows(const Options& options, LoadAdvice& load, const Advice& advice) {
  const Losses losses = losses_of(options, true);
  const auto chosen = losses.losses.empty() ? std::nullopt : std::optional(chosen_of(losses, clear_gain(load)));
  for (std::size_t i = 0; i < losses.options.size(); ++i) {
    const Option& option = losses.options[i];
    if (is_off(option)) continue;
    load.by_gamma.push_back(row_of(option, options.at(option), losses.losses[i], load, advice));
    load.by_gamma.back().chosen = chosen == i;
  }
}

/// Rows of settings that were logged only at other loads.
void add_outside(const Options& outside, LoadAdvice& load, const Advice& advice) {
  const bool known = std::ranges::none_of(advice.loads, [](const LoadAdvice& one) {
    return std::ranges::any_of(one.logged,
                               [](const LoggedRun& run) { return run.speedup && is_assumed(*run.speedup); });
  });
  for (const auto& [option, estimate] : outside) {
    const analytic::Candidate alone[] = {{.gamma = option.gamma, .speedups = estimate.speedups}};
    const analytic::CandidateLoss of = analytic::expected_losses(alone).front();
    load.by_gamma.push_back({.curve = option.curve,
                             .gamma = option.gamma,
                             .time = estimate.time,
                             .value = of.median,
                             .low = known ? of.ci95.low : not_known,
                             .high = known ? of.ci95.high : not_known,
                             .p_best = not_known,
                             .expected_loss = not_known});
  }
}

/// Rows for draft lengths below the shortest logged one, with upper bounds: an iteration takes at least a decode step.
void add_bounded(LoadAdvice& load, const Advice& advice) {
  std::vector<SpeedupRow> bounded;
  for (const LoggedRun& logged : load.logged) {
    const Option option = option_of(logged, advice);
    const auto& by_gamma = advice.curves[option.curve].by_gamma;
    const auto is_shorter = [&](const SpeedupRow& row) {
      return row.curve == option.curve && row.gamma < option.gamma && row.time != Time::extrapolated;
    };
    const auto is_held = [&](std::int64_t gamma) {
      return std::ranges::any_of(
          load.by_gamma, [&](const SpeedupRow& row) { return row.curve == option.curve && row.gamma == gamma; });
    };
    if (!logged.speedup || option.adaptive || std::ranges::any_of(load.by_gamma, is_shorter)) continue;
    if (!curve_holds_at(load, option.curve, advice)) continue;
    for (const analytic::TokensAtGamma& at : by_gamma) {
      if (at.gamma >= option.gamma) break;
      if (is_held(at.gamma)) continue;
      bounded.push_back({.curve = option.curve,
                         .gamma = at.gamma,
                         .time = Time::bounded,
                         .value = not_known,
                         .low = not_known,
                         .high = at.high,
                         .p_best = not_known,
                         .expected_loss = not_known});
    }
  }
  load.by_gamma.insert(load.by_gamma.end(), bounded.begin(), bounded.end());
  std::ranges::stable_sort(load.by_gamma, {}, [](const SpeedupRow& row) { return std::tuple(row.curve, row.gamma); });
}

/// Upper bound of the speedup of any draft length at a load: an iteration takes at least a decode step, and one with
/// longer drafts than a logged one at least as long as that one. NaN: unknown.
double at_most(const LoadAdvice& load, const Advice& advice) {
  std::map<Option, double> bounds;  // the least that follows from any logged run
  for (const LoggedRun& logged : load.logged) {
    const Option option = option_of(logged, advice);
    const auto& by_gamma = advice.curves[option.curve].by_gamma;
    const analytic::TokensAtGamma* own = advice.curves[option.curve].at(option.gamma);
    const bool known = logged.speedup && !option.adaptive && own != nullptr && std::isfinite(own->value);
    if (!known || load.by_capacity || !curve_holds_at(load, option.curve, advice)) return not_known;
    const auto row_at = [&](std::int64_t gamma) {
      return std::ranges::find_if(load.by_gamma, [&](const SpeedupRow& row) {
        return row.curve == option.curve && row.gamma == gamma && std::isfinite(row.expected_loss);
      });
    };
    for (const analytic::TokensAtGamma& at : by_gamma) {
      double most = std::isfinite(at.value) ? at.value : at.high;
      if (const auto row = row_at(at.gamma); row != load.by_gamma.end()) {
        most = row->value;
      } else if (at.gamma > option.gamma) {
        most = std::min(most, most / own->value * logged.speedup->value);
      }
      const auto [known_bound, added] = bounds.emplace(Option{option.curve, at.gamma, false}, most);
      if (!added) known_bound->second = std::min(known_bound->second, most);
    }
  }
  double maximum = not_known;
  for (const auto& [at, bound] : bounds) maximum = std::fmax(maximum, bound);
  return maximum;
}

// ---- one setting for all loads, or one for each load

/// Speedup over all loads. Shares are those of the time without speculation.
Draws over_loads(const std::vector<const Draws*>& by_load, const std::vector<double>& shares) {
  Draws all;
  for (std::size_t j = 0; j < by_load.front()->size(); ++j) {
    double time = 0.0;
    double share = 0.0;
    for (std::size_t i = 0; i < by_load.size(); ++i) {
      share += shares[i];
      time += shares[i] / (*by_load[i])[j];
    }
    all.push_back(share / time);
  }
  return all;
}

/// Options that are known at every load, with their speedup over all loads.
Options fixed_options(const LoggedTraffic& traffic) {
  Options fixed;
  for (const auto& [option, known] : *traffic.options.front()) {
    std::vector<const Draws*> by_load;
    Time time = Time::logged;
    for (const Options* options : traffic.options) {
      const auto found = options->find(option);
      if (found == options->end()) break;
      by_load.push_back(&found->second.speedups);
      time = std::max(time, found->second.time);
    }
    if (by_load.size() != traffic.options.size()) continue;
    fixed.emplace(option, Known{.time = time, .speedups = over_loads(by_load, traffic.shares)});
  }
  return fixed;
}

/// The loads that a choice rests on.
LoggedTraffic traffic_of(const Advice& advice, const std::vector<LoadOptions>& by_load) {
  LoggedTraffic traffic{
      .loads = {}, .options = {}, .shares = {}, .over_plain = std::ranges::any_of(by_load, &LoadOptions::over_plain)};
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const auto& [options, outside, over_plain] = by_load[i];
    const bool counts = over_plain || (!traffic.over_plain && options.size() > 1);
    if (!counts || options.empty()) continue;
    traffic.loads.push_back(i);
    traffic.options.push_back(&options);
    traffic.shares.push_back(advice.loads[i].share);
  }
  // Shares of tokens become shares of time if the TPOT without speculation is known at all of these loads.
  const auto plain_ms = [&](std::size_t load) {
    const auto& plain = advice.loads[load].plain;
    return plain ? advice.runs[*plain].estimate("tpot_ms") : nullptr;
  };
  if (std::ranges::all_of(traffic.loads, plain_ms)) {
    for (std::size_t i = 0; i < traffic.loads.size(); ++i) traffic.shares[i] *= plain_ms(traffic.loads[i])->value;
  }
  return traffic;
}

/// With a single load, takes the values of its row. With several, removes the interval if an error is assumed.
void take_row(const LoggedTraffic& traffic, const Advice& advice, Recommendation& use) {
  for (const std::size_t i : traffic.loads) {
    if (traffic.loads.size() > 1) {
      const auto& load = advice.loads[i];
      const auto assumed = [](const LoggedRun& one) { return one.speedup && is_assumed(*one.speedup); };
      if (std::ranges::any_of(load.logged, assumed)) use.low = use.high = not_known;
      continue;
    }
    for (const SpeedupRow& row : advice.loads[i].by_gamma) {
      if (row.curve != advice.main_curve || row.gamma != use.gamma) continue;
      use.value = row.value;
      use.low = row.low;
      use.high = row.high;
    }
  }
}

void choose(const LoggedTraffic& traffic, Advice& advice) {
  const Losses losses = losses_of(fixed_options(traffic), traffic.over_plain);
  if (losses.losses.empty()) return;
  const analytic::LeastLoss least = analytic::least_loss(losses.losses);
  double clearly = 0.0;
  for (const std::size_t load : traffic.loads) clearly = std::max(clearly, clear_gain(advice.loads[load]));
  const std::size_t place = chosen_of(losses, clearly);
  const Option& chosen = losses.options[place];
  const analytic::CandidateLoss& loss = losses.losses[place];
  Recommendation use{.gamma = chosen.gamma,
                     .adaptive = chosen.adaptive,
                     .value = loss.median,
                     .low = loss.ci95.low,
                     .high = loss.ci95.high,
                     .p_best = loss.p_best,
                     .expected_loss = loss.expected_loss,
                     .ties = {chosen.gamma},
                     .over_plain = traffic.over_plain};
  if (!is_off(chosen)) advice.main_curve = chosen.curve;
  for (const std::size_t tie : least.ties) {
    if (losses.options[tie].curve == (is_off(chosen) ? advice.main_curve : chosen.curve) ||
        is_off(losses.options[tie])) {
      use.ties.push_back(losses.options[tie].gamma);
    }
  }
  std::ranges::sort(use.ties);
  use.ties.erase(std::unique(use.ties.begin(), use.ties.end()), use.ties.end());
  if (!is_off(chosen)) take_row(traffic, advice, use);
  if (traffic.loads.size() > 1 && !chosen.adaptive) use.schedule = paying_schedule(traffic, chosen, advice);
  // A run without a logged draft length gives nothing to set.
  if (!is_off(chosen) && chosen.gamma == 0) return;
  if (advice.curves.size() > 1 && !is_off(chosen)) use.drafter = advice.curves[chosen.curve].name;
  if (!traffic.over_plain) use.value = use.low = use.high = not_known;
  advice.recommendation = std::move(use);
}

/// Whether the fastest setting of some load is known to be faster than another one: single runs, whose error is
/// assumed, count as such.
bool tells_settings_apart(const Advice& advice) {
  return std::ranges::any_of(advice.loads, [&](const LoadAdvice& load) {
    return std::ranges::any_of(load.logged, [&](const LoggedRun& slow) {
      return std::ranges::any_of(load.logged, [&](const LoggedRun& fast) {
        const auto paces = paces_of(advice.runs[slow.run], advice.runs[fast.run]);
        if (!paces || &slow == &fast) return false;
        const auto ratio = speedup_of(*paces);
        return is_assumed(ratio) || analytic::interval_of(ratio).low > 1.0;
      });
    });
  });
}

/// Whether some setting is about as fast as the fastest at every load, without a plain run.
bool one_suits_all_loads(const Advice& advice) {
  constexpr double about = 0.97;
  const auto speed_of = [](const LoggedRun& run) { return run.relative ? run.relative->value : 1.0; };
  return std::ranges::any_of(advice.loads.front().logged, [&](const LoggedRun& candidate) {
    return std::ranges::all_of(advice.loads, [&](const LoadAdvice& load) {
      return std::ranges::any_of(load.logged, [&](const LoggedRun& one) {
        return option_of(one, advice) == option_of(candidate, advice) &&
               std::ranges::all_of(load.logged,
                                   [&](const LoggedRun& other) { return speed_of(one) >= about * speed_of(other); });
      });
    });
  });
}

/// Whether no draft length yields more than 1.05 tokens per iteration, and so no speedup above that: an iteration takes
/// at least a decode step.
bool yields_nothing(const Advice& advice) {
  constexpr double a_few_percent = 1.05;
  if (advice.curves.size() != 1 || advice.curve()->by_gamma.empty()) return false;
  return std::ranges::all_of(advice.curve()->by_gamma, [](const analytic::TokensAtGamma& at) {
    return std::isfinite(at.value) && at.value < a_few_percent && at.low < a_few_percent;
  });
}

}  // namespace

Losses losses_of(const Options& options, bool over_plain) {
  Losses all;
  for (const auto& [option, known] : options) {
    all.options.push_back(option);
    all.logged.push_back(known.time == Time::logged);
    all.candidates.push_back({.gamma = std::max<std::int64_t>(1, option.gamma), .speedups = known.speedups});
  }
  if (over_plain && !options.empty()) {
    all.options.push_back({std::numeric_limits<std::size_t>::max(), 0, false});
    all.logged.push_back(true);
    all.candidates.push_back({.gamma = 0, .speedups = Draws(options.begin()->second.speedups.size(), 1.0)});
  }
  if (!all.candidates.empty()) all.losses = analytic::expected_losses(all.candidates);
  return all;
}

double clear_gain(const LoadAdvice& load) {
  const auto assumed = [](const LoggedRun& one) { return one.speedup && is_assumed(*one.speedup); };
  return std::ranges::any_of(load.logged, assumed) ? single_run_error / 2.0 : 2.0 * analytic::equal_loss;
}

std::size_t chosen_of(const Losses& losses, double clearly) {
  const std::size_t least = analytic::least_loss(losses.losses).chosen;
  std::vector<std::size_t> logged;
  std::vector<analytic::CandidateLoss> of_logged;
  for (std::size_t i = 0; i < losses.losses.size(); ++i) {
    if (!losses.logged[i]) continue;
    logged.push_back(i);
    of_logged.push_back(losses.losses[i]);
  }
  if (logged.empty()) return least;
  const std::size_t best = logged[analytic::least_loss(of_logged).chosen];
  const analytic::CandidateLoss& guess = losses.losses[least];
  const bool better = losses.losses[best].expected_loss > guess.expected_loss + clearly &&
                      guess.median > (1.0 + clearly) * losses.losses[best].median;
  return better ? least : best;
}

bool is_off(const Option& option) { return option.curve == std::numeric_limits<std::size_t>::max(); }

bool too_uncertain(const Advice& advice) {
  constexpr double maximum = 0.05;
  return advice.tokens_observed &&
         normal_quantile(0.95) * advice.tokens_observed->standard_error > maximum * advice.tokens_observed->mean;
}

void add_choice(const AdviceQuestion& question, Advice& advice) {
  if (advice.loads.empty()) return;
  const std::vector<LoadOptions> by_load = options_by_load(question, advice);
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const auto& [options, outside, over_plain] = by_load[i];
    LoadAdvice& load = advice.loads[i];
    if (over_plain) add_rows(options, load, advice);
    add_outside(outside, load, advice);
    add_bounded(load, advice);
    load.at_most = at_most(load, advice);
  }
  const LoggedTraffic traffic = traffic_of(advice, by_load);
  if (traffic.over_plain || !yields_nothing(advice)) {
    const bool advises = traffic.over_plain || (tells_settings_apart(advice) && one_suits_all_loads(advice));
    if (!traffic.loads.empty() && advises) choose(traffic, advice);
    return;
  }
  advice.recommendation = Recommendation{
      .gamma = 0, .value = 1.0, .low = 1.0, .high = 1.0, .p_best = 1.0, .expected_loss = 0.0, .ties = {0}};
}

}  // namespace foredraft::answers
