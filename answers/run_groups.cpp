// SPDX-License-Identifier: Apache-2.0
#include "answers/run_groups.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analytic/observed/acceptance_fit.hpp"
#include "answers/observed.hpp"
#include "core/names.hpp"
#include "core/readable.hpp"
#include "logs/acceptance.hpp"

namespace foredraft::answers {

bool are_alike(double first, double second) {
  constexpr double alike = 1.25;
  return std::max(first, second) <= alike * std::min(first, second);
}

std::string short_name(std::string_view model) {
  while (model.ends_with('/')) model.remove_suffix(1);
  return lower_case(model.substr(model.find_last_of('/') + 1));
}

namespace {

using logs::Decoding;
using logs::Observation;
using logs::Span;

// ---- what distinguishes runs

/// Whether a limit binds: the requests in flight reach 80 % of it, or are unknown.
bool binds(double limit, const std::optional<double>& requests) {
  constexpr double nearly = 0.8;
  return !requests || *requests >= nearly * limit;
}

RunLoad run_load(const Observation& observation) {
  RunLoad load;
  if (observation.span == Span::run) load.category = observation.stratum.category;
  load.request_rate_per_s = observation.times.request_rate_per_s;
  if (load.request_rate_per_s) return load;
  const auto is_number = [](double value) { return value >= 0.5 && std::isfinite(value); };
  if (observation.concurrency && is_number(*observation.concurrency) &&
      binds(*observation.concurrency, observation.requests)) {
    load.requests = *observation.concurrency;
    return load;
  }
  if (observation.offered_requests && !observation.concurrency) {
    load.offered_requests = observation.offered_requests;
    return load;
  }
  const double requests = observation.requests.value_or(0.0);
  if (!is_number(requests)) return load;
  const bool window = observation.span == Span::window;
  load.requests = window ? std::exp2(std::round(std::log2(requests))) : std::max(1.0, std::round(requests));
  return load;
}

/// "temperature 0.7, top_p 0.9, greedy drafts"; nullopt: not logged.
std::optional<std::string> sampling_text(const logs::Stratum& stratum) {
  std::string text;
  const auto add = [&](std::string_view name, const auto& value) {
    if (value) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, *value);
  };
  add("temperature", stratum.temperature);
  add("top_p", stratum.top_p);
  if (stratum.draft_sampling) text += fmt::format("{}{} drafts", text.empty() ? "" : ", ", *stratum.draft_sampling);
  return text.empty() ? std::nullopt : std::optional(readable(text));
}

/// Steps that an observation may have more and fewer than estimated.
struct StepsError {
  double more = 0.0, fewer = 0.0;
};

/// Of an answer whose tokens tell its steps: its first token may be that of a step, if it was not taken for one, or of
/// none, and its last draft cut short. Other estimates come from rounded numbers or totals of many answers.
StepsError steps_error(const Observation& one) {
  constexpr StepsError share{.more = 0.02, .fewer = 0.05};
  const logs::AcceptanceCounts& counts = *one.acceptance;
  if (!counts.steps_estimated) return {};
  const auto emitted = static_cast<double>(counts.steps + counts.accepted_tokens.value_or(0));
  const double first = one.stratum.output_tokens.value_or(0.0) - emitted;
  const auto steps = static_cast<double>(counts.steps);
  if (first == 0.0 || first == 1.0) return {.more = first, .fewer = 1.0};
  return {.more = share.more * steps, .fewer = share.fewer * steps};
}

}  // namespace

std::optional<std::int64_t> drafted_per_step(std::span<const Observation> observations) {
  constexpr double too_wide = 0.25;  // such a range holds a whole number by chance in one of four logs
  double least = 1.0, most = static_cast<double>(logs::max_positions);
  bool any = false;
  for (const Observation& one : observations) {
    if (!has_counts(one)) continue;
    if (one.gamma || one.adaptive || !one.acceptance->drafted_tokens) return std::nullopt;
    const auto drafted = static_cast<double>(*one.acceptance->drafted_tokens);
    const auto steps = static_cast<double>(one.acceptance->steps);
    const StepsError error = steps_error(one);
    least = std::max(least, drafted / (steps + error.more));
    if (steps > error.fewer) most = std::min(most, drafted / (steps - error.fewer));
    any = true;
  }
  const double gamma = std::ceil(least);
  return any && gamma <= most && most - least < too_wide ? std::optional(static_cast<std::int64_t>(gamma))
                                                         : std::nullopt;
}

