// SPDX-License-Identifier: Apache-2.0
#include "answers/runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>

#include "analytic/observed/acceptance_fit.hpp"
#include "answers/observed.hpp"
#include "answers/run_parts.hpp"
#include "core/readable.hpp"
#include "logs/acceptance.hpp"
#include "logs/observation.hpp"

namespace foredraft::answers {
namespace {

using logs::Decoding;
using logs::Observation;
using logs::Span;

/// Lengths and loads that differ by less are taken as equal.
constexpr double alike = 1.25;
constexpr double short_context = 256.0;  ///< tokens; differences below cost no time
constexpr std::int64_t longest_replay = 12;
constexpr double few_steps = 20.0;
constexpr std::size_t longest_category = 16;
constexpr std::size_t longest_drafter = 24;

bool counts_steps(const Observation& observation) {
  return observation.acceptance && observation.acceptance->steps > 0;
}

bool are_alike(double first, double second) { return std::max(first, second) <= alike * std::min(first, second); }

/// "llama-3.1-8b" of a path or a repository.
std::string short_name(std::string_view model) {
  while (model.ends_with('/')) model.remove_suffix(1);
  std::string name(model.substr(model.find_last_of('/') + 1));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

// ---- what tells runs apart

/// A limit that the requests in flight do not reach does not bind.
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

/// nullopt: not logged.
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

/// The draft length of a log that does not say it, where every step drafted as many tokens.
std::optional<std::int64_t> drafted_per_step(std::span<const Observation> observations) {
  constexpr double estimated = 0.05;  // of steps that follow from rounded numbers or from totals
  std::optional<std::int64_t> all;
  for (const Observation& one : observations) {
    if (!has_counts(one)) continue;
    if (one.gamma || !one.acceptance->drafted_tokens) return std::nullopt;
    const double here =
        static_cast<double>(*one.acceptance->drafted_tokens) / static_cast<double>(one.acceptance->steps);
    const std::int64_t gamma = std::llround(here);
    const double error = one.acceptance->steps_estimated ? estimated * here : 0.0;
    const bool whole = gamma >= 1 && std::abs(here - static_cast<double>(gamma)) <= error;
    if (!whole || all.value_or(gamma) != gamma) return std::nullopt;
    all = gamma;
  }
  return all;
}

RunSetting setting_of(const Observation& observation, const logs::LogContents& log) {
  RunSetting setting{.decoding = observation.decoding,
                     .engine = log.engine,
                     .version = log.version,
                     .target = short_name(log.settings.target.value_or(""))};
  if (observation.decoding != Decoding::speculative) return setting;
  setting.gamma = observation.gamma;
  setting.adaptive = observation.adaptive.value_or(false);
  setting.drafter = observation.drafter.value_or(log.settings.method.value_or(""));
  setting.draft_model = short_name(log.settings.draft.value_or(""));
  return setting;
}

// ---- acceptance

/// A window of few steps says nothing of how windows differ: it joins the one before it.
void add_cluster(analytic::AcceptanceCounts cluster, std::vector<analytic::AcceptanceCounts>& clusters) {
  const bool joins = !clusters.empty() && std::min(cluster.steps, clusters.back().steps) < few_steps &&
                     cluster.accepted_at.size() == clusters.back().accepted_at.size();
  if (!joins) return clusters.push_back(std::move(cluster));
  analytic::AcceptanceCounts& last = clusters.back();
  last.rounding = (last.rounding * last.steps + cluster.rounding * cluster.steps) / (last.steps + cluster.steps);
  last.steps += cluster.steps;
  last.accepted_tokens += cluster.accepted_tokens;
  for (std::size_t i = 0; i < last.accepted_at.size(); ++i) last.accepted_at[i] += cluster.accepted_at[i];
}

/// One request that is replayed from what was recorded at each text position.
analytic::AcceptanceCounts replayed(std::span<const std::int32_t> by_position, std::int64_t gamma) {
  analytic::AcceptanceCounts cluster{
      .gamma = gamma, .steps = 0.0, .accepted_at = std::vector<double>(static_cast<std::size_t>(gamma), 0.0)};
  for (std::size_t at = 0; at < by_position.size();) {
    const auto accepted = static_cast<std::size_t>(std::clamp<std::int64_t>(by_position[at], 0, gamma));
    for (std::size_t i = 0; i < accepted; ++i) cluster.accepted_at[i] += 1.0;
    cluster.steps += 1.0;
    at += accepted + 1;
  }
  return cluster;
}

/// Of counts whose steps may depend on each other.
Estimate counted_tokens(std::span<const analytic::AcceptanceCounts> clusters) {
  const analytic::PooledCounts pooled = analytic::pooled_by_gamma(clusters).front();
  const auto dependent = analytic::cluster_variance(clusters);
  const double variance =
      (dependent ? dependent->factor : 1.0) * (analytic::variance_of_a_step(pooled) + 1.0 / pooled.steps);
  return {1.0 + pooled.accepted, std::sqrt(variance / pooled.steps)};
}

/// The mean of printed lengths. The error between runs is not known.
std::optional<Estimate> printed_tokens(const Run& run) {
  double sum = 0.0;
  double number = 0.0;
  for (const RunPart& part : run.parts) {
    if (!part.tokens || !(*part.tokens >= 1.0)) continue;
    sum += *part.tokens;
    number += 1.0;
  }
  if (number == 0.0) return std::nullopt;
  return Estimate{sum / number, std::numeric_limits<double>::quiet_NaN()};
}

/// 1 + accepted / steps, where drafts have several lengths or positions were not logged: as many accepted drafts as a
/// geometric distribution of this mean scatters by.
std::optional<Estimate> totaled_tokens(const Run& run) {
  double steps = 0.0;
  double tokens = 0.0;
  for (const RunPart& part : run.parts) {
    if (!part.tokens || part.weight <= 1.0) continue;
    steps += part.weight;
    tokens += part.weight * *part.tokens;
  }
  if (steps == 0.0) return std::nullopt;
  const double mean = tokens / steps;
  return Estimate{mean, std::sqrt(mean * std::max(0.0, mean - 1.0) / steps)};
}

std::optional<Estimate> run_tokens(const Run& run, std::span<const Observation> observations) {
  if (run.is_plain()) return Estimate{1.0, 0.0};
  if (!run.clusters.empty()) return counted_tokens(run.clusters);
  const auto undrafted = [](const Observation& one) { return one.acceptance && one.acceptance->generated_tokens; };
  if (std::ranges::none_of(observations, undrafted)) {
    const auto length = logs::acceptance_length(observations);
    if (length && !std::isnan(length->standard_error)) return length;
  }
  const auto total = totaled_tokens(run);
  return total ? total : printed_tokens(run);
}

// ---- runs

/// The mean over those that have a value, weighted by steps.
std::optional<double> mean_value(std::span<const Observation> observations, const auto& value) {
  double weights = 0.0;
  double sum = 0.0;
  for (const Observation& one : observations) {
    const std::optional<double> found = value(one);
    if (!found || !std::isfinite(*found) || *found < 0.0) continue;
    const double weight = one.acceptance ? std::max(1.0, static_cast<double>(one.acceptance->steps)) : 1.0;
    weights += weight;
    sum += weight * *found;
  }
  return weights > 0.0 ? std::optional(sum / weights) : std::nullopt;
}

/// Of a request that is replayed.
RunPart replayed_part(const Observation& trace, const analytic::AcceptanceCounts& replay) {
  RunPart part{.span = trace.span, .request = trace.stratum.request, .weight = replay.steps};
  double accepted = 0.0;
  for (const double at : replay.accepted_at) {
    part.accepted_at.push_back(std::llround(at));
    accepted += at;
  }
  part.tokens = 1.0 + accepted / replay.steps;
  return part;
}

void add_circumstances(const logs::Stratum& stratum, Run& run) {
  logs::visit_fields(stratum, [&](std::string_view name, const auto& value) {
    if (!value || name == "request" || name.ends_with("_tokens")) return;
    run.circumstances[std::string(name)].insert(readable(fmt::format("{}", *value)));
  });
}

/// The finest span that counted steps: windows and a whole run of one load hold the same ones.
Span counted_span(std::span<const Observation> observations) {
  for (const Span span : {Span::request, Span::window}) {
    const auto counted = [&](const Observation& one) { return one.span == span && counts_steps(one); };
    if (std::ranges::any_of(observations, counted)) return span;
  }
  return Span::run;
}

void add_counts(std::span<const Observation> observations, Run& run) {
  const Span finest = counted_span(observations);
  for (const Observation& one : observations) {
    if (!counts_steps(one) || one.span != finest) continue;
    run.steps += static_cast<double>(one.acceptance->steps);
    if (static_cast<double>(one.acceptance->steps) < few_steps) ++run.tiny_observations;
    if (!run.setting.gamma || run.setting.adaptive) continue;
    if (auto cluster = counts_for_fit(one)) add_cluster(std::move(*cluster), run.clusters);
    run.drafts_differ = run.drafts_differ || !drafts_are_whole(one);
  }
  if (run.drafts_differ) run.clusters.clear();
}

/// The part of an iteration, where every observation has it.
std::optional<double> part_of(std::span<const Observation> observations,
                              std::optional<double> logs::ObservedTimes::*part) {
  const auto lacks = [&](const Observation& one) { return !(one.times.*part); };
  if (std::ranges::any_of(observations, lacks)) return std::nullopt;
  return mean_value(observations, [&](const Observation& one) { return one.times.*part; });
}

/// Clearly fewer requests were served per second than were sent.
bool is_overloaded(const Observation& observation) {
  constexpr double keeps_up = 0.9;
  const logs::ObservedTimes& times = observation.times;
  return times.request_rate_per_s && times.served_requests_per_s &&
         *times.served_requests_per_s < keeps_up * *times.request_rate_per_s;
}

Run run_of(const RunSetting& setting, const RunLoad& load, std::span<const Placed> members, bool decode_only) {
  std::vector<Observation> observations;
  for (const Placed& one : members) observations.push_back(one.observation);
  RunParts timed = parts_of(members, decode_only);
  Run run{.setting = setting,
          .load = load,
          .requests = mean_value(observations, [](const Observation& one) { return one.requests; }),
          .observations = observations.size(),
          .left_out = timed.left_out,
          .parts = std::move(timed.parts)};
  if (load.requests && !run.requests) run.requests = load.requests;
  add_counts(observations, run);
  run.tokens = run_tokens(run, observations);
  run.drafted = mean_value(observations, [](const Observation& one) -> std::optional<double> {
    if (!has_counts(one) || !one.acceptance->drafted_tokens) return std::nullopt;
    return static_cast<double>(*one.acceptance->drafted_tokens) / static_cast<double>(one.acceptance->steps);
  });
  run.draft_ms = part_of(observations, &logs::ObservedTimes::draft_ms);
  run.verification_ms = part_of(observations, &logs::ObservedTimes::verification_ms);
  run.ttft_ms = mean_value(observations, [](const Observation& one) { return one.times.ttft_ms; });
  const auto prompt = mean_value(observations, [](const Observation& one) { return one.times.prompt_tokens_per_s; });
  const auto output = mean_value(observations, [](const Observation& one) { return one.times.output_tokens_per_s; });
  if (prompt && output && *output > 0.0) run.prompt_share = *prompt / (*prompt + *output);
  run.prefill = prefill_of(run.parts);
  run.context_tokens = mean_value(observations, [](const Observation& one) { return one.stratum.context_tokens; });
  run.output_tokens = mean_value(observations, [](const Observation& one) { return one.stratum.output_tokens; });
  for (const Observation& one : observations) {
    add_circumstances(one.stratum, run);
    run.without_graphs = run.without_graphs || one.cuda_graphs == false;
    run.overloaded = run.overloaded || is_overloaded(one);
  }
  return run;
}

Run replayed_run(std::span<const Observation> traces, std::int64_t gamma) {
  Run run{.setting = {.decoding = Decoding::speculative,
                      .gamma = gamma,
                      .drafter = traces.front().stratum.category.value_or("")},
          .observations = traces.size()};
  for (const Observation& trace : traces) {
    run.clusters.push_back(replayed(trace.trace.by_position, gamma));
    run.steps += run.clusters.back().steps;
    run.parts.push_back(replayed_part(trace, run.clusters.back()));
    add_circumstances(trace.stratum, run);
  }
  run.circumstances.erase("category");  // it names the drafter
  run.tokens = counted_tokens(run.clusters);
  return run;
}

// ---- which observations make one run

/// An observation with what identifies it in its file.
struct Member {
  Placed placed;
  std::string file;
  std::string unit;  ///< its file; of a whole run its file and line
};
using Members = std::vector<Member>;
using RunKey = std::pair<RunSetting, RunLoad>;
using Groups = std::map<RunKey, Members>;

std::vector<Placed> placed_of(const Members& members) {
  std::vector<Placed> all;
  for (const Member& member : members) all.push_back(member.placed);
  return all;
}

/// IterationTotals of iterations of some members.
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

/// Whether units of one setting accept so differently that they cannot be one drafter on one kind of text.
bool contradict(const std::map<std::string, Members>& units) {
  constexpr double clearly = 4.0;      // standard errors
  constexpr double noticeable = 0.05;  // of the acceptance length
  constexpr double dependence = 4.0;   // of steps: their variance is larger by it
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

/// Gives units that contradict each other runs of their own.
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

/// The context of windows and runs: requests of one batch share its iterations.
std::optional<double> context_of_iterations(const Member& member) {
  const Observation& one = member.placed.observation;
  const double context = one.stratum.context_tokens.value_or(0.0);
  if (one.span == Span::request || !(context >= 1.0) || !std::isfinite(context)) return std::nullopt;
  return context;
}

/// Whether the iterations of one run differ between its contexts.
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

/// Contexts at one load are different loads once iterations differ between them, in both arms alike.
void divide_by_context(Groups& groups) {
  std::map<RunLoad, std::vector<double>> contexts;
  for (const auto& [key, members] : groups) {
    for (const Member& member : members) {
      if (const auto context = context_of_iterations(member)) contexts[key.second].push_back(*context);
    }
  }
  std::map<RunLoad, std::vector<double>> levels;  // of the loads that are divided
  for (const auto& [key, members] : groups) {
    std::vector<double> of_load = context_levels(contexts[key.second]);
    if (depends_on_context(members, of_load)) levels[key.second] = std::move(of_load);
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

/// Loads of which some run has no window that only decodes: there all runs keep their windows of prompts, so that both
/// arms hold alike.
std::set<RunLoad> loads_of_prompts(const Groups& groups) {
  std::set<RunLoad> loads;
  for (const auto& [key, members] : groups) {
    if (separates_prefill(placed_of(members)) == false) loads.insert(key.second);
  }
  return loads;
}

/// One way of sampling is no load of its own.
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

/// Observations of all logs by what tells runs apart.
struct Sorted {
  Groups groups;
  std::map<std::string, std::vector<Observation>> traces;  ///< by drafter
  std::vector<logs::LogWarning> warnings;
  bool plain_is_given;  ///< logs that do not say what they are are then those of speculation

  void warn(std::string_view code, std::int64_t line, std::string message) {
    const bool said = std::ranges::find(warnings, message, &logs::LogWarning::message) != warnings.end();
    if (!said) warnings.push_back({std::string(code), line, std::move(message)});
  }

  void add(const logs::ObservedLog& log, bool plain_log) {
    const std::optional<std::int64_t> gamma = drafted_per_step(log.contents.observations);
    // Requests of a file whose load is that of its run.
    std::optional<RunLoad> of_run;
    for (const Observation& one : log.contents.observations) {
      if (one.span == Span::run && !of_run) of_run = run_load(one);
    }
    for (Placed one : placed(log.contents.observations)) {
      if (!one.observation.gamma && has_counts(one.observation)) one.observation.gamma = gamma;
      add(std::move(one), log, of_run, plain_log);
    }
  }

  void add(Placed one, const logs::ObservedLog& log, const std::optional<RunLoad>& of_run, bool plain_log) {
    Observation& observation = one.observation;
    if (!observation.acceptance && !observation.trace.by_position.empty()) {
      return traces[observation.stratum.category.value_or("")].push_back(std::move(observation));
    }
    if (plain_log) {
      if (observation.decoding == Decoding::speculative) {
        return warn("W09", observation.line, "--plain holds speculative decoding, which is left out");
      }
      observation.decoding = Decoding::plain;
    }
    if (observation.decoding == Decoding::unknown && plain_is_given) observation.decoding = Decoding::speculative;
    if (observation.decoding == Decoding::unknown) {
      return warn("W09", observation.line, "runs that say neither plain nor speculative are left out");
    }
    if (observation.decoding == Decoding::speculative && observation.gamma == 0) {
      warn("W09", observation.line,
           "iterations of a speculative server that drafted nothing are not autoregressive decoding");
    }
    if (observation.completed_requests == 0) {
      return warn("W11", observation.line, "a run of which no request completed is left out");
    }
    RunLoad load = run_load(observation);
    load.sampling = sampling_text(observation.stratum);
    if (load == RunLoad{.sampling = load.sampling} && observation.span == Span::request && of_run) {
      load = *of_run;
      load.sampling = sampling_text(observation.stratum);
    }
    const std::string unit =
        observation.span == Span::run ? fmt::format("{}:{}", log.file, observation.line) : log.file;
    groups[{setting_of(observation, log.contents), load}].push_back(
        {.placed = std::move(one), .file = log.file, .unit = unit});
  }
};

std::string values_text(const std::set<std::string>& values) {
  constexpr std::size_t shown = 3;
  return values.size() <= shown ? fmt::format("{}", fmt::join(values, ", ")) : fmt::format("{} values", values.size());
}

std::string lengths_differ(std::string_view name, const std::optional<double>& one,
                           const std::optional<double>& other) {
  if (!one || !other || are_alike(*one, *other) || std::abs(*one - *other) < short_context) return "";
  return fmt::format("{} {:.0f} against {:.0f} tokens", name, *one, *other);
}

std::string loads_differ(const Run& one, const Run& other) {
  if (one.load == other.load && (one.load.request_rate_per_s || one.load.offered_requests)) return "";
  const bool stated = one.load.request_rate_per_s != other.load.request_rate_per_s ||
                      one.load.offered_requests != other.load.offered_requests;
  const bool known = one.requests && other.requests;
  if (!stated && (known ? are_alike(*one.requests, *other.requests) : one.load == other.load)) return "";
  return fmt::format("{} against {}", load_text(one), load_text(other));
}

/// Names that both runs have and that differ.
std::string names_differ(const RunSetting& one, const RunSetting& other) {
  const auto differ = [](std::string_view what, const std::string& first, const std::string& second) {
    if (first.empty() || second.empty() || first == second) return std::string();
    return fmt::format("{} {} against {}", what, readable(first), readable(second));
  };
  const std::string of_engines = differ("engine", one.engine, other.engine);
  return of_engines.empty() ? differ("target", one.target, other.target) : of_engines;
}

std::set<std::string> targets_of(std::span<const logs::ObservedLog> logs) {
  std::set<std::string> names;
  for (const logs::ObservedLog& log : logs) {
    if (log.contents.settings.target) names.insert(short_name(*log.contents.settings.target));
  }
  return names;
}

}  // namespace

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

std::string token_count_text(double tokens) {
  constexpr double thousand = 1000.0;
  return tokens < thousand ? fmt::format("{:.0f} tokens", tokens) : fmt::format("{:.3g}k tokens", tokens / thousand);
}

RunList runs_of(std::span<const logs::ObservedLog> logs, std::span<const logs::ObservedLog> plain) {
  Sorted sorted{.groups = {}, .traces = {}, .warnings = {}, .plain_is_given = !plain.empty()};
  for (const bool plain_log : {false, true}) {
    std::vector<const logs::ObservedLog*> files;
    for (const logs::ObservedLog& log : plain_log ? plain : logs) files.push_back(&log);
    std::ranges::stable_sort(files, {}, &logs::ObservedLog::file);  // their order changes nothing
    for (const logs::ObservedLog* file : files) sorted.add(*file, plain_log);
  }
  RunList runs{.all = {}, .warnings = std::move(sorted.warnings)};
  Groups& groups = sorted.groups;
  drop_only_sampling(groups);
  divide_contradictions(groups);
  divide_by_context(groups);
  const std::set<RunLoad> mixed = loads_of_prompts(groups);
  for (const auto& [key, members] : groups) {
    runs.all.push_back(run_of(key.first, key.second, placed_of(members), !mixed.contains(key.second)));
    for (const Member& member : members) runs.all.back().files.insert(member.file);
  }
  for (const auto& [drafter, traces] : sorted.traces) {
    for (std::int64_t gamma = 1; gamma <= longest_replay; ++gamma) runs.all.push_back(replayed_run(traces, gamma));
  }
  return runs;
}

std::string difference_of(const Run& one, const Run& other) {
  if (std::string names = names_differ(one.setting, other.setting); !names.empty()) return names;
  for (const auto& [name, values] : one.circumstances) {
    const auto found = other.circumstances.find(name);
    if (found == other.circumstances.end() || found->second == values) continue;
    return fmt::format("{} {} against {}", name, values_text(values), values_text(found->second));
  }
  std::string differs = loads_differ(one, other);
  if (differs.empty()) differs = lengths_differ("context", one.context_tokens, other.context_tokens);
  return differs.empty() ? lengths_differ("output", one.output_tokens, other.output_tokens) : differs;
}

std::string load_text(const Run& run) {
  std::string of = run.load.category ? " of " + readable(*run.load.category, longest_category) : "";
  if (run.load.sampling) of += ", " + *run.load.sampling;
  if (run.load.context) of += fmt::format(" at {}", token_count_text(run.context_tokens.value_or(*run.load.context)));
  if (run.load.request_rate_per_s) return fmt::format("{:.3g} requests/s{}", *run.load.request_rate_per_s, of);
  if (run.load.offered_requests) return fmt::format("{:.0f} requests at once{}", *run.load.offered_requests, of);
  if (!run.requests || !run.load.requests) return "unknown load" + of;
  return fmt::format("{:.3g} request{}{}", *run.requests, *run.requests == 1.0 ? "" : "s", of);
}

namespace {

/// "adaptive, 3.1 of 7": an engine that drafts or verifies fewer tokens than it could.
std::string adaptive_text(const Run& run) {
  if (!run.drafted || !run.setting.gamma) return "adaptive";
  return fmt::format("adaptive, {:.2g} of {}", *run.drafted, *run.setting.gamma);
}

}  // namespace

namespace {

/// What tells a setting apart from others of `runs`, with its draft length in the middle unless that is empty.
std::string setting_words(const RunSetting& setting, std::span<const Run> runs, const std::string& length) {
  std::set<std::string> drafters;
  std::set<std::string> models;
  std::set<std::string> versions;
  for (const Run& one : runs) {
    if (one.is_plain()) continue;
    drafters.insert(one.setting.drafter);
    models.insert(one.setting.draft_model);
    versions.insert(one.setting.engine + " " + one.setting.version);
  }
  std::vector<std::string> words;
  const auto add = [&](const std::string& word, std::size_t kinds) {
    if (!word.empty() && kinds > 1) words.push_back(readable(word, longest_drafter));
  };
  add(setting.drafter, drafters.size());
  add(setting.draft_model, models.size());
  if (!length.empty()) words.push_back(length);
  add(setting.engine + " " + setting.version, versions.size());
  if (!setting.file.empty()) words.push_back(readable(short_name(setting.file), longest_drafter));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::string setting_text(const Run& run, std::span<const Run> runs) {
  if (run.is_plain()) return "plain";
  const std::string length = run.setting.adaptive ? adaptive_text(run)
                             : run.setting.gamma  ? fmt::format("K = {}", *run.setting.gamma)
                                                  : std::string("K unknown");
  return setting_words(run.setting, runs, length);
}

std::string drafter_text(const RunSetting& setting, std::span<const Run> runs) {
  return setting_words(setting, runs, "");
}

std::string targets_differ(std::span<const logs::ObservedLog> one, std::span<const logs::ObservedLog> other) {
  const auto first = targets_of(one);
  const auto second = targets_of(other);
  const auto against = [](const std::string& left, const std::string& right) {
    return fmt::format("target {} against {}", readable(left), readable(right));
  };
  if (first.size() > 1) return against(*first.begin(), *first.rbegin());
  if (first.empty() || second.empty() || first == second) return "";
  return against(*first.begin(), *second.begin());
}

nlohmann::ordered_json warnings_json(std::span<const logs::LogWarning> warnings) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& [code, line, message] : warnings) {
    rows.push_back({{"code", code}, {"line", nullptr}, {"message", message}});
    if (line > 0) rows.back()["line"] = line;
  }
  return rows;
}

std::vector<std::string> warning_lines(std::span<const logs::LogWarning> warnings) {
  std::set<std::string> codes;
  std::vector<std::string> lines;
  for (const logs::LogWarning& warning : warnings) {
    if (codes.insert(warning.code).second) lines.push_back(warning.code + " " + readable(warning.message));
  }
  return lines;
}

}  // namespace foredraft::answers
