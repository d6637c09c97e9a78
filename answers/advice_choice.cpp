// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analytic/observed/expected_loss.hpp"
#include "analytic/observed/joint_draws.hpp"
#include "answers/advice.hpp"

namespace foredraft::answers {
namespace {

using Draws = std::vector<double>;
using Time = SpeedupRow::Time;

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// A setting that could be chosen.
struct Option {
  std::size_t curve;
  std::int64_t gamma;  ///< 0: the draft length of this run is not logged, or varies
  bool adaptive;
  auto operator<=>(const Option&) const = default;
};

Option option_of(const LoggedRun& logged, const Advice& advice) {
  const RunSetting& setting = advice.runs[logged.run].run.setting;
  return {logged.curve, setting.gamma.value_or(0), setting.adaptive};
}

// ---- Draws from the joint uncertainty: one of each time and of each curve's acceptance, for all that rests on it.

/// What is drawn, in the order that it was asked for.
class DrawList {
 public:
  /// The place of an estimate in draws().
  std::size_t add(const analytic::ClusteredEstimate& estimate) {
    estimates_.push_back(estimate);
    return estimates_.size() - 1;
  }
  /// A standard normal variate of its own, as the logarithm of a draw.
  std::size_t add_normal() {
    constexpr std::size_t apart = std::size_t{1} << 30U;  // from the numbers of runs
    analytic::ErrorSource source{.id = apart + estimates_.size(),
                                 .origin = analytic::ErrorOrigin::stated,
                                 .in_time = false,
                                 .effective_clusters = 1.0,
                                 .influence = {1.0}};
    return add({.value = 1.0, .sources = {std::move(source)}});
  }
  [[nodiscard]] std::vector<Draws> draws() const { return analytic::joint_draws(estimates_); }

 private:
  std::vector<analytic::ClusteredEstimate> estimates_;
};

/// Places of what a logged run needs; paces as Paces.
struct LoggedPlaces {
  std::optional<std::size_t> reference, pace, iteration;
};

struct LoadPlaces {
  std::vector<LoggedPlaces> logged;
  std::optional<std::size_t> plain;  ///< TPOT without speculation
  std::size_t predicted;             ///< normal: how far the ratio of two predicted times is off
  std::size_t stairs;                ///< normal: where between two logged times those in between lie
};

struct Places {
  std::vector<LoadPlaces> loads;
  std::vector<std::size_t> curves;  ///< normal: how far the acceptance of a curve is off
};

Places places_of(const Advice& advice, DrawList& list) {
  Places places;
  for (const LoadAdvice& load : advice.loads) {
    LoadPlaces& at = places.loads.emplace_back();
    const auto* plain = load.plain ? advice.runs[*load.plain].estimate("tpot_ms") : nullptr;
    if (plain != nullptr) at.plain = list.add(*plain);
    for (const LoggedRun& logged : load.logged) {
      LoggedPlaces& of_run = at.logged.emplace_back();
      const RunEstimates& run = advice.runs[logged.run];
      const auto paces = load.plain ? paces_of(advice.runs[*load.plain], run) : std::nullopt;
      if (paces) {
        of_run.reference = list.add(paces->reference);
        of_run.pace = list.add(paces->run);
      } else if (const auto* tpot = run.estimate("tpot_ms")) {
        of_run.pace = list.add(*tpot);
      }
      if (const auto* iteration = run.estimate("iteration_ms")) of_run.iteration = list.add(*iteration);
    }
    at.predicted = list.add_normal();
    at.stairs = list.add_normal();
  }
  for (std::size_t i = 0; i < advice.curves.size(); ++i) places.curves.push_back(list.add_normal());
  return places;
}

/// What is known of a load: the options with their speedups by draw.
struct Known {
  Time time;
  Draws speedups;
};
using Options = std::map<Option, Known>;

/// Everything that a load's options are computed from.
struct LoadView {
  const AdviceQuestion& question;
  const Advice& advice;
  const LoadAdvice& load;
  const LoadPlaces& places;
  const Places& all;
  const std::vector<Draws>& draws;