namespace {

RunSetting setting_of(const Observation& observation, const logs::LogContents& log) {
  RunSetting setting{.decoding = observation.decoding,
                     .engine = log.engine,
                     .version = log.version,
                     .target = short_name(log.settings.target.value_or(""))};
  if (observation.decoding != Decoding::speculative) return setting;
  setting.gamma = observation.gamma;
  setting.adaptive = observation.adaptive.value_or(false);
  setting.tree = observation.tree;
  setting.drafter = observation.drafter.value_or(log.settings.method.value_or(""));
  setting.draft_model = short_name(log.settings.draft.value_or(""));
  return setting;
}

}  // namespace

std::vector<Placed> placed_of(const Members& members) {
  std::vector<Placed> all;
  for (const Member& member : members) all.push_back(member.placed);
  return all;
}

namespace {

// ---- groups that hold several runs, and runs in several groups

/// Totals of iterations over members.
struct IterationTotals {
  double steps = 0.0, tokens = 0.0, request_ms = 0.0, timed_tokens = 0.0;
  [[nodiscard]] double length() const { return steps > 0.0 ? tokens / steps : 1.0; }
  [[nodiscard]] double iteration_ms() const { return timed_tokens > 0.0 ? length() * request_ms / timed_tokens : 0.0; }
};

IterationTotals iteration_totals(const Members& members) {
  IterationTotals totals;
  for (const RunPart& part : parts_of(placed_of(members), false).parts) {
    totals.steps += part.weight;
    totals.tokens += part.weight * part.tokens.value_or(1.0);
    totals.request_ms += part.request_ms.value_or(0.0);
    totals.timed_tokens += part.timed_tokens.value_or(0.0);
  }
  return totals;
}

/// Whether the acceptance of units of one setting differs too much for one drafter on one kind of text.
bool contradict(const std::map<std::string, Members>& units) {
  constexpr double clearly = 4.0;      // standard errors
  constexpr double noticeable = 0.05;  // of the acceptance length
  constexpr double dependence = 4.0;   // factor on the variance, because steps are correlated
  double low = std::numeric_limits<double>::infinity();
  double high = 0.0;
  double variance = 0.0;
  for (const auto& [unit, members] : units) {
    const IterationTotals totals = iteration_totals(members);
    if (totals.steps < analytic::min_steps) continue;
    low = std::min(low, totals.length());
    high = std::max(high, totals.length());
    variance = std::max(variance, dependence * totals.length() * (totals.length() - 1.0) / totals.steps);
  }
  return high - low > std::max(noticeable * high, clearly * std::sqrt(2.0 * variance));
}

/// Makes a separate run of each unit if units contradict each other.
void divide_contradictions(Groups& groups) {
  Groups all;
  for (auto& [key, members] : groups) {
    std::map<std::string, Members> units;
    for (Member& member : members) units[member.unit].push_back(std::move(member));
    const bool apart = key.first.decoding == Decoding::speculative && units.size() > 1 && contradict(units);
    for (auto& [unit, of_unit] : units) {
      RunKey own = key;
      if (apart) own.first.file = unit;
      Members& to = all[own];
      to.insert(to.end(), std::make_move_iterator(of_unit.begin()), std::make_move_iterator(of_unit.end()));
    }
  }
  groups = std::move(all);
}

/// The context length of a window or run, 0 for a run on an empty one; not of a request, since requests share the
/// iterations of a batch.
std::optional<double> context_of_iterations(const Member& member) {
  const Observation& one = member.placed.observation;
  const double context = one.stratum.context_tokens.value_or(-1.0), least = one.span == Span::run ? 0.0 : 1.0;
  if (one.span == Span::request || !(context >= least) || !std::isfinite(context)) return std::nullopt;
  return context;
}

/// Whether iteration times or acceptance lengths of a run differ between its shortest and its longest contexts.
bool depends_on_context(const Members& members, std::span<const double> levels) {
  std::map<double, Members> by_level;
  for (const Member& member : members) {
    const auto context = context_of_iterations(member);
    if (!context) return false;
    by_level[level_of(*context, levels)].push_back(member);
  }
  if (by_level.size() < 2) return false;
  const IterationTotals shortest = iteration_totals(by_level.begin()->second);
  const IterationTotals longest = iteration_totals(by_level.rbegin()->second);
  const auto differs = [](double one, double other) { return one > 0.0 && other > 0.0 && !are_alike(one, other); };
  return differs(shortest.iteration_ms(), longest.iteration_ms()) || differs(shortest.length(), longest.length());
}

/// The levels of the contexts of whole runs; empty if other observations are among them, or some state none.
std::set<double> levels_of_runs(const Members& members, std::span<const double> levels) {
  std::set<double> all;
  for (const Member& member : members) {
    const auto context = context_of_iterations(member);
    if (!context || member.placed.observation.span != Span::run) return {};
    all.insert(level_of(*context, levels));
  }
  return all;
}

bool is_request_of_a_context(const Member& member) {
  return member.placed.observation.span == Span::request && member.placed.observation.stratum.context_tokens;
}

/// Divides a load by context length, in both arms alike, if a run at it depends on the context, or if each arm was run
/// at the same contexts: runs at several are no repetitions, whose scatter is an error. An arm of one context, or of
/// requests, then has the nearest run of the other as its own.
void divide_by_context(Groups& groups) {
  std::map<RunLoad, std::vector<double>> contexts;
  for (const auto& [key, members] : groups) {
    for (const Member& member : members) {
      if (const auto context = context_of_iterations(member)) contexts[key.second].push_back(*context);
    }
  }
  std::map<RunLoad, std::vector<double>> levels;  // of the loads to divide
  std::map<RunLoad, std::set<std::set<double>>> of_runs;
  for (const auto& [key, members] : groups) {
    std::vector<double> of_load = context_levels(contexts[key.second]);
    std::set<double> of_arm = levels_of_runs(members, of_load);
    const bool has_one_context = of_arm.size() == 1 || std::ranges::all_of(members, is_request_of_a_context);
    if (!has_one_context) of_runs[key.second].insert(std::move(of_arm));
    if (depends_on_context(members, of_load)) levels[key.second] = std::move(of_load);
  }
  for (const auto& [load, of_arms] : of_runs) {
    if (of_arms.size() == 1 && of_arms.begin()->size() > 1) levels[load] = context_levels(contexts[load]);
  }
  Groups all;
  for (auto& [key, members] : groups) {
    const auto of_load = levels.find(key.second);
    for (Member& member : members) {
      RunKey own = key;
      const auto context = context_of_iterations(member);
      if (of_load != levels.end() && context) own.second.context = level_of(*context, of_load->second);
      all[own].push_back(std::move(member));
    }
  }
  groups = std::move(all);
}

/// Removes the sampling from loads if all runs with speculation have the same.
void drop_only_sampling(Groups& groups) {
  std::set<std::optional<std::string>> samplings;
  for (const auto& [key, members] : groups) {
    if (key.first.decoding == Decoding::speculative) samplings.insert(key.second.sampling);
  }
  if (samplings.size() > 1) return;
  Groups all;
  for (auto& [key, members] : groups) {
    RunKey own = key;
    own.second.sampling = std::nullopt;
    Members& to = all[own];
    to.insert(to.end(), std::make_move_iterator(members.begin()), std::make_move_iterator(members.end()));
  }
  groups = std::move(all);
}

/// Whether a run is of llama-bench or the like, which time decode steps without a server. Beside their tables, other
/// runs of a log are of requests or draft.
bool is_of_bench(const Observation& one, const logs::LogContents& log) {
  constexpr std::array<std::string_view, 4> benches{" llama-tables ", " llama-bench ", " llama-bench-csv ",
                                                    " llama-batched-bench "};
  const std::string formats = fmt::format(" {} ", log.format);
  return one.span == Span::run && one.decoding == Decoding::plain &&
         std::ranges::any_of(benches, [&](std::string_view bench) { return formats.find(bench) != std::string::npos; });
}

/// A test of llama-bench that only reads a prompt.
bool only_reads_prompts(const Observation& one) {
  const logs::ObservedTimes& times = one.times;
  return one.decoding == Decoding::plain && times.prompt_tokens_per_s && !times.output_tokens_per_s &&
         !times.iteration_ms && !times.tpot_ms;
}

/// Groups the observations of all logs by setting and load.
struct Sorted {
  GroupedLogs all;
  bool plain_is_given;  ///< true: logs without a statement are speculative

