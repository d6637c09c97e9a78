// SPDX-License-Identifier: Apache-2.0
#include "answers/runs.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "analytic/observed/acceptance_fit.hpp"
#include "answers/observed.hpp"
#include "answers/run_groups.hpp"
#include "answers/run_parts.hpp"
#include "core/readable.hpp"
#include "logs/acceptance.hpp"
#include "logs/observation.hpp"

namespace foredraft::answers {
namespace {

using logs::Decoding;
using logs::Observation;
using logs::Span;

constexpr double few_steps = 20.0;

bool counts_steps(const Observation& observation) {
  return observation.acceptance && observation.acceptance->steps > 0;
}

// ---- acceptance

/// Adds a window. One of few steps is merged with its neighbor: alone it does not show how windows vary.
void add_cluster(analytic::AcceptanceCluster cluster, std::vector<analytic::AcceptanceCluster>& clusters) {
  const bool joins = !clusters.empty() && std::min(cluster.steps, clusters.back().steps) < few_steps &&
                     cluster.accepted_at.size() == clusters.back().accepted_at.size();
  if (!joins) return clusters.push_back(std::move(cluster));
  analytic::AcceptanceCluster& last = clusters.back();
  last.rounding = (last.rounding * last.steps + cluster.rounding * cluster.steps) / (last.steps + cluster.steps);
  last.steps += cluster.steps;
  last.accepted_tokens += cluster.accepted_tokens;
  for (std::size_t i = 0; i < last.accepted_at.size(); ++i) last.accepted_at[i] += cluster.accepted_at[i];
}

/// Replays one request from the outcomes recorded at each text position.
analytic::AcceptanceCluster replayed(std::span<const std::int32_t> by_position, std::int64_t gamma) {
  analytic::AcceptanceCluster cluster{
      .gamma = gamma, .steps = 0.0, .accepted_at = std::vector<double>(static_cast<std::size_t>(gamma), 0.0)};
  for (std::size_t at = 0; at < by_position.size();) {
    const auto accepted = static_cast<std::size_t>(std::clamp<std::int64_t>(by_position[at], 0, gamma));
    for (std::size_t i = 0; i < accepted; ++i) cluster.accepted_at[i] += 1.0;
    cluster.steps += 1.0;
    at += accepted + 1;
  }
  return cluster;
}

/// Tokens per iteration from counts. The error includes the dependence of steps, if clusters show it.
Estimate counted_tokens(std::span<const analytic::AcceptanceCluster> clusters) {
  const analytic::PooledCounts pooled = analytic::pooled_by_gamma(clusters).front();
  const auto dependent = analytic::cluster_variance(clusters);
  const double variance =
      (dependent ? dependent->factor : 1.0) * (analytic::variance_of_a_step(pooled) + 1.0 / pooled.steps);
  return {1.0 + pooled.accepted, std::sqrt(variance / pooled.steps)};
}

/// The mean of printed lengths, with an unknown error (NaN).
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

/// 1 + accepted / steps, for drafts of several or unknown lengths. The error is that of a geometric distribution.
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

/// The mean over observations with a value >= 0, weighted by steps.
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

/// The part of a replayed request.
RunPart replayed_part(const Observation& trace, const analytic::AcceptanceCluster& replay) {
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

/// The finest span with counted steps. Windows and the whole run would count the same steps twice.
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
    if (one.acceptance->drafted_tokens && one.acceptance->accepted_tokens) {
      run.drafted_tokens += static_cast<double>(*one.acceptance->drafted_tokens);
      run.accepted_tokens += static_cast<double>(*one.acceptance->accepted_tokens);
    }
    if (static_cast<double>(one.acceptance->steps) < few_steps) ++run.tiny_observations;
    if (!run.setting.gamma || run.setting.adaptive) continue;
    if (auto cluster = counts_for_fit(one)) add_cluster(std::move(*cluster), run.clusters);
    run.drafts_differ = run.drafts_differ || !drafts_are_whole(one);
  }
  if (run.drafts_differ) run.clusters.clear();
}

/// Mean time of a part of an iteration, if all observations have it.
std::optional<double> part_of(std::span<const Observation> observations,
                              std::optional<double> logs::ObservedTimes::*part) {
  const auto lacks = [&](const Observation& one) { return !(one.times.*part); };
  if (std::ranges::any_of(observations, lacks)) return std::nullopt;
  return mean_value(observations, [&](const Observation& one) { return one.times.*part; });
}

/// The requests in flight in the windows whose times are used, if any are: others may have run another number.
std::optional<double> requests_of(std::span<const Observation> observations, std::span<const RunPart> parts) {
  const auto requests = [](const Observation& one) { return one.requests; };
  std::vector<Observation> timed;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].request_ms) timed.push_back(observations[i]);
  }
  const auto of_timed = mean_value(timed, requests);
  return of_timed ? of_timed : mean_value(observations, requests);
}

/// Whether fewer than 90 % of the stated requests/s were completed.
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
          .requests = requests_of(observations, timed.parts),
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

}  // namespace

RunList runs_of(std::span<const logs::ObservedLog> logs, std::span<const logs::ObservedLog> plain) {
  GroupedLogs found = grouped(logs, plain);
  RunList runs{.all = {}, .warnings = std::move(found.warnings)};
  const std::set<RunLoad> mixed = loads_of_prompts(found.groups);
  for (const auto& [key, members] : found.groups) {
    runs.all.push_back(run_of(key.first, key.second, placed_of(members), !mixed.contains(key.second)));
    for (const Member& member : members) {
      runs.all.back().files.insert(member.file);
      runs.all.back().of_bench = runs.all.back().of_bench || member.of_bench;
    }
  }
  constexpr std::int64_t longest_replay = 12;
  for (const auto& [drafter, traces] : found.traces) {
    for (std::int64_t gamma = 1; gamma <= longest_replay; ++gamma) runs.all.push_back(replayed_run(traces, gamma));
  }
  return runs;
}

}  // namespace foredraft::answers
