// SPDX-License-Identifier: Apache-2.0
#include "answers/advice_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "answers/advice_steps.hpp"
#include "answers/logging_plan.hpp"

namespace foredraft::answers {
namespace {

using Reason = analytic::FitProblem::Reason;

std::string speedup_text(const LoadAdvice& load) { return with_half_width(*load.speedup(), "x"); }

std::string main_name(const LoadAdvice& load, const Advice& advice) {
  return setting_name(load.logged[load.main], advice);
}

// ---- verdicts

/// Where the interval of one speedup lies: above 1, below 1, or around it.
enum class Verdict { pays, loses, open };

Verdict verdict_of(const analytic::ClusteredEstimate& speedup, double level) {
  if (is_assumed(speedup)) return Verdict::open;
  const Interval interval = analytic::interval_of(speedup, level);
  return interval.low > 1.0 ? Verdict::pays : interval.high < 1.0 ? Verdict::loses : Verdict::open;
}

/// Whether an acceptance rate was read that is no acceptance length, for want of a draft length.
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

// ---- what to do

std::string yield_text(const Advice& advice) {
  std::vector<std::string> setting;
  if (advice.curves.size() > 1 && !advice.curve()->name.empty()) setting.push_back(advice.curve()->name);
  if (advice.gamma_observed) setting.push_back(fmt::format("K = {}", *advice.gamma_observed));
  if (setting.empty()) setting.emplace_back("Speculation");
  return fmt::format("{} yields {:.2f} tokens per iteration", fmt::join(setting, ", "), advice.tokens_observed->mean);
}

std::string problem_action(const analytic::FitProblem& problem, const Advice& advice) {
  if (problem.reason == Reason::all_accepted) {
    return "Acceptance is not known: every draft was accepted, as if only full drafts were counted. Log drafted "
           "tokens.";
  }
  if (problem.reason == Reason::rising) {
    return fmt::format("Acceptance is not known: position {} is accepted more often than the one before it.",
                       problem.position);
  }
  const std::string more =
      problem.more_steps_needed > 0.0 ? fmt::format("; about {:.0f} more give +-2 %", problem.more_steps_needed) : "";
  if (!advice.tokens_observed)
    return fmt::format("Acceptance is not known: {:.0f} verification steps are too few{}.", problem.steps, more);
  return fmt::format("{}, but {:.0f} verification steps are too few for advice{}.", yield_text(advice), problem.steps,
                     more);
}

std::string without_speedup(const Advice& advice) {
  if (advice.loads.size() > 1) {
    constexpr std::size_t shown = 3;
    std::vector<std::string> texts;
    std::size_t more = 0;
    for (const LoadAdvice& load : advice.loads) {
      if (!load.tokens) continue;
      if (texts.size() == shown) {
        ++more;
        continue;
      }
      texts.push_back(
          fmt::format("{:.2f}{} at {}", load.tokens->mean, texts.empty() ? " tokens per iteration" : "", load.name));
    }
    if (more > 0) texts.push_back(fmt::format("{} more", more));
    const std::string setting = advice.gamma_observed ? fmt::format("K = {}", *advice.gamma_observed) : "Speculation";
    return fmt::format("{} yields {}: it pays where an iteration takes fewer decode steps.", setting,
                       fmt::join(texts, ", "));
  }
  if (too_uncertain(advice)) {
    const Interval range = normal_interval(*advice.tokens_observed);
    return fmt::format("{}, {}: {}.", yield_text(advice),
                       range.low < 1.0 ? fmt::format("1 to {:.2f}", range.high)  // each iteration emits a token
                                       : fmt::format("+- {:.2f}", range.high - advice.tokens_observed->mean),
                       has_few_windows(advice) ? "too few windows or requests for advice"
                       : runs_scatter(advice)  ? "its windows differ too much for advice"
                                               : "too few steps for advice");
  }
  return fmt::format("{}: it pays where an iteration takes less than {:.2f} decode steps; no speedup was read.",
                     yield_text(advice), advice.tokens_observed->mean);
}

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

/// The loads at which speculation was faster, slower, or neither in the digits that are shown.
struct LoadsBySign {
  std::vector<const LoadAdvice*> gaining = {}, losing = {}, even = {};
};

LoadsBySign by_sign(const std::vector<const LoadAdvice*>& loads) {
  constexpr double unseen = 0.005;
  LoadsBySign by;
  for (const LoadAdvice* load : loads) {
    const double gain = load->speedup()->value - 1.0;
    (std::abs(gain) < unseen ? by.even : gain > 0.0 ? by.gaining : by.losing).push_back(load);
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
  return fmt::format("Turn speculation off: {} gives {}{}.{}", main_name(first, advice),
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

std::string schedule_text(const Advice& advice) {
  const auto& schedule = advice.recommendation->schedule;
  std::vector<std::string> texts;
  for (const GammaRange& range : schedule) {
    std::string text = range.gamma == 0 ? std::string("off") : fmt::format("K = {}", range.gamma);
    text += &range == &schedule.back() ? fmt::format(" from {} requests", range.from_batch)
                                       : fmt::format(" up to {} requests", range.to_batch);
    for (const LoadAdvice& load : advice.loads) {
      const double requests = load.requests.value_or(0.0);
      const bool inside =
          requests >= static_cast<double>(range.from_batch) && requests < static_cast<double>(range.to_batch) + 1.0;
      const auto speedup = inside ? speedup_at(load, range.gamma, advice) : std::nullopt;
      if (speedup) {
        text += fmt::format(" ({:.2f}x at {})", *speedup, load.name);
        break;
      }
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

/// " (K = 5: 2.03x)", if another setting is faster at a load than the recommended one; else empty.
std::string faster_text(const LoadAdvice& load, double recommended, const Advice& advice) {
  constexpr double visible = 0.01;
  const auto value = [](const LoggedRun& one) { return one.speedup ? one.speedup->value : 0.0; };
  const auto fastest = std::ranges::max_element(load.logged, {}, value);
  if (fastest == load.logged.end() || value(*fastest) < recommended + visible) return "";
  return fmt::format(" ({}: {:.2f}x)", setting_name(*fastest, advice), value(*fastest));
}

/// The speedups of the recommended setting at loads that are no traffic: "1.58x at chat, 0.97x at code (K = 1: 1.05x)",
/// or their range and the loads where it loses; else empty.
std::string by_load_text(const Advice& advice) {
  constexpr std::size_t few = 3;
  if (!are_no_traffic(advice)) return "";
  std::vector<std::pair<double, std::string>> speedups;
  std::vector<std::string> texts;
  std::size_t others = 0;
  for (const LoadAdvice& load : advice.loads) {
    const auto speedup = speedup_at(load, advice.recommendation->gamma, advice);
    if (!speedup) continue;
    speedups.emplace_back(*speedup, fmt::format("{:.2f}x at {}", *speedup, load.name));
    const std::string faster = faster_text(load, *speedup, advice);
    if (!faster.empty()) ++others;
    texts.push_back(speedups.back().second + faster);
  }
  if (speedups.size() > few) {
    const auto [lowest, highest] = std::minmax_element(speedups.begin(), speedups.end());
    const std::string elsewhere =
        others > 0 ? fmt::format(" Another setting is faster at {} of {} loads.", others, speedups.size()) : "";
    return fmt::format("{} to {}.{}{}", lowest->second, highest->second, losing_text(advice), elsewhere);
  }
  return texts.empty() ? "" : fmt::format("{}.", fmt::join(texts, ", "));
}

/// Whether the choice was logged at some load, and not only interpolated or predicted.
bool is_logged(const Advice& advice) {
  const Recommendation& use = *advice.recommendation;
  return use.gamma == 0 || use.adaptive || std::ranges::any_of(advice.loads, [&](const LoadAdvice& load) {
           return std::ranges::any_of(load.by_gamma, [&](const SpeedupRow& row) {
             return row.curve == advice.main_curve && row.gamma == use.gamma && row.time == SpeedupRow::Time::logged;
           });
         });
}

std::string recommended_text(const Advice& advice) {
  const Recommendation& use = *advice.recommendation;
  const std::string length =
      use.adaptive ? fmt::format("adaptive drafting up to K = {}", use.gamma) : fmt::format("K = {}", use.gamma);
  const std::string named = use.drafter.empty() ? length : fmt::format("{} at {}", use.drafter, length);
  const bool one_load = advice.loads.size() == 1;
  const std::string at = !use.schedule.empty() ? ""
                         : one_load            ? " at " + advice.loads.front().name
                                               : " for this traffic";
  const std::string of = one_load && advice.loads.front().by_capacity ? " the output tokens/s" : "";
  const std::string by_load = by_load_text(advice);
  const std::string gain =
      by_load.empty() ? fmt::format("{:.2f}x{}{}{}.{}", use.value, interval_text(use), of, at, losing_text(advice))
                      : by_load;
  if (!use.schedule.empty()) {
    return fmt::format(
        "Use {}; {}", schedule_text(advice),
        use.gamma == 0 ? "speculating at all loads gains nothing." : fmt::format("fixed, {} gives {}", named, gain));
  }
  const std::string_view verb = logged_settings(advice) == 1 && advice.gamma_observed == use.gamma ? "Keep" : "Use";
  const std::string_view guess = is_logged(advice) ? "" : ", between those that were logged";
  return fmt::format("{} {}{}: {}", verb, named, guess, gain);
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

/// The action if speedups were measured but there is no draft length to set.
std::string measured_text(const Advice& advice) {
  const auto loads = advice.compared();
  const LoadAdvice& first = *loads.front();
  std::string name = main_name(first, advice);
  const bool same = std::ranges::all_of(loads, [&](const LoadAdvice* one) { return main_name(*one, advice) == name; });
  if (!same) name = "the fastest of each";
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
    if (use.gamma == 0 && !use.adaptive && use.schedule.empty()) return first + off_text(advice);
    return first + recommended_text(advice);
  }
  if (!loads.empty()) return measured_text(advice);
  if (std::string fastest = fastest_text(advice); !fastest.empty()) return fastest;
  if (advice.problem() != nullptr) return problem_action(*advice.problem(), advice);
  if (!advice.tokens_observed && advice.verification_steps.value_or(0.0) > 0.0) {
    return fmt::format("Acceptance is not known: {:.0f} verification steps, of which no accepted drafts were logged.",
                       *advice.verification_steps);
  }
  if (!advice.tokens_observed) {
    return has_rate_alone(advice)
               ? "No conclusion: an acceptance rate without its draft length was read, and no two speeds."
               : "No conclusion: neither acceptance nor two speeds were read.";
  }
  return without_speedup(advice);
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

/// A sentence with the throughput at the loads where it contradicts the speedup; empty if there are none.
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

// ---- what to do next

/// The command that prints a plan of the missing runs.
std::string plan_text(const Advice& advice) {
  std::optional<double> concurrency;
  for (const LoadAdvice& load : advice.loads) concurrency = std::max(concurrency, load.requests);
  return next_runs(advice.engine, advice.gamma_observed, concurrency);
}

std::string why_no_acceptance(Reason reason) {
  switch (reason) {
    case Reason::too_few_steps:
      return "too few steps to estimate the acceptance at other draft lengths: log more steps";
    case Reason::all_accepted:
      return "acceptance could not be estimated: log a counter of all drafted tokens, or the TPOT of both arms";
    case Reason::rising:
      break;
  }
  return "acceptance could not be estimated: log the counts of another version or counter";
}

/// True if the logs have no run that is known to speculate or not to.
bool names_no_arm(const AdviceQuestion& question) {
  const auto is_unknown = [](const logs::Observation& one) { return one.decoding == logs::Decoding::unknown; };
  return question.plain.empty() && !question.logs.empty() &&
         std::ranges::all_of(question.logs, [&](const logs::ObservedLog& log) {
           return !log.contents.observations.empty() && std::ranges::all_of(log.contents.observations, is_unknown);
         });
}

std::string why_not_of(const AdviceQuestion& question, const Advice& advice) {
  if (advice.problem() != nullptr) return why_no_acceptance(advice.problem()->reason);
  if (names_no_arm(question)) {
    return "which runs speculate is not known: call those that do not \"baseline\", or give them with --plain";
  }
  if (!advice.tokens_observed && advice.verification_steps.value_or(0.0) > 0.0)
    return "log the counts of accepted and of drafted tokens too";
  if (!advice.tokens_observed && has_rate_alone(advice))
    return "the acceptance rate needs the draft length for tokens per iteration: add a column K";
  const auto is_plain = [](const RunEstimates& one) { return one.run.is_plain(); };
  if (!advice.tokens_observed && !advice.runs.empty() && std::ranges::none_of(advice.runs, is_plain))
    return "no acceptance was read: give the log of the server of these runs";
  if (!advice.tokens_observed) return "no acceptance was read: give the log of a server that speculates";
  for (const LoadAdvice& load : advice.loads) {
    if (load.arms_differ.empty()) continue;
    return fmt::format("the plain run differs ({}): log it under equal conditions", load.arms_differ);
  }
  if (has_few_windows(advice) && advice.loads.size() < 2) {
    return "fewer than five windows or requests do not show how much they differ: log more of them";
  }
  if (runs_scatter(advice) && advice.loads.size() < 2) {
    return "windows or requests differ by more than their steps explain: log more of one workload and setting";
  }
  if (too_uncertain(advice) && advice.loads.size() < 2) {
    const double half = normal_quantile(0.95) * advice.tokens_observed->standard_error / advice.tokens_observed->mean;
    const double needed = advice.verification_steps.value_or(analytic::min_steps) * half * half / (0.01 * 0.01);
    return fmt::format("too few verification steps: about {:.0f} give +-1 % of the acceptance length", needed);
  }
  if (advice.compared().empty()) {
    return "no plain run: log the same load without speculation, and give it with --plain";
  }
  return "the draft length is not logged: another one cannot be compared with it";
}

std::string next_of(const Advice& advice) {
  if (std::ranges::any_of(advice.loads, is_cheaper_than_a_step)) {
    return "log both arms again on one server, in turn, with the same prompts and settings: " + plan_text(advice);
  }
  if (std::ranges::any_of(advice.loads, is_engine_fault)) {
    return "iterations this long are a fault: find it (--enforce-eager, graphs, a wrong kernel), then log again";
  }
  if (const auto position = failing_position(advice)) {
    const std::string until = *position > 1 ? fmt::format(", or set K = {}", *position - 1) : std::string();
    return "check the drafter: its checkpoint, its tokenizer and how it is attached" + until;
  }
  if (lacks_graphs(advice)) return fmt::format("{}, then log again", graph_setting(advice.engine));
  if (!advice.recommendation) return fmt::format("{}: {}", advice.why_not, plan_text(advice));
  if (!advice.recommendation->over_plain) return "log the same load without speculation: " + plan_text(advice);
  if (!is_logged(advice)) return fmt::format("log K = {}: {}", advice.recommendation->gamma, plan_text(advice));
  const auto assumed = [](const LoadAdvice* load) { return is_assumed(*load->speedup()); };
  if (std::ranges::any_of(advice.compared(), assumed)) {
    return "repeat both arms: " + plan_text(advice);
  }
  if (logged_settings(advice) == 1 && advice.gamma_observed && advice.recommendation->gamma > 0) {
    return fmt::format("log K = {} too: {}", *advice.gamma_observed > 1 ? 1 : 3, plan_text(advice));
  }
  return "";
}

std::string evidence_of(const AdviceQuestion& question, const Advice& advice) {
  const auto compared = advice.compared();
  if (compared.empty() && !advice.recommendation) return "your engine's counters; no speedup was measured";
  if (compared.empty() && !question.predicted) return "your engine's counters; no speedup was measured";
  if (compared.empty() && advice.recommendation->over_plain) {
    return fmt::format("no plain run: autoregressive decoding and other K are predicted from {}",
                       question.predicted->evidence);
  }
  const auto assumed = [](const RunEstimates& run) {
    const auto* tpot = run.estimate("tpot_ms");
    return tpot != nullptr && is_assumed(*tpot);
  };
  std::string text = "your engine's times, 95 % from the scatter of windows or requests";
  const auto compares_singles = [](const LoadAdvice* load) { return is_assumed(*load->speedup()); };
  if (std::ranges::any_of(advice.runs, assumed) || std::ranges::any_of(compared, compares_singles)) {
    text = fmt::format("single runs, error not known ({:.0f} % a run is assumed to choose)", 100.0 * single_run_error);
  }
  if (question.predicted) {
    text += fmt::format("; other K: {}, +- {:.0f} % each time the tokens double", question.predicted->evidence,
                        100.0 * normal_quantile(0.95) * question.predicted->error);
  }
  return text;
}

}  // namespace

void add_words(const AdviceQuestion& question, Advice& advice) {
  add_causes(advice);
  const bool guessed = advice.recommendation && !is_logged(advice) && !(advice.recommendation->low > 1.0);
  advice.sign_certain = !guessed && is_sign_certain(advice);
  const std::string opposed = opposed_text(advice);
  advice.sign_certain = advice.sign_certain && opposed.empty();
  advice.action = action_of(advice) + opposed;
  if (!advice.recommendation) advice.why_not = why_not_of(question, advice);
  advice.next = next_of(advice);
  advice.evidence = evidence_of(question, advice);
  for (LoadAdvice& load : advice.loads) {
    if (is_cheaper_than_a_step(load)) load.chain.reset();  // the measured time is impossible
  }
}

std::string with_half_width(const Estimate& estimate, std::string_view unit) {
  if (!std::isfinite(estimate.standard_error)) return fmt::format("{:.2f}{}", estimate.mean, unit);
  const double half = std::ceil(100.0 * normal_quantile(0.95) * estimate.standard_error) / 100.0;  // rounded up
  return fmt::format("{:.2f}{} +- {:.2f}", estimate.mean, unit, half);
}

std::string with_half_width(const analytic::ClusteredEstimate& estimate, std::string_view unit) {
  if (is_assumed(estimate)) return fmt::format("{:.2f}{}", estimate.value, unit);
  const Interval interval = analytic::interval_of(estimate);
  return fmt::format("{:.2f}{} +- {:.2f}", estimate.value, unit,
                     std::ceil(50.0 * (interval.high - interval.low)) / 100.0);  // rounded up
}

}  // namespace foredraft::answers