  void warn(std::string_view code, std::int64_t line, std::string message) {
    const bool said = std::ranges::find(all.warnings, message, &logs::LogWarning::message) != all.warnings.end();
    if (!said) all.warnings.push_back({std::string(code), line, std::move(message)});
  }

  void add(const logs::ObservedLog& log, bool plain_log) {
    const std::optional<std::int64_t> gamma = drafted_per_step(log.contents.observations);
    // Requests that state no load take that of the run in their file.
    std::optional<RunLoad> of_run;
    for (const Observation& one : log.contents.observations) {
      if (one.span == Span::run && !of_run) of_run = run_load(one);
    }
    for (Placed one : placed(log.contents.observations)) {
      if (!one.observation.gamma && one.observation.decoding != Decoding::plain && one.observation.acceptance) {
        one.observation.gamma = gamma;
        logs::fit_steps(one.observation, gamma.value_or(0));
        if (gamma && one.observation.acceptance->steps_estimated)
          warn("W22", one.observation.line,
               fmt::format("K = {} is not stated: it is the mean of drafts a step", *gamma));
      }
      add(std::move(one), log, of_run, plain_log);
    }
  }

  void add(Placed one, const logs::ObservedLog& log, const std::optional<RunLoad>& of_run, bool plain_log) {
    Observation& observation = one.observation;
    if (!observation.acceptance && !observation.trace.by_position.empty()) {
      return all.traces[observation.stratum.category.value_or("")].push_back(std::move(observation));
    }
    if (plain_log) {
      if (observation.decoding == Decoding::speculative) {
        return warn("W09", observation.line, "--plain contains runs with speculation, which are left out");
      }
      observation.decoding = Decoding::plain;
    }
    if (only_reads_prompts(observation)) return;
    if (observation.decoding == Decoding::unknown && plain_is_given) observation.decoding = Decoding::speculative;
    if (observation.decoding == Decoding::unknown) {
      return warn("W09", observation.line, "runs that are neither marked plain nor speculative are left out");
    }
    if (observation.decoding == Decoding::speculative && observation.gamma == 0) {
      warn("W09", observation.line,
           "iterations of a speculative server that drafted nothing are not autoregressive decoding");
    }
    if (observation.completed_requests == 0) {
      return warn("W11", observation.line, "a run without a completed request is left out");
    }
    RunLoad load = run_load(observation);
    load.sampling = sampling_text(observation.stratum);
    if (load == RunLoad{.sampling = load.sampling} && observation.span == Span::request && of_run) {
      load = *of_run;
      load.sampling = sampling_text(observation.stratum);
    }
    const std::string unit =
        observation.span == Span::run ? fmt::format("{}:{}", log.file, observation.line) : log.file;
    const bool of_bench = is_of_bench(observation, log.contents);
    all.groups[{setting_of(observation, log.contents), load}].push_back(
        {.placed = std::move(one), .file = log.file, .unit = unit, .of_bench = of_bench});
  }
};

}  // namespace

