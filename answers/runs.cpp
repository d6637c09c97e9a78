// SPDX-License-Identifier: Apache-2.0
#include "answers/runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>

#include "answers/observed.hpp"
#include "core/readable.hpp"
#include "logs/acceptance.hpp"
#include "logs/observation.hpp"

namespace foredraft::answers {
namespace {

using logs::Decoding;
using logs::Observation;

/// Lengths and loads that differ by less are taken as equal.
constexpr double alike = 1.25;
constexpr std::int64_t longest_replay = 12;
constexpr double few_steps = 20.0;
constexpr std::size_t longest_category = 16;

bool counts_steps(const Observation& observation) {
  return observation.acceptance && observation.acceptance->steps > 0;
}

bool are_alike(double first, double second) { return std::max(first, second) <= alike * std::min(first, second); }

RunLoad run_load(const Observation& observation) {
  RunLoad load;
  if (observation.span == logs::Span::run) load.category = observation.stratum.category;
  load.request_rate_per_s = observation.times.request_rate_per_s;
  const double requests = observation.requests.value_or(0.0);
  if (load.request_rate_per_s || !(requests >= 0.5) || !std::isfinite(requests)) return load;
  const bool window = observation.span == logs::Span::window;
  load.requests = window ? std::exp2(std::round(std::log2(requests))) : std::max(1.0, std::round(requests));
  return load;
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

/// The mean of printed lengths; one alone is as good as a single run.
std::optional<Estimate> printed_tokens(std::span<const Observation> observations) {
  double sum = 0.0;
  for (const Observation& one : observations) {
    if (!one.acceptance_length || !(*one.acceptance_length >= 1.0)) return std::nullopt;
    sum += *one.acceptance_length;
  }
  const double mean = sum / static_cast<double>(observations.size());
  return Estimate{mean, single_run_error * mean};
}

std::optional<Estimate> run_tokens(const Run& run, std::span<const Observation> observations) {
  if (run.decoding == Decoding::plain) return Estimate{1.0, 0.0};
  if (!run.clusters.empty()) return counted_tokens(run.clusters);
  auto length = logs::acceptance_length(observations);
  if (!length) return printed_tokens(observations);
  // Without positions: as many accepted drafts as a geometric distribution of this mean scatters by.
  if (std::isnan(length->standard_error)) {
    length->standard_error = std::sqrt(length->mean * std::max(0.0, length->mean - 1.0) / std::max(1.0, run.steps));
  }
  return length;
}

// ---- times

std::optional<double> length_of(const Observation& observation) {
  if (counts_steps(observation) && observation.acceptance->accepted_tokens) {
    return 1.0 + static_cast<double>(*observation.acceptance->accepted_tokens) /
                     static_cast<double>(observation.acceptance->steps);
  }
  return observation.acceptance_length;
}

/// The time per token of one request, from what there is: throughput says it only where requests wait for the server.
std::optional<double> token_ms(const Observation& observation) {
  const logs::ObservedTimes& times = observation.times;
  if (times.tpot_ms) return times.tpot_ms;
  const bool of_server = times.output_tokens_per_s && observation.requests && !times.request_rate_per_s;
  if (of_server && *times.output_tokens_per_s > 0.0) return 1000.0 * *observation.requests / *times.output_tokens_per_s;
  return std::nullopt;
}

std::optional<double> iteration_ms(const Observation& observation) {
  if (observation.decoding == Decoding::speculative) {
    const auto length = length_of(observation);
    // Both sides as a client sees them: its chunks may hold several tokens.
    if (observation.times.tpot_ms && length) return *length * *observation.times.tpot_ms;
    if (observation.times.iteration_ms) return observation.times.iteration_ms;
    const auto token = token_ms(observation);
    return length && token ? std::optional(*length * *token) : std::nullopt;
  }
  if (observation.times.tpot_ms) return observation.times.tpot_ms;
  return observation.times.iteration_ms ? observation.times.iteration_ms : token_ms(observation);
}

/// The mean over those that have a value, weighted by steps, with the standard error that their scatter says.
std::optional<Estimate> observed_mean(std::span<const Observation> observations, const auto& value) {
  constexpr double few = 4.0;
  double weights = 0.0;
  double sum = 0.0;
  double number = 0.0;
  std::vector<std::pair<double, double>> values;
  for (const Observation& one : observations) {
    const std::optional<double> found = value(one);
    if (!found || !std::isfinite(*found) || *found < 0.0) continue;
    const double weight = one.acceptance ? std::max(1.0, static_cast<double>(one.acceptance->steps)) : 1.0;
    values.emplace_back(*found, weight);
    weights += weight;
    sum += weight * *found;
    number += 1.0;
  }
  if (values.empty()) return std::nullopt;
  const double mean = sum / weights;
  double squares = 0.0;
  for (const auto& [one, weight] : values) squares += weight * weight * (one - mean) * (one - mean);
  const double scatter = number > 1.0 ? std::sqrt(squares * number / (number - 1.0)) / weights : 0.0;
  return Estimate{mean, number < few ? std::max(scatter, single_run_error * mean) : scatter};
}

std::optional<Estimate> positive(std::optional<Estimate> time) {
  return time && time->mean > 0.0 ? time : std::nullopt;
}

std::optional<double> mean_value(std::span<const Observation> observations, const auto& value) {
  const auto mean = observed_mean(observations, value);
  return mean ? std::optional(mean->mean) : std::nullopt;
}

std::optional<analytic::PrefillTime> prefill_of(std::span<const Observation> observations) {
  std::vector<analytic::MixedWindow> windows;
  for (const Observation& one : observations) {
    const auto iteration = iteration_ms(one);
    const double prompts = one.times.prompt_tokens_per_s.value_or(-1.0);
    const bool known = iteration && *iteration > 0.0 && std::isfinite(*iteration) && std::isfinite(prompts);
    if (one.span == logs::Span::window && known && prompts >= 0.0) windows.push_back({*iteration, prompts});
  }
  return analytic::prefill_time(windows);
}

// ---- runs

bool all_accepted(const logs::AcceptanceCounts& counts, const std::optional<std::int64_t>& gamma) {
  if (!counts.accepted_tokens || counts.steps <= 0) return false;
  if (counts.drafted_tokens) return *counts.drafted_tokens > 0 && *counts.accepted_tokens >= *counts.drafted_tokens;
  return gamma && *counts.accepted_tokens >= *gamma * counts.steps;
}

RunPart run_part(const Observation& observation) {
  const bool plain = observation.decoding == Decoding::plain;
  RunPart part{.span = observation.span,
               .request = observation.stratum.request,
               .tokens = plain ? std::optional(1.0) : length_of(observation),
               .iteration_ms = iteration_ms(observation),
               .output_tokens_per_s = observation.times.output_tokens_per_s};
  if (!counts_steps(observation)) return part;
  part.weight = static_cast<double>(observation.acceptance->steps);
  if (drafts_are_whole(observation)) part.accepted_at = observation.acceptance->accepted_at;
  part.all_accepted = all_accepted(*observation.acceptance, observation.gamma);
  return part;
}

/// Of a request that is replayed.
RunPart run_part(const Observation& trace, const analytic::AcceptanceCounts& replay) {
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
logs::Span counted_span(std::span<const Observation> observations) {
  for (const logs::Span span : {logs::Span::request, logs::Span::window}) {
    const auto counted = [&](const Observation& one) { return one.span == span && counts_steps(one); };
    if (std::ranges::any_of(observations, counted)) return span;
  }
  return logs::Span::run;
}

void add_counts(std::span<const Observation> observations, Run& run) {
  const logs::Span finest = counted_span(observations);
  for (const Observation& one : observations) {
    if (!counts_steps(one) || one.span != finest) continue;
    run.steps += static_cast<double>(one.acceptance->steps);
    if (static_cast<double>(one.acceptance->steps) < few_steps) ++run.tiny_observations;
    if (!run.gamma) continue;
    if (auto cluster = counts_for_fit(one)) add_cluster(std::move(*cluster), run.clusters);
    run.drafts_differ = run.drafts_differ || !drafts_are_whole(one);
  }
  if (run.drafts_differ) run.clusters.clear();
}

/// The part of an iteration, where every observation has it.
std::optional<Estimate> part_of(std::span<const Observation> observations,
                                std::optional<double> logs::ObservedTimes::*part) {
  const auto time = [&](const Observation& one) { return one.times.*part; };
  const bool all =
      std::ranges::none_of(observations, [&](const Observation& one) { return time(one) == std::nullopt; });
  return all ? observed_mean(observations, time) : std::nullopt;
}

Run run_of(std::span<const Observation> observations) {
  const Observation& first = observations.front();
  Run run{.decoding = first.decoding,
          .gamma = first.decoding == Decoding::speculative ? first.gamma : std::nullopt,
          .load = run_load(first),
          .requests = mean_value(observations, [](const Observation& one) { return one.requests; }),
          .observations = observations.size()};
  add_counts(observations, run);
  run.tokens = run_tokens(run, observations);
  run.iteration_ms = positive(observed_mean(observations, iteration_ms));
  run.draft_ms = part_of(observations, &logs::ObservedTimes::draft_ms);
  run.verification_ms = positive(part_of(observations, &logs::ObservedTimes::verification_ms));
  run.output_tokens_per_s =
      observed_mean(observations, [](const Observation& one) { return one.times.output_tokens_per_s; });
  const auto prompt = mean_value(observations, [](const Observation& one) { return one.times.prompt_tokens_per_s; });
  if (prompt && run.output_tokens_per_s && *prompt + run.output_tokens_per_s->mean > 0.0) {
    run.prompt_share = *prompt / (*prompt + run.output_tokens_per_s->mean);
  }
  run.prefill = prefill_of(observations);
  run.context_tokens = mean_value(observations, [](const Observation& one) { return one.stratum.context_tokens; });
  run.output_tokens = mean_value(observations, [](const Observation& one) { return one.stratum.output_tokens; });
  for (const Observation& one : observations) {
    add_circumstances(one.stratum, run);
    run.without_graphs = run.without_graphs || one.cuda_graphs == false;
    run.parts.push_back(run_part(one));
  }
  return run;
}

Run replayed_run(std::span<const Observation> traces, std::int64_t gamma) {
  Run run{.decoding = Decoding::speculative,
          .gamma = gamma,
          .drafter = traces.front().stratum.category,
          .observations = traces.size()};
  for (const Observation& trace : traces) {
    run.clusters.push_back(replayed(trace.trace.by_position, gamma));
    run.steps += run.clusters.back().steps;
    run.parts.push_back(run_part(trace, run.clusters.back()));
    add_circumstances(trace.stratum, run);
  }
  run.circumstances.erase("category");  // it names the drafter
  run.tokens = counted_tokens(run.clusters);
  return run;
}

/// Decoding, gamma (-1: unknown) and load: what one run holds.
using RunKey = std::tuple<Decoding, std::int64_t, RunLoad>;

struct Sorted {
  std::map<RunKey, std::vector<Observation>> groups;
  std::map<std::optional<std::string>, std::vector<Observation>> traces;  ///< by drafter
  std::vector<logs::LogWarning> warnings;

  void warn(std::string_view code, std::int64_t line, std::string message) {
    const bool said = std::ranges::find(warnings, message, &logs::LogWarning::message) != warnings.end();
    if (!said) warnings.push_back({std::string(code), line, std::move(message)});
  }

  void add(Observation observation, bool plain_log) {
    if (!observation.acceptance && !observation.trace.by_position.empty()) {
      return traces[observation.stratum.category].push_back(std::move(observation));
    }
    if (plain_log) {
      if (observation.decoding == Decoding::speculative) {
        return warn("W09", observation.line, "--plain holds speculative decoding, which is left out");
      }
      observation.decoding = Decoding::plain;
    }
    if (observation.decoding == Decoding::unknown) {
      return warn("W09", observation.line, "runs that say neither plain nor speculative are left out");
    }
    if (observation.decoding == Decoding::speculative && observation.gamma == 0) {
      return warn("W09", observation.line,
                  "iterations of a speculative server that drafted nothing are not autoregressive decoding: left out");
    }
    const std::int64_t gamma = observation.decoding == Decoding::plain ? -1 : observation.gamma.value_or(-1);
    groups[{observation.decoding, gamma, run_load(observation)}].push_back(std::move(observation));
  }
};

std::string values_text(const std::set<std::string>& values) {
  constexpr std::size_t shown = 3;
  return values.size() <= shown ? fmt::format("{}", fmt::join(values, ", ")) : fmt::format("{} values", values.size());
}

std::string lengths_differ(std::string_view name, const std::optional<double>& one,
                           const std::optional<double>& other) {
  if (!one || !other || are_alike(*one, *other)) return "";
  return fmt::format("{} {:.0f} against {:.0f} tokens", name, *one, *other);
}

std::string loads_differ(const Run& one, const Run& other) {
  if (one.load.request_rate_per_s && one.load == other.load) return "";
  const bool rates = one.load.request_rate_per_s != other.load.request_rate_per_s;
  const bool known = one.requests && other.requests;
  if (!rates && (known ? are_alike(*one.requests, *other.requests) : one.load == other.load)) return "";
  return fmt::format("{} against {}", load_text(one), load_text(other));
}

/// "llama-3.1-8b" of a path or a repository.
std::string short_name(std::string_view model) {
  while (model.ends_with('/')) model.remove_suffix(1);
  std::string name(model.substr(model.find_last_of('/') + 1));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::set<std::string> targets_of(std::span<const logs::ObservedLog> logs) {
  std::set<std::string> names;
  for (const logs::ObservedLog& log : logs) {
    if (log.contents.settings.target) names.insert(short_name(*log.contents.settings.target));
  }
  return names;
}

}  // namespace

RunList runs_of(std::span<const logs::ObservedLog> logs, std::span<const logs::ObservedLog> plain) {
  Sorted sorted;
  for (const bool plain_log : {false, true}) {
    for (const logs::ObservedLog& log : plain_log ? plain : logs) {
      for (const Observation& one : log.contents.observations) sorted.add(one, plain_log);
    }
  }
  RunList runs{.all = {}, .warnings = std::move(sorted.warnings)};
  for (const auto& [key, observations] : sorted.groups) runs.all.push_back(run_of(observations));
  for (const auto& [drafter, traces] : sorted.traces) {
    for (std::int64_t gamma = 1; gamma <= longest_replay; ++gamma) runs.all.push_back(replayed_run(traces, gamma));
  }
  return runs;
}

std::string difference_of(const Run& one, const Run& other) {
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
  const std::string of = run.load.category ? " of " + readable(*run.load.category, longest_category) : "";
  if (run.load.request_rate_per_s) return fmt::format("{:.3g} requests/s{}", *run.load.request_rate_per_s, of);
  if (!run.requests || !run.load.requests) return "unknown load" + of;
  return fmt::format("{:.3g} request{}{}", *run.requests, *run.requests == 1.0 ? "" : "s", of);
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
