// SPDX-License-Identifier: Apache-2.0
#include "answers/advice_action.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/advice_steps.hpp"
#include "answers/advice_words.hpp"

namespace foredraft::answers {
namespace {

std::string speedup_text(const LoadAdvice& load) { return with_half_width(*load.speedup(), "x"); }

std::string main_name(const LoadAdvice& load, const Advice& advice) {
  return setting_name(load.logged[load.main], advice);
}

/// The name of the main setting of all loads.
std::string main_of_all(const std::vector<const LoadAdvice*>& loads, const Advice& advice) {
  std::string name = main_name(*loads.front(), advice);
  const auto has_name = [&](const LoadAdvice* one) { return main_name(*one, advice) == name; };
  return std::ranges::all_of(loads, has_name) ? name : "the fastest of each";
}

// ---- verdicts

/// Where the interval of one speedup lies: above 1, below 1, or around it.
enum class Verdict { pays, loses, open };

Verdict verdict_of(const analytic::ClusteredEstimate& speedup, double level) {
  if (is_assumed(speedup)) return Verdict::open;
  const Interval interval = analytic::interval_of(speedup, level);
  return interval.low > 1.0 ? Verdict::pays : interval.high < 1.0 ? Verdict::loses : Verdict::open;
}

/// Whether a speedup is one that runs of the same setting may have over each other: half of what a single run may be
/// off by, and 1 is in its interval.
bool is_no_difference(const analytic::ClusteredEstimate& speedup) {
  constexpr double hardly = single_run_error / 2.0, level = 0.95;
  return std::abs(speedup.value - 1.0) < hardly && verdict_of(speedup, level) == Verdict::open;
}

// ---- what to do

/// "0.82x at 4 requests" for each load, up to a limit.
std::string speedups_text(const std::vector<const LoadAdvice*>& loads) {
  constexpr std::size_t shown = 3;
  std::vector<std::string> texts;
  for (const LoadAdvice* load : loads) {
    if (texts.size() == shown) break;
    texts.push_back(fmt::format("{} at {}", speedup_text(*load), load->name));
  }
  if (loads.size() > shown) texts.push_back(fmt::format("{} more", loads.size() - shown));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The loads at which speculation was faster, slower, or neither.
struct LoadsBySign {
  std::vector<const LoadAdvice*> gaining = {}, losing = {}, even = {};
};

LoadsBySign by_sign(const std::vector<const LoadAdvice*>& loads) {
  constexpr double unseen = 0.005;  // in the digits that are shown
  LoadsBySign by;
  for (const LoadAdvice* load : loads) {
    const double gain = load->speedup()->value - 1.0;
    const bool even = std::abs(gain) < unseen || is_no_difference(*load->speedup());
    (even ? by.even : gain > 0.0 ? by.gaining : by.losing).push_back(load);
  }
  return by;
}

/// A clause with the upper bound of the speedup of any draft length; empty if it is 1.2 or above, or unknown.
std::string limit_text(const std::vector<const LoadAdvice*>& loads) {
  constexpr double little = 1.2;
  double maximum = 0.0;
  for (const LoadAdvice* load : loads)
    maximum = std::isnan(load->at_most) ? load->at_most : std::max(maximum, load->at_most);
  if (!(maximum < little)) return "";
  if (maximum < 1.0) return "; no K pays";
  return fmt::format("; no K can gain more than {:.1f} %", 100.0 * (maximum - 1.0));
}

std::string off_text(const Advice& advice) {
  const auto loads = advice.compared();
  if (loads.empty()) {
    double most = 1.0;
    for (const analytic::TokensAtGamma& at : advice.curve()->by_gamma) most = std::max(most, at.value);
    return fmt::format("Turn speculation off: {}, and no K can gain more than {:.1f} %.", yield_text(advice),
                       100.0 * (most - 1.0));
  }
  const LoadAdvice& first = *loads.front();
  if (first.by_capacity) {
    return fmt::format(
        "Turn speculation off: {} loses capacity, {} the output tokens/s at {}, at which the server is overloaded.",
        main_name(first, advice), speedup_text(first), first.name);
  }
  const auto [gaining, losing, even] = by_sign(loads);
  const bool mixed = !gaining.empty() && !losing.empty();
  return fmt::format("Turn speculation off: {} gives {}{}.{}", main_of_all(loads, advice),
                     speedups_text(mixed ? losing : loads), limit_text(loads),
                     mixed ? fmt::format(" It pays only here: {}.", speedups_text(gaining)) : "");
}

/// The speedup of a draft length at a load; nullopt if unknown or for no speculation.
std::optional<double> speedup_at(const LoadAdvice& load, std::int64_t gamma, const Advice& advice) {
  for (const SpeedupRow& row : load.by_gamma) {
    const bool is_it = row.curve == advice.main_curve && row.gamma == gamma && std::isfinite(row.expected_loss);
    if (is_it) return row.value;
  }
  return std::nullopt;
}

/// The draft lengths of a schedule at the loads that were measured: where between two of them it should change is not
/// known.
std::string schedule_text(const Advice& advice) {
  const auto& schedule = advice.recommendation->schedule;
  std::vector<std::string> texts;
  for (const GammaRange& range : schedule) {
    std::vector<const LoadAdvice*> inside;
    for (const LoadAdvice& load : advice.loads) {
      const double requests = load.requests.value_or(0.0);
      if (requests >= static_cast<double>(range.from_batch) && requests < static_cast<double>(range.to_batch) + 1.0)
        inside.push_back(&load);
    }
    if (inside.empty()) continue;
    std::ranges::stable_sort(inside, {}, [](const LoadAdvice* load) { return *load->requests; });
    const std::string &first = inside.front()->name, &last = inside.back()->name;
    std::string text = range.gamma == 0 ? std::string("off") : fmt::format("K = {}", range.gamma);
    text += &range == &schedule.back()    ? fmt::format(" from {}", first)
            : inside.size() == 1          ? fmt::format(" at {}", first)
            : &range == &schedule.front() ? fmt::format(" up to {}", last)
                                          : fmt::format(" from {} to {}", first, last);
    if (const auto speedup = speedup_at(*inside.front(), range.gamma, advice); speedup && inside.size() == 1) {
      text += fmt::format(" ({:.2f}x)", *speedup);
    } else if (speedup) {
      text += fmt::format(" ({:.2f}x at {})", *speedup, first);
    }
    texts.push_back(text);
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string interval_text(const Recommendation& use) {
  constexpr double visible = 0.01;
  if (use.high - use.low < visible) return "";
  return std::isfinite(use.low) ? fmt::format(" ({:.2f} to {:.2f})", use.low, use.high) : "";
}

/// The loads at which the recommended setting is slower than no speculation.
std::string losing_text(const Advice& advice) {
  std::vector<std::string> texts;
  for (const LoadAdvice& load : advice.loads) {
    for (const SpeedupRow& row : load.by_gamma) {
      const bool chosen = row.curve == advice.main_curve && row.gamma == advice.recommendation->gamma;
      const bool is_candidate = std::isfinite(row.expected_loss);
      if (chosen && is_candidate && row.value < 1.0)
        texts.push_back(fmt::format("{:.2f}x at {}", row.value, load.name));
    }
  }
  return texts.empty() ? "" : fmt::format(" It loses: {}.", fmt::join(texts, ", "));
}

/// Whether the loads are those of an experiment, or of kinds of prompts, of which no mean is that of the traffic.
bool are_no_traffic(const Advice& advice) {
  const auto& kind = advice.loads.front().load.category;
  if (std::ranges::any_of(advice.loads, [&](const LoadAdvice& load) { return load.load.category != kind; }))
    return true;
  return advice.loads.size() > 1 && std::ranges::all_of(advice.loads, [&](const LoadAdvice& load) {
           const std::vector<RunPart>& parts = advice.runs[load.logged[load.main].run].run.parts;
           return std::ranges::all_of(parts, [](const RunPart& part) { return part.span == logs::Span::run; });
         });
}

/// The fastest logged setting of a load, if it is faster than the recommended one; else nullptr.
const LoggedRun* faster_at(const LoadAdvice& load, double recommended) {
  constexpr double visible = 0.01;
  const auto value = [](const LoggedRun& one) { return one.speedup ? one.speedup->value : 0.0; };
  const auto fastest = std::ranges::max_element(load.logged, {}, value);
  return fastest == load.logged.end() || value(*fastest) < recommended + visible ? nullptr : &*fastest;
}

/// " Faster: K = 4 at 1 request (1.96x), 4 requests (1.79x); K = 7 at 2 requests (1.90x)." Empty without any.
std::string faster_settings_text(const std::vector<std::pair<const LoadAdvice*, const LoggedRun*>>& faster,
                                 const Advice& advice) {
  constexpr std::size_t shown = 3;
  std::vector<std::pair<std::string, std::vector<std::string>>> settings;  // each with its loads
  for (const auto& [load, run] : std::span(faster).first(std::min(shown, faster.size()))) {
    const std::string name = setting_name(*run, advice);
    auto known = std::ranges::find(settings, name, &std::pair<std::string, std::vector<std::string>>::first);
    if (known == settings.end()) known = settings.insert(settings.end(), {name, {}});
    known->second.push_back(fmt::format("{} ({:.2f}x)", load->name, run->speedup->value));
  }
  std::vector<std::string> texts;
  for (const auto& [name, loads] : settings) texts.push_back(fmt::format("{} at {}", name, fmt::join(loads, ", ")));
  if (texts.empty()) return "";
  const std::string more = faster.size() > shown ? fmt::format("; others at {} more", faster.size() - shown) : "";
  return fmt::format(" Faster: {}{}.", fmt::join(texts, "; "), more);
}

/// The speedups of the recommended setting by load: "1.58x at chat, 0.97x at code (K = 1: 1.05x)",
/// or their range, after those of the whole, and the loads where it loses; else empty.
std::string by_load_text(const Advice& advice) {
  constexpr std::size_t few = 3;
  std::vector<std::pair<double, std::string>> speedups;
  std::vector<std::string> texts;
  std::string wholes;
  std::vector<std::pair<const LoadAdvice*, const LoggedRun*>> others;
  for (const LoadAdvice& load : advice.loads) {
    const auto speedup = speedup_at(load, advice.recommendation->gamma, advice);
    if (!speedup) continue;
    const std::string at = fmt::format("{:.2f}x at {}", *speedup, load.name);
    texts.push_back(at);
    const LoggedRun* faster = faster_at(load, *speedup);
    if (faster != nullptr)
      texts.back() += fmt::format(" ({}: {:.2f}x)", setting_name(*faster, advice), faster->speedup->value);
    if (is_whole(load.load)) {
      wholes += texts.back() + ", ";
      continue;
    }
    speedups.emplace_back(*speedup, at);
    if (faster != nullptr) others.emplace_back(&load, faster);
  }
  if (speedups.size() > few) {
    const auto [lowest, highest] = std::minmax_element(speedups.begin(), speedups.end());
    // A schedule has named the best setting of each load before.
    const std::string faster = advice.recommendation->schedule.empty() ? faster_settings_text(others, advice) : "";
    return fmt::format("{}{} to {}.{}{}", wholes, lowest->second, highest->second, losing_text(advice), faster);
  }
  return texts.empty() ? "" : fmt::format("{}.", fmt::join(texts, ", "));
}

/// "mtp at K = 1", "adaptive drafting up to K = 8", "K = 2 (not logged)".
std::string setting_of_recommendation(const Advice& advice, std::string_view unlogged = " (not logged)") {
  const Recommendation& use = *advice.recommendation;
  const std::string length =
      use.adaptive ? fmt::format("adaptive drafting up to K = {}", use.gamma) : fmt::format("K = {}", use.gamma);
  const std::string named = use.drafter.empty() ? length : fmt::format("{} at {}", use.drafter, length);
  return fmt::format("{}{}", named, is_logged(advice) ? "" : unlogged);
}

/// Whether the loads differ in the requests at once alone, so that a server may have a setting for its own.
bool are_sizes(const Advice& advice) {
  return advice.loads.size() > 1 && are_no_traffic(advice) &&
         std::ranges::none_of(advice.loads, [](const LoadAdvice& load) {
           return load.load.category || load.load.context || load.load.sampling;
         });
}

/// The best setting of each load, if at one of them another drafter, or none, is clearly faster than the recommended
/// setting: one server cannot change its drafter by load, but each load can have the setting of its server. Else empty.
std::string best_of_each_load_text(const Advice& advice) {
  constexpr std::size_t shown = 3;
  const double clearly = 1.0 + single_run_error;  // what single runs may differ by for no reason
  if (!are_sizes(advice)) return "";
  std::vector<std::pair<std::string, std::vector<std::string>>> settings;  // each with its loads
  std::vector<std::pair<double, std::string>> fixed;
  bool differs = false;
  for (const LoadAdvice& load : advice.loads) {
    const auto recommended = speedup_at(load, advice.recommendation->gamma, advice);
    const auto value = [](const LoggedRun& one) { return one.speedup ? one.speedup->value : 0.0; };
    const auto best = std::ranges::max_element(load.logged, {}, value);
    if (!recommended || best == load.logged.end() || !best->speedup) continue;
    const bool off = value(*best) * clearly < 1.0;
    const bool other = !off && best->curve != advice.main_curve && value(*best) > clearly * *recommended;
    differs = differs || off || other;
    const std::string name = off ? "off" : other ? setting_name(*best, advice) : setting_of_recommendation(advice);
    const std::string at =
        off     ? fmt::format("at {} ({}: {:.2f}x)", load.name, setting_name(*best, advice), value(*best))
        : other ? fmt::format("at {} ({:.2f}x)", load.name, value(*best))
                : fmt::format("at {} ({:.2f}x)", load.name, *recommended);
    auto known = std::ranges::find(settings, name, &std::pair<std::string, std::vector<std::string>>::first);
    if (known == settings.end()) known = settings.insert(settings.end(), {name, {}});
    known->second.push_back(at);
    fixed.emplace_back(*recommended, fmt::format("{:.2f}x at {}", *recommended, load.name));
  }
  if (!differs || settings.size() < 2) return "";
  std::stable_partition(settings.begin(), settings.end(), [](const auto& setting) { return setting.first != "off"; });
  std::vector<std::string> texts;
  std::size_t drafting = 0;
  for (auto& [name, loads] : settings) {
    if (name != "off") ++drafting;
    const std::size_t more = loads.size() > shown ? loads.size() - shown : 0;
    loads.resize(loads.size() - more);
    if (more > 0) loads.push_back(fmt::format("{} more", more));
    texts.push_back(fmt::format("{} {}", name, fmt::join(loads, ", ")));
  }
  const auto [lowest, highest] = std::minmax_element(fixed.begin(), fixed.end());
  const std::string one_for_all = drafting < 2
                                      ? ""
                                      : fmt::format("; at all of them {} gives {} to {}",
                                                    setting_of_recommendation(advice), lowest->second, highest->second);
  return fmt::format("Use {}{}.", fmt::join(texts, "; "), one_for_all);
}

std::string recommended_text(const Advice& advice) {
  const Recommendation& use = *advice.recommendation;
  if (std::string by_load = best_of_each_load_text(advice); use.schedule.empty() && !by_load.empty()) return by_load;
  const bool one_load = advice.loads.size() == 1;
  const bool of_traffic = !one_load && !are_no_traffic(advice);
  const std::string at = !use.schedule.empty() ? ""
                         : one_load            ? " at " + advice.loads.front().name
                                               : " for this traffic";
  const std::string of = one_load && advice.loads.front().by_capacity ? " the output tokens/s" : "";
  const std::string mean = fmt::format("{:.2f}x{}{}{}", use.value, interval_text(use), of, at);
  const std::string losing = losing_text(advice);
  const auto has_speedup = [&](const LoadAdvice& load) { return speedup_at(load, use.gamma, advice).has_value(); };
  const bool listed = of_traffic ? use.schedule.empty() && losing.empty() && interval_text(use).empty() &&
                                       std::ranges::count_if(advice.loads, has_speedup) > 1
                                 : !one_load;
  const std::string by_load = listed ? by_load_text(advice) : "";
  const std::string gain = by_load.empty() ? fmt::format("{}.{}", mean, losing)
                           : of_traffic    ? fmt::format("{}: {}", mean, by_load)
                                           : by_load;
  if (!use.schedule.empty()) {
    return fmt::format("Use {}; {}", schedule_text(advice),
                       use.gamma == 0 ? "one K for all loads gains nothing."
                                      : fmt::format("fixed, {} gives {}", setting_of_recommendation(advice), gain));
  }
  const std::string_view verb = logged_settings(advice) == 1 && advice.gamma_observed == use.gamma ? "Keep" : "Use";
  return fmt::format("{} {}: {}", verb, setting_of_recommendation(advice, ", between those that were logged"), gain);
}

/// The speed of a setting of a load over that of each other one, with the name of the other.
std::vector<std::pair<std::string, std::string>> relative_speeds(const LoadAdvice& load, const std::string& setting,
                                                                 const Advice& advice) {
  std::vector<std::pair<std::string, std::string>> speeds;
  const auto is_it = [&](const LoggedRun& one) { return setting_name(one, advice) == setting; };
  const auto it = std::ranges::find_if(load.logged, is_it);
  if (it == load.logged.end()) return speeds;
  for (const LoggedRun& one : load.logged) {
    const auto paces = paces_of(advice.runs[one.run], advice.runs[it->run]);
    if (&one != &*it && paces) speeds.emplace_back(with_half_width(speedup_of(*paces), "x"), setting_name(one, advice));
  }
  return speeds;
}

/// Without a plain run: the recommended setting, and its speed over the other logged ones at the load with the most; of
/// two settings at each load.
std::string relative_text(const Advice& advice) {
  constexpr std::size_t shown = 3;
  const auto settings = [](const LoadAdvice& one) { return one.logged.size(); };
  const LoadAdvice& load = *std::ranges::max_element(advice.loads, {}, settings);
  const std::string name = main_name(load, advice);
  std::vector<std::string> texts;
  for (const auto& [speed, other] : relative_speeds(load, name, advice))
    if (texts.size() < shown) texts.push_back(fmt::format("{} as fast as {}", speed, other));
  if (!texts.empty()) texts.back() += " at " + load.name;
  for (const LoadAdvice& more : advice.loads) {
    if (load.logged.size() != 2 || more.logged.size() != 2 || &more == &load || texts.size() == shown) continue;
    for (const auto& [speed, other] : relative_speeds(more, name, advice))
      texts.push_back(fmt::format("{} at {}", speed, more.name));
  }
  constexpr std::string_view open = "whether any beats no speculation is not known";
  if (texts.empty()) return fmt::format("Use {}; {}.", name, open);
  return fmt::format("Use {}: {}; {}.", name, fmt::join(texts, ", "), open);
}

/// Of single runs without a plain one: the fastest setting of each load, if they differ; else empty.
std::string fastest_text(const Advice& advice) {
  constexpr std::size_t shown = 3;
  std::vector<std::string> texts;
  std::set<std::string> names;
  for (const LoadAdvice& load : advice.loads) {
    const auto is_single = [](const LoggedRun& one) { return one.relative && is_assumed(*one.relative); };
    if (std::ranges::none_of(load.logged, is_single)) continue;
    names.insert(main_name(load, advice));
    texts.push_back(fmt::format("{} at {}", main_name(load, advice), load.name));
  }
  if (names.size() < 2) return "";
  const std::size_t more = texts.size() > shown ? texts.size() - shown : 0;
  texts.resize(texts.size() - more);
  if (more > 0) texts.push_back(fmt::format("{} more", more));
  return fmt::format("No setting is the fastest everywhere: {}; whether any beats no speculation is not known.",
                     fmt::join(texts, ", "));
}

/// The action if the main setting of each load differs from no speculation as little as a run from the next, and no
/// other one is faster; else empty.
std::string no_difference_text(const Advice& advice) {
  const auto loads = advice.compared();
  const auto gains = [](const LoggedRun& one) {
    return one.speedup && one.speedup->value > 1.0 && !is_no_difference(*one.speedup);
  };
  const bool any = std::ranges::any_of(loads, [&](const LoadAdvice* load) {
    return !is_no_difference(*load->speedup()) || std::ranges::any_of(load->logged, gains) || load->by_capacity;
  });
  if (any || loads.empty() || (advice.recommendation && !is_logged(advice))) return "";
  return fmt::format("No measurable difference: {} gives {}; off is as good{}.", main_of_all(loads, advice),
                     speedups_text(loads), limit_text(loads));
}

/// The action if speedups were measured but there is no draft length to set.
std::string measured_text(const Advice& advice) {
  const auto loads = advice.compared();
  std::string name = main_of_all(loads, advice);
  if (name.starts_with("the ") || name.starts_with("adaptive ")) name[0] = name[0] == 't' ? 'T' : 'A';
  const auto [gaining, losing, even] = by_sign(loads);
  std::string text = name;
  const auto add = [&](std::string_view verb, const std::vector<const LoadAdvice*>& of) {
    if (!of.empty()) text += fmt::format("{} {}: {}.", text.ends_with('.') ? " It" : "", verb, speedups_text(of));
  };
  add("pays", gaining);
  add("loses", losing);
  add("changes nothing", even);
  return text;
}

/// The output tokens/s of all requests over those without speculation at a load, if these say the opposite of the
/// speedup: one is a clear gain, the other a clear loss. Of whole runs: windows of one load hold other requests.
std::optional<double> opposed_throughput(const LoadAdvice& load, const Advice& advice) {
  constexpr double clear = 0.03;
  if (!load.plain || !load.speedup()) return std::nullopt;
  const MeasuredMetric* run = advice.runs[load.logged[load.main].run].find("output_tokens_per_s");
  const MeasuredMetric* plain = advice.runs[*load.plain].find("output_tokens_per_s");
  if (run == nullptr || plain == nullptr || run->span != logs::Span::run || plain->span != logs::Span::run)
    return std::nullopt;
  const double ratio = run->estimate.value / plain->estimate.value, speedup = load.speedup()->value;
  const bool opposed = (ratio < 1.0 - clear && speedup > 1.0 + clear) || (ratio > 1.0 + clear && speedup < 1.0 - clear);
  return opposed ? std::optional(ratio) : std::nullopt;
}

}  // namespace

bool has_rate_alone(const Advice& advice) {
  return std::ranges::any_of(advice.warnings, [](const logs::LogWarning& warning) { return warning.code == "W23"; });
}

bool is_sign_certain(const Advice& advice) {
  constexpr double level = 0.999;  // at most one in a thousand such verdicts is wrong
  const auto loads = advice.compared();
  return !loads.empty() && !advice.warns("W18") && std::ranges::none_of(loads, [](const LoadAdvice* load) {
    return verdict_of(*load->speedup(), level) == Verdict::open;
  });
}

bool is_logged(const Advice& advice) {
  const Recommendation& use = *advice.recommendation;
  return use.gamma == 0 || use.adaptive || std::ranges::any_of(advice.loads, [&](const LoadAdvice& load) {
           return std::ranges::any_of(load.by_gamma, [&](const SpeedupRow& row) {
             return row.curve == advice.main_curve && row.gamma == use.gamma && row.time == SpeedupRow::Time::logged;
           });
         });
}

std::string action_of(const Advice& advice) {
  const auto loads = advice.compared();
  if (std::ranges::any_of(advice.loads, is_cheaper_than_a_step)) {
    return fmt::format("{} was measured at {}, but its counts and times contradict each other: check both runs first.",
                       main_name(*loads.front(), advice), speedups_text(loads));
  }
  if (advice.recommendation) {
    const Recommendation& use = *advice.recommendation;
    const bool fault = std::ranges::any_of(advice.loads, is_engine_fault);
    const std::string first = fault ? "Look at the engine first, not at the drafter. " : "";
    if (!use.over_plain) return relative_text(advice);
    if (std::string even = no_difference_text(advice); !even.empty()) return first + even;
    if (use.gamma == 0 && !use.adaptive && use.schedule.empty()) return first + off_text(advice);
    return first + recommended_text(advice);
  }
  if (std::string even = no_difference_text(advice); !even.empty()) return even;
  if (!loads.empty()) return measured_text(advice);
  if (std::string fastest = fastest_text(advice); !fastest.empty()) return fastest;
  if (advice.problem() != nullptr) return problem_action(*advice.problem(), advice);
  if (!advice.tokens_observed && advice.verification_steps.value_or(0.0) > 0.0) {
    return fmt::format("Acceptance is not known: {:.0f} verification steps, of which no accepted drafts were logged.",
                       *advice.verification_steps);
  }
  const auto differs = [](const LoadAdvice& load) { return !load.arms_differ.empty(); };
  const auto uneven = std::ranges::find_if(advice.loads, differs);
  if (!advice.tokens_observed && uneven != advice.loads.end())
    return fmt::format("No conclusion: the speeds with and without speculation are not of equal conditions, {}.",
                       uneven->arms_differ);
  if (!advice.tokens_observed) {
    return has_rate_alone(advice)
               ? "No conclusion: an acceptance rate without its draft length was read, and no two speeds."
               : "No conclusion: neither acceptance nor the speeds of both arms were read.";
  }
  return without_speedup(advice);
}

std::string opposed_text(const Advice& advice) {
  constexpr std::size_t shown = 3;
  std::vector<std::string> texts;
  for (const LoadAdvice& load : advice.loads) {
    const auto ratio = texts.size() < shown ? opposed_throughput(load, advice) : std::nullopt;
    if (ratio) texts.push_back(fmt::format("{:.2f}x at {}", *ratio, load.name));
  }
  if (texts.empty()) return "";
  return fmt::format(" But that is TPOT: the output tokens/s of all requests are {}.", fmt::join(texts, ", "));
}

}  // namespace foredraft::answers