  [[nodiscard]] const Draws& at(std::size_t place) const { return draws[place]; }
  [[nodiscard]] std::size_t count() const { return draws.front().size(); }
};

/// Tokens per iteration of a curve by draw; nullopt: left open.
std::optional<Draws> tokens_by_draw(const LoadView& view, std::size_t curve, std::int64_t gamma) {
  const analytic::TokensAtGamma* tokens = view.advice.curves[curve].at(gamma);
  const bool known =
      tokens != nullptr && std::isfinite(tokens->value) && tokens->source != analytic::TokensAtGamma::Source::left_open;
  if (!known) return std::nullopt;
  const double error = std::log(tokens->high / tokens->low) / (2.0 * normal_quantile(0.95));
  Draws all;
  for (const double normal : view.at(view.all.curves[curve])) {
    all.push_back(std::clamp(tokens->value * std::pow(normal, error), 1.0, static_cast<double>(gamma) + 1.0));
  }
  return all;
}

// ---- times at draft lengths that were not logged

/// Logged iterations of one curve at one load, by gamma.
using LoggedTimes = std::map<std::int64_t, const Draws*>;

LoggedTimes logged_times(const LoadView& view, std::size_t curve) {
  LoggedTimes times;
  for (std::size_t i = 0; i < view.load.logged.size(); ++i) {
    const Option option = option_of(view.load.logged[i], view.advice);
    const auto& place = view.places.logged[i].iteration;
    if (option.curve == curve && option.gamma > 0 && !option.adaptive && place) times[option.gamma] = &view.at(*place);
  }
  return times;
}

struct TimeDraws {
  Time time;
  Draws ms;
};

double doublings(std::int64_t gamma, std::int64_t other) {
  return std::log2(static_cast<double>(gamma + 1) / static_cast<double>(other + 1));
}

/// Of the logarithm of the exponent of a share: from nearly flat first to nearly flat last.
constexpr double bend = 0.7;

/// Between two logged times, for any stairs: a share of their difference that rises with gamma.
TimeDraws between(const LoadView& view, LoggedTimes::const_iterator below, LoggedTimes::const_iterator above,
                  std::int64_t gamma) {
  const double share = static_cast<double>(gamma - below->first) / static_cast<double>(above->first - below->first);
  TimeDraws found{.time = Time::interpolated, .ms = {}};
  const Draws& normal = view.at(view.places.stairs);
  for (std::size_t j = 0; j < view.count(); ++j) {
    const double part = std::pow(share, std::pow(normal[j], bend));
    found.ms.push_back(std::lerp((*below->second)[j], (*above->second)[j], part));
  }
  return found;
}

const PredictedTime* predicted_at(const LoadView& view, std::int64_t gamma) {
  if (!view.question.predicted || view.load.logged.empty()) return nullptr;
  const auto& requests = view.advice.runs[view.load.logged.front().run].run.requests;
  if (!requests) return nullptr;
  const double batch = std::max(1.0, std::round(*requests));
  const auto& times = view.question.predicted->times;
  const auto found =
      std::ranges::find_if(times, [&](const PredictedTime& at) { return at.batch == batch && at.gamma == gamma; });
  return found == times.end() ? nullptr : &*found;
}

/// A predicted time at the level of the logged ones: two of them correct its slope, and beyond them the error grows
/// with the doublings of the tokens that are verified. gamma 0: a decode step.
std::optional<Draws> predicted_ms(const LoadView& view, const LoggedTimes& times, std::int64_t gamma) {
  std::vector<std::pair<std::int64_t, const Draws*>> known;
  for (const auto& [logged, ms] : times) {
    if (predicted_at(view, logged) != nullptr) known.emplace_back(logged, ms);
  }
  if (known.empty()) return std::nullopt;
  const PredictedTime* at = predicted_at(view, gamma == 0 ? known.front().first : gamma);
  if (at == nullptr) return std::nullopt;
  const double here = gamma == 0 ? at->plain : at->iteration;
  const auto above = std::ranges::find_if(known, [&](const auto& one) { return one.first > gamma; });
  const auto& upper = above == known.end() ? known.back() : *above;
  const auto& lower = above == known.begin() ? upper : *std::prev(above);
  const double share =
      lower.first == upper.first ? 0.0 : doublings(gamma, lower.first) / doublings(upper.first, lower.first);
  const double far = std::min(std::abs(doublings(gamma, lower.first)), std::abs(doublings(gamma, upper.first)));
  const double error = view.question.predicted->error * std::min(1.0, far);
  const auto level = [&](const auto& one, std::size_t j) {
    return std::log((*one.second)[j] / predicted_at(view, one.first)->iteration);
  };
  Draws ms;
  for (std::size_t j = 0; j < view.count(); ++j) {
    const double scale = std::exp(std::lerp(level(lower, j), level(upper, j), std::clamp(share, 0.0, 1.0)));
    ms.push_back(here * scale * std::pow(view.at(view.places.predicted)[j], error));
  }
  return ms;
}

std::optional<TimeDraws> time_draws(const LoadView& view, const LoggedTimes& times, std::int64_t gamma) {
  if (auto ms = predicted_ms(view, times, gamma)) return TimeDraws{.time = Time::predicted, .ms = *std::move(ms)};
  const auto above = times.upper_bound(gamma);
  if (above == times.end() || above == times.begin()) return std::nullopt;
  return between(view, std::prev(above), above, gamma);
}

// ---- options of a load

/// Time without speculation by draw: logged, else predicted, else nullopt.
std::optional<Draws> plain_draws(const LoadView& view) {
  if (view.places.plain) return view.at(*view.places.plain);
  if (!view.load.arms_differ.empty()) return std::nullopt;
  for (std::size_t curve = 0; curve < view.advice.curves.size(); ++curve) {
    if (auto ms = predicted_ms(view, logged_times(view, curve), 0)) return ms;
  }
  return std::nullopt;
}

Draws ratio_of(const Draws& top, const Draws& bottom) {
  Draws ratio;
  for (std::size_t j = 0; j < top.size(); ++j) ratio.push_back(top[j] / bottom[j]);
  return ratio;
}

/// Speedups of what was logged; over `plain`, or over the first logged run where there is none.
void add_logged(const LoadView& view, const std::optional<Draws>& plain, Options& options) {
  const Draws* first = nullptr;
  for (std::size_t i = 0; i < view.load.logged.size(); ++i) {
    const LoggedPlaces& places = view.places.logged[i];
    const bool drafts = view.advice.runs[view.load.logged[i].run].run.setting.gamma != 0;
    if (!places.pace || !drafts) continue;  // the K = 0 of a server that speculates is not to be set
    const Draws& pace = view.at(*places.pace);
    if (first == nullptr) first = &pace;
    const Draws& reference = places.reference ? view.at(*places.reference) : plain ? *plain : *first;
    options.insert_or_assign(option_of(view.load.logged[i], view.advice),
                             Known{.time = Time::logged, .speedups = ratio_of(reference, pace)});
  }
}

void add_other_lengths(const LoadView& view, std::size_t curve, const std::optional<Draws>& plain, Options& options) {
  const LoggedTimes times = logged_times(view, curve);
  if (times.empty() || !plain || view.load.by_capacity) return;
  for (std::int64_t gamma = 1; gamma <= static_cast<std::int64_t>(view.advice.curves[curve].by_gamma.size()); ++gamma) {
    if (options.contains({curve, gamma, false})) continue;
    const auto tokens = tokens_by_draw(view, curve, gamma);
    const auto time = time_draws(view, times, gamma);
    if (!tokens || !time) continue;
    Draws speedups;
    for (std::size_t j = 0; j < view.count(); ++j) speedups.push_back((*tokens)[j] * (*plain)[j] / time->ms[j]);
    options.emplace(Option{curve, gamma, false}, Known{.time = time->time, .speedups = std::move(speedups)});
  }
}

Options options_of(const LoadView& view) {
  const std::optional<Draws> plain = plain_draws(view);
  Options options;
  add_logged(view, plain, options);
  for (std::size_t curve = 0; curve < view.advice.curves.size(); ++curve) {
    add_other_lengths(view, curve, plain, options);
  }
  return options;
}

/// A setting that was logged at a smaller and at a larger load: between their speedups, as between two draft lengths.
void add_between_loads(const std::vector<LoadView>& views, std::size_t here, std::vector<Options>& options) {
  const auto requests = [&](std::size_t load) { return views[load].load.load.requests; };
  const auto usable = [&](std::size_t load) {
    const RunLoad& of = views[load].load.load;
    return of.requests && !of.context && !of.category && !of.sampling && views[load].places.plain;
  };
  if (!usable(here)) return;
  std::set<Option> logged;
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (const auto& [option, known] : options[i]) {
      if (usable(i) && known.time == Time::logged) logged.insert(option);
    }
  }
  for (const Option& option : logged) {
    if (options[here].contains(option)) continue;
    std::optional<std::size_t> below;
    std::optional<std::size_t> above;
    for (std::size_t i = 0; i < views.size(); ++i) {
      const auto found = options[i].find(option);
      if (!usable(i) || found == options[i].end() || found->second.time != Time::logged) continue;
      if (*requests(i) < *requests(here) && (!below || *requests(i) > *requests(*below))) below = i;
      if (*requests(i) > *requests(here) && (!above || *requests(i) < *requests(*above))) above = i;
    }
    if (!below || !above) continue;
    const double share =
        std::log(*requests(here) / *requests(*below)) / std::log(*requests(*above) / *requests(*below));
    const Draws& low = options[*below].at(option).speedups;
    const Draws& high = options[*above].at(option).speedups;
    const Draws& normal = views[here].at(views[here].places.stairs);
    Draws speedups;
    for (std::size_t j = 0; j < low.size(); ++j) {
      speedups.push_back(
          std::exp(std::lerp(std::log(low[j]), std::log(high[j]), std::pow(share, std::pow(normal[j], bend)))));
    }
    options[here].emplace(option, Known{.time = Time::interpolated, .speedups = std::move(speedups)});
  }
}

// ---- losses

/// Options with what they lose; the last one is to draft nothing, if it is one.
struct Losses {
  std::vector<Option> options = {};
  std::vector<bool> logged = {};
  std::vector<analytic::Candidate> candidates = {};
  std::vector<analytic::CandidateLoss> losses = {};
};

/// `over_plain`: whether no speculation, whose speedup is 1, is an option.
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

/// The choice among what was logged, unless something interpolated or predicted gains clearly more and loses clearly
/// less: a guess must not replace a measurement that is as good.
std::size_t chosen_of(const Losses& losses) {
  constexpr double clearly = 2.0 * analytic::equal_loss;
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

/// Whether an error of the speedup of this run is assumed.
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

/// Draft lengths below the shortest logged one: an iteration takes no longer than there.
void add_bounded(LoadAdvice& load, const Advice& advice) {
  std::vector<SpeedupRow> bounded;
  for (const LoggedRun& logged : load.logged) {
    const Option option = option_of(logged, advice);
    const auto& by_gamma = advice.curves[option.curve].by_gamma;
    const auto is_shorter = [&](const SpeedupRow& row) {
      return row.curve == option.curve && row.gamma < option.gamma;
    };
    if (!logged.speedup || option.adaptive || std::ranges::any_of(load.by_gamma, is_shorter)) continue;
    for (const analytic::TokensAtGamma& at : by_gamma) {
      if (at.gamma >= option.gamma) break;
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

/// No draft length gains more at a load: an iteration takes at least a decode step, and beyond the longest logged draft
/// at least as long as there. NaN where nothing is known.
double at_most(const LoadAdvice& load, const Advice& advice) {
  double maximum = not_known;
  const auto raise = [&](double to) { maximum = std::isnan(maximum) ? to : std::max(maximum, to); };
  for (const LoggedRun& logged : load.logged) {
    const Option option = option_of(logged, advice);
    const auto& by_gamma = advice.curves[option.curve].by_gamma;
    const analytic::TokensAtGamma* own = advice.curves[option.curve].at(option.gamma);
    const bool known = logged.speedup && !option.adaptive && own != nullptr && std::isfinite(own->value);
    if (!known || load.by_capacity) return not_known;
    const auto row_at = [&](std::int64_t gamma) {
      return std::ranges::find_if(load.by_gamma, [&](const SpeedupRow& row) {
        return row.curve == option.curve && row.gamma == gamma && std::isfinite(row.value);
      });
    };
    for (const analytic::TokensAtGamma& at : by_gamma) {
      if (const auto row = row_at(at.gamma); row != load.by_gamma.end()) {
        raise(row->value);
        continue;
      }
      const double most = std::isfinite(at.value) ? at.value : at.high;
      raise(at.gamma > option.gamma ? std::min(most, most / own->value * logged.speedup->value) : most);
    }
  }
  return maximum;
}

// ---- one setting for all loads, or one for each

/// Speedup over all loads: shares are of the generated tokens.
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

struct Traffic {
  std::vector<std::size_t> loads;  ///< that are chosen for: those with a speedup over the plain run, else all
  std::vector<const Options*> options;
  std::vector<double> shares;
  bool over_plain;
};

/// Options that are known at every load, with the speedup over all.
Options fixed_options(const Traffic& traffic) {
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

/// The relative speedup that a schedule must gain to be recommended.
double schedule_cost(std::string_view engine) {
  // vLLM's V1 runner gives up full CUDA graphs for a schedule: 59.6 against 50.0 tokens/s in its issue 49548. Of other
  // engines nothing is known: assumed.
  constexpr double of_vllm = 0.16;
  constexpr double of_others = 0.05;
  return engine == "vllm" ? of_vllm : of_others;
}

/// Draft lengths by batch, with edges in the middle between loads; empty where a load is no number of requests.
std::vector<ScheduleRange> schedule_of(const std::vector<std::int64_t>& gammas, const std::vector<double>& requests) {
  std::vector<ScheduleRange> ranges;
  std::int64_t first = 1;
  for (std::size_t i = 0; i < gammas.size(); ++i) {
    const double last = i + 1 < requests.size() ? std::sqrt(requests[i] * requests[i + 1]) : requests[i];
    const auto end = std::max(first, static_cast<std::int64_t>(std::floor(last)));
    if (!ranges.empty() && ranges.back().gamma == gammas[i]) {
      ranges.back().last = end;
    } else {
      ranges.push_back({first, end, gammas[i]});
    }
    first = end + 1;
  }
  return ranges;
}

struct Scheduled {
  std::vector<ScheduleRange> ranges = {};
  std::vector<Draws> by_load = {};  ///< speedups of its draft lengths
};

/// The best setting of one drafter at each load, 0 among them.
Scheduled best_schedule(const Traffic& traffic, std::size_t curve, const Advice& advice) {
  std::vector<std::int64_t> gammas;
  std::vector<double> requests;
  Scheduled scheduled;
  for (std::size_t i = 0; i < traffic.options.size(); ++i) {
    const LoadAdvice& load = advice.loads[traffic.loads[i]];
    const auto& in_flight = advice.runs[load.logged.front().run].run.requests;
    if (!load.load.requests || load.load.context || load.load.category || !in_flight) return {};
    Options of_curve;
    for (const auto& [option, known] : *traffic.options[i]) {
      if (option.curve == curve && option.gamma > 0 && !option.adaptive) of_curve.emplace(option, known);
    }
    if (of_curve.empty()) return {};
    const Losses losses = losses_of(of_curve, traffic.over_plain);
    const std::size_t chosen = chosen_of(losses);
    gammas.push_back(losses.candidates[chosen].gamma);
    requests.push_back(*in_flight);
    scheduled.by_load.push_back(losses.candidates[chosen].speedups);
  }
  scheduled.ranges = schedule_of(gammas, requests);
  return scheduled;
}

double mean_gain(const Draws& one, const Draws& other) {
  double sum = 0.0;
  for (std::size_t j = 0; j < one.size(); ++j) sum += one[j] / other[j];
  return sum / static_cast<double>(one.size()) - 1.0;
}

/// Whether a schedule gains more than it costs at any load; `fixed`: the setting for all loads.
bool schedule_pays(const Scheduled& scheduled, const Option& fixed, const Traffic& traffic, double cost) {
  if (scheduled.ranges.size() < 2) return false;
  for (std::size_t i = 0; i < traffic.options.size(); ++i) {
    const Draws none(scheduled.by_load[i].size(), 1.0);
    const Draws& of_fixed = is_off(fixed) ? none : traffic.options[i]->at(fixed).speedups;
    if (mean_gain(scheduled.by_load[i], of_fixed) > cost) return true;
  }
  return false;
}

/// The loads that a choice rests on.
Traffic traffic_of(const Advice& advice, const std::vector<Options>& options, const std::vector<bool>& over_plain) {
  Traffic traffic{.loads = {}, .options = {}, .shares = {}, .over_plain = std::ranges::count(over_plain, true) > 0};
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const bool counts = over_plain[i] || (!traffic.over_plain && options[i].size() > 1);
    if (!counts || options[i].empty()) continue;
    traffic.loads.push_back(i);
    traffic.options.push_back(&options[i]);
    traffic.shares.push_back(advice.loads[i].share);
  }
  return traffic;
}

/// Of a single load, its row.
void take_row(const Traffic& traffic, const Advice& advice, Recommendation& use) {
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

void choose(const Traffic& traffic, Advice& advice) {
  const Losses losses = losses_of(fixed_options(traffic), traffic.over_plain);
  if (losses.losses.empty()) return;
  const analytic::LeastLoss least = analytic::least_loss(losses.losses);
  const std::size_t place = chosen_of(losses);
  const Option& chosen = losses.options[place];
  const analytic::CandidateLoss& loss = losses.losses[place];
  Recommendation use{.gamma = chosen.gamma,
                     .adaptive = chosen.adaptive,
                     .value = loss.median,
                     .low = loss.ci95.low,
                     .high = loss.ci95.high,
                     .p_best = loss.p_best,
                     .expected_loss = loss.expected_loss,
                     .ties = {},
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
  if (traffic.loads.size() > 1 && !chosen.adaptive) {
    Scheduled scheduled = best_schedule(traffic, advice.main_curve, advice);
    const bool pays = schedule_pays(scheduled, chosen, traffic, schedule_cost(advice.engine));
    if (pays) use.schedule = std::move(scheduled.ranges);
  }
  // Of a run whose draft length was not logged there is nothing to set.
  if (!is_off(chosen) && chosen.gamma == 0) return;
  if (advice.curves.size() > 1 && !is_off(chosen)) use.drafter = advice.curves[chosen.curve].name;
  if (!traffic.over_plain) use.value = use.low = use.high = not_known;
  advice.recommendation = std::move(use);
}

/// Whether no draft length yields more than a few percent: an iteration takes at least a decode step.
bool yields_nothing(const Advice& advice) {
  constexpr double a_few_percent = 1.05;
  if (advice.curves.size() != 1 || advice.curve()->by_gamma.empty()) return false;
  return std::ranges::all_of(advice.curve()->by_gamma, [](const analytic::TokensAtGamma& at) {
    return std::isfinite(at.value) && at.value < a_few_percent && at.low < a_few_percent;
  });
}

}  // namespace

bool too_uncertain(const Advice& advice) {
  constexpr double maximum = 0.05;
  return advice.tokens_observed &&
         normal_quantile(0.95) * advice.tokens_observed->standard_error > maximum * advice.tokens_observed->mean;
}

void add_choice(const AdviceQuestion& question, Advice& advice) {
  if (advice.loads.empty()) return;
  DrawList list;
  const Places places = places_of(advice, list);
  const std::vector<Draws> draws = list.draws();
  std::vector<LoadView> views;
  std::vector<Options> options;
  std::vector<bool> over_plain;
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const LoadView& view = views.emplace_back(LoadView{.question = question,
                                                       .advice = advice,
                                                       .load = advice.loads[i],
                                                       .places = places.loads[i],
                                                       .all = places,
                                                       .draws = draws});
    over_plain.push_back(plain_draws(view).has_value() || std::ranges::any_of(view.places.logged, [](const auto& one) {
                           return one.reference.has_value();
                         }));
    options.push_back(options_of(view));
  }
  for (std::size_t i = 0; i < views.size(); ++i) add_between_loads(views, i, options);
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const Losses losses = losses_of(options[i], over_plain[i]);
    const auto chosen = losses.losses.empty() ? std::nullopt : std::optional(chosen_of(losses));
    LoadAdvice& load = advice.loads[i];
    for (std::size_t k = 0; over_plain[i] && k < losses.options.size(); ++k) {
      if (is_off(losses.options[k])) continue;
      load.by_gamma.push_back(
          row_of(losses.options[k], options[i].at(losses.options[k]), losses.losses[k], load, advice));
      load.by_gamma.back().chosen = chosen == k;
    }
    add_bounded(load, advice);
    load.at_most = at_most(load, advice);
  }
  const Traffic traffic = traffic_of(advice, options, over_plain);
  if (traffic.over_plain || !yields_nothing(advice)) {
    if (!traffic.loads.empty()) choose(traffic, advice);
    return;
  }
  advice.recommendation = Recommendation{
      .gamma = 0, .value = 1.0, .low = 1.0, .high = 1.0, .p_best = 1.0, .expected_loss = 0.0, .ties = {0}};
}

}  // namespace foredraft::answers