std::set<RunLoad> loads_of_prompts(const Groups& groups) {
  std::set<RunLoad> loads;
  for (const auto& [key, members] : groups) {
    if (separates_prefill(placed_of(members)) == false) loads.insert(key.second);
  }
  return loads;
}

std::vector<double> context_levels(std::vector<double> contexts) {
  constexpr double apart = 1.5;
  std::ranges::sort(contexts);
  std::vector<double> levels;
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    const bool next =
        i == 0 || (contexts[i] > apart * contexts[i - 1] && contexts[i] - contexts[i - 1] > short_context);
    if (next) levels.push_back(contexts[i]);
  }
  return levels;
}

double level_of(double context, std::span<const double> levels) {
  double level = levels.front();
  for (const double one : levels) {
    if (one <= context) level = one;
  }
  return level;
}

GroupedLogs grouped(std::span<const logs::ObservedLog> logs, std::span<const logs::ObservedLog> plain) {
  Sorted sorted{.all = {}, .plain_is_given = !plain.empty()};
  for (const bool plain_log : {false, true}) {
    std::vector<const logs::ObservedLog*> files;
    for (const logs::ObservedLog& log : plain_log ? plain : logs) files.push_back(&log);
    // The result must not depend on the order of the logs.
    std::ranges::stable_sort(files, {}, &logs::ObservedLog::file);
    for (const logs::ObservedLog* file : files) sorted.add(*file, plain_log);
  }
  drop_only_sampling(sorted.all.groups);
  divide_contradictions(sorted.all.groups);
  divide_by_context(sorted.all.groups);
  return std::move(sorted.all);
}

}  // namespace foredraft::answers
