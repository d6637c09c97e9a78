// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "analytic/observed/joint_draws.hpp"
#include "answers/advice_choice.hpp"

namespace foredraft::answers {
namespace {

using Time = SpeedupRow::Time;

// ---- Draws from the joint uncertainty. All results use the same draws of each time and of the acceptance of each
// curve.

/// Estimates and normal variates to draw, in the order in which they were added.
class DrawList {
 public:
  /// Index of an estimate in draws().
  std::size_t add(const analytic::ClusteredEstimate& estimate) {
    estimates_.push_back(estimate);
    return estimates_.size() - 1;
  }
  /// Index of a new draw whose logarithm is standard normal.
  std::size_t add_normal() {
    constexpr std::size_t apart = std::size_t{1} << 30U;  // above the ids of runs
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

/// Indices of the draws for a logged run.
struct LoggedPlaces {
  std::optional<std::size_t> reference, pace, iteration;
};

struct LoadPlaces {
  std::vector<LoggedPlaces> logged;
  std::optional<std::size_t> plain;  ///< TPOT without speculation
  std::size_t predicted;             ///< normal: error of the ratio of two predicted times
  std::size_t stairs;                ///< normal: shape between two logged times
};

struct Places {
  std::vector<LoadPlaces> loads;
  std::vector<std::size_t> curves;   ///< normal: error of the acceptance of a curve
  std::vector<std::size_t> outside;  ///< by load, normal: error of speedups that were logged at other loads
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
      } else if (const auto alone = paces_of(run, run)) {  // only its throughput was logged
        of_run.pace = list.add(alone->run);
      }
      if (const auto* iteration = run.estimate("iteration_ms")) of_run.iteration = list.add(*iteration);
    }
    at.predicted = list.add_normal();
    at.stairs = list.add_normal();
  }
  for (std::size_t i = 0; i < advice.curves.size(); ++i) places.curves.push_back(list.add_normal());
  for (std::size_t i = 0; i < advice.loads.size(); ++i) places.outside.push_back(list.add_normal());
  return places;
}

/// The data to compute the options of a load from.
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

/// Tokens per iteration of a curve by draw; nullopt: unknown.
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

/// Standard deviation of the log exponent in between(): its curves range from flat at first to flat at the end.
constexpr double bend = 0.7;

/// Time between two logged times: the first plus a fraction of their difference that rises with gamma. The draws cover
/// any shape of steps.
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

/// A predicted time scaled to the logged ones; between two of them, their slope corrects it too. The error is in
/// proportion to the distance from the nearest one, and full at a doubling of the verified tokens or more. gamma 0: a
/// decode step.
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

/// Time per token without speculation by draw: logged, else predicted; nullopt: unknown, or not comparable.
std::optional<Draws> plain_draws(const LoadView& view) {
  if (view.places.plain) return view.at(*view.places.plain);
  if (!view.load.arms_differ.empty()) return std::nullopt;
  for (std::size_t curve = 0; curve < view.advice.curves.size(); ++curve) {
    if (auto ms = predicted_ms(view, logged_times(view, curve), 0)) return ms;
  }
  return std::nullopt;
}

/// Speedups of logged settings over the run without speculation, else over `plain`, else over the first logged run.
void add_logged(const LoadView& view, const std::optional<Draws>& plain, Options& options) {
  const Draws* first = nullptr;
  for (std::size_t i = 0; i < view.load.logged.size(); ++i) {
    const LoggedPlaces& places = view.places.logged[i];
    const bool drafts = view.advice.runs[view.load.logged[i].run].run.setting.gamma != 0;
    if (!places.pace || !drafts) continue;  // K = 0 of a speculative server is not a setting
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
  if (!curve_holds_at(view.load, curve, view.advice)) return;
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

// ---- settings at loads where they were not logged

/// A load with a run without speculation that differs from other loads only in its requests in flight.
bool is_of_requests(const LoadView& view) {
  const RunLoad& load = view.load.load;
  return load.requests && !load.context && !load.category && !load.sampling && view.places.plain;
}

/// Indices of loads by requests in flight.
using LoadsByRequests = std::map<double, std::size_t>;

/// The loads at which each setting was logged.
using LoggedLoads = std::map<Option, LoadsByRequests>;

LoggedLoads logged_loads(const std::vector<LoadView>& views, const std::vector<Options>& options) {
  LoggedLoads logged;
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (const auto& [option, known] : options[i]) {
      const bool counts = is_of_requests(views[i]) && known.time == Time::logged;
      if (counts) logged[option].emplace(*views[i].load.load.requests, i);
    }
  }
  return logged;
}

/// Speedup of a setting between a smaller and a larger load at which it was logged, as between two draft lengths.
void add_between_loads(const LoadView& view, const LoggedLoads& logged, std::size_t here,
                       std::vector<Options>& options) {
  const double requests = *view.load.load.requests;
  for (const auto& [option, loads] : logged) {
    const auto above = loads.upper_bound(requests);
    if (options[here].contains(option) || above == loads.end() || above == loads.begin()) continue;
    const auto below = std::prev(above);
    const double share = std::log(requests / below->first) / std::log(above->first / below->first);
    const Draws& low = options[below->second].at(option).speedups;
    const Draws& high = options[above->second].at(option).speedups;
    const Draws& normal = view.at(view.places.stairs);
    Draws speedups;
    for (std::size_t j = 0; j < low.size(); ++j) {
      speedups.push_back(
          std::exp(std::lerp(std::log(low[j]), std::log(high[j]), std::pow(share, std::pow(normal[j], bend)))));
    }
    options[here].emplace(option, Known{.time = Time::interpolated, .speedups = std::move(speedups)});
  }
}

/// Doublings of the verified tokens from those of `reference`, or of no speculation if it is null; at least one.
double apart(const Option& option, const std::optional<Option>& reference) {
  return std::max(1.0, std::abs(doublings(option.gamma, reference ? reference->gamma : 0)));
}

/// The other setting nearest in draft length that was logged at both loads; nullopt: no speculation is as near.
std::optional<Option> reference_of(const Option& option, double one, double other, const LoggedLoads& logged) {
  std::optional<Option> nearest;
  for (const auto& [reference, loads] : logged) {
    const bool at_both = reference != option && loads.contains(one) && loads.contains(other);
    if (at_both && apart(option, reference) < apart(option, nearest)) nearest = reference;
  }
  return nearest;
}

/// Logarithm of the ratio of the speedups of a setting and of the reference.
Draws log_ratio(const Options& options, const Option& option, const std::optional<Option>& reference) {
  Draws ratio;
  for (std::size_t j = 0; j < options.at(option).speedups.size(); ++j) {
    const double over = reference ? options.at(*reference).speedups[j] : 1.0;
    ratio.push_back(std::log(options.at(option).speedups[j] / over));
  }
  return ratio;
}

/// Speedup of a setting at a load outside those where it was logged. The reference is the setting nearest in draft
/// length, or no speculation, that was logged both here and at the nearest load of the setting. The ratio of the two
/// speedups is taken from that load. The standard error of its logarithm grows with every doubling of the load by its
/// change between the two nearest loads of both, and by at least an assumed 8 % for each doubling of the verified
/// tokens. The speedup is at most the tokens per iteration.
Draws outside_draws(const LoadView& view, const Option& option, const LoggedLoads& logged,
                    const std::vector<Options>& options, std::size_t here) {
  constexpr double assumed_change = 0.08;
  const double requests = *view.load.load.requests;
  const LoadsByRequests& loads = logged.at(option);
  const bool is_above = loads.rbegin()->first < requests;
  const auto& [near, near_load] = is_above ? *loads.rbegin() : *loads.begin();
  const std::optional<Option> reference = reference_of(option, near, requests, logged);
  const Draws ratio = log_ratio(options[near_load], option, reference);
  // The second nearest load of both, if there is one.
  std::optional<std::pair<double, std::size_t>> next;
  for (const auto& [at, load] : loads) {
    const bool both = at != near && (!reference || logged.at(*reference).contains(at));
    if (both && (!next || is_above)) next = {at, load};
  }
  const Draws further = next ? log_ratio(options[next->second], option, reference) : ratio;
  const auto tokens = tokens_by_draw(view, option.curve, option.gamma);
  const Draws& normal = view.at(view.all.outside[here]);
  Draws speedups;
  for (std::size_t j = 0; j < view.count(); ++j) {
    const double seen = next ? std::abs(ratio[j] - further[j]) / std::abs(std::log2(near / next->first)) : 0.0;
    const double change = std::max(seen, assumed_change * apart(option, reference));
    const double error = change * std::abs(std::log2(requests / near));
    const double over = reference ? options[here].at(*reference).speedups[j] : 1.0;
    const double speedup = over * std::exp(ratio[j]) * std::pow(normal[j], error);
    speedups.push_back(tokens && !option.adaptive ? std::min(speedup, (*tokens)[j]) : speedup);
  }
  return speedups;
}

Options outside_options(const LoadView& view, const LoggedLoads& logged, const std::vector<Options>& options,
                        std::size_t here) {
  Options outside;
  for (const auto& [option, loads] : logged) {
    if (options[here].contains(option)) continue;
    outside.emplace(option,
                    Known{.time = Time::extrapolated, .speedups = outside_draws(view, option, logged, options, here)});
  }
  return outside;
}

}  // namespace

Option option_of(const LoggedRun& logged, const Advice& advice) {
  const RunSetting& setting = advice.runs[logged.run].run.setting;
  return {logged.curve, setting.gamma.value_or(0), setting.adaptive};
}

bool curve_holds_at(const LoadAdvice& load, std::size_t curve, const Advice& advice) {
  return !load.load.category || std::ranges::none_of(load.logged, [&](const LoggedRun& logged) {
    const Run& run = advice.runs[logged.run].run;
    const analytic::TokensAtGamma* all = advice.curves[curve].at(run.setting.gamma.value_or(0));
    const bool compares = logged.curve == curve && run.tokens && all != nullptr && std::isfinite(all->value);
    return compares && std::abs(run.tokens->mean - all->value) > single_run_error * all->value;
  });
}

Draws ratio_of(const Draws& top, const Draws& bottom) {
  Draws ratio;
  for (std::size_t j = 0; j < top.size(); ++j) ratio.push_back(top[j] / bottom[j]);
  return ratio;
}

std::vector<LoadOptions> options_by_load(const AdviceQuestion& question, const Advice& advice) {
  DrawList list;
  const Places places = places_of(advice, list);
  const std::vector<Draws> draws = list.draws();
  std::vector<LoadView> views;
  std::vector<Options> options;
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    views.push_back({.question = question,
                     .advice = advice,
                     .load = advice.loads[i],
                     .places = places.loads[i],
                     .all = places,
                     .draws = draws});
    options.push_back(options_of(views.back()));
  }
  const LoggedLoads logged = logged_loads(views, options);
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (is_of_requests(views[i])) add_between_loads(views[i], logged, i, options);
  }
  std::vector<Options> outside(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (is_of_requests(views[i])) outside[i] = outside_options(views[i], logged, options, i);
  }
  std::vector<LoadOptions> all;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const bool over_plain =
        plain_draws(views[i]) ||
        std::ranges::any_of(views[i].places.logged, [](const LoggedPlaces& one) { return one.reference.has_value(); });
    all.push_back({.known = std::move(options[i]), .outside = std::move(outside[i]), .over_plain = over_plain});
  }
  return all;
}

}  // namespace foredraft::answers
