// SPDX-License-Identifier: Apache-2.0
#include "answers/run_parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "answers/observed.hpp"

namespace foredraft::answers {
namespace {

using logs::Decoding;
using logs::Observation;
using logs::Span;

bool is_idle(const Observation& observation) {
  return observation.span == Span::window && observation.requests && *observation.requests < 0.5;
}

/// Steps of a speculative observation, including those without drafts; 1 if steps were not counted.
double weight_of(const Observation& observation) {
  if (!observation.acceptance) return 1.0;
  const logs::AcceptanceCounts& counts = *observation.acceptance;
  const auto counted = static_cast<double>(counts.steps);
  if (!counts.generated_tokens) return std::max(1.0, counted);
  return std::max({1.0, counted, static_cast<double>(*counts.generated_tokens - counts.accepted_tokens.value_or(0))});
}

/// Whether steps were counted, with or without drafts.
bool has_steps(const Observation& observation) {
  return has_counts(observation) ||
         (observation.acceptance && observation.acceptance->generated_tokens.value_or(0) > 0);
}

bool all_accepted(const logs::AcceptanceCounts& counts, const std::optional<std::int64_t>& gamma) {
  if (!counts.accepted_tokens || counts.steps <= 0) return false;
  if (counts.drafted_tokens) return *counts.drafted_tokens > 0 && *counts.accepted_tokens >= *counts.drafted_tokens;
  return gamma && *counts.accepted_tokens >= *gamma * counts.steps;
}

// ---- times

bool is_usable(const std::optional<double>& value) { return value && std::isfinite(*value) && *value > 0.0; }

/// Tokens that a client timed: those of one request after its first, else those of the counted steps, else 1.
double tokens_of(const Observation& observation, const RunPart& part) {
  if (observation.span == Span::request && observation.stratum.output_tokens.value_or(0.0) > 1.5) {
    return *observation.stratum.output_tokens - 1.0;
  }
  return observation.decoding == Decoding::speculative && part.tokens ? part.weight * *part.tokens : 1.0;
}

/// Steps summed over sequences: as counted, or the tokens of a window without speculation.
double steps_of(const Observation& observation, const RunPart& part) {
  const auto& rate = observation.times.output_tokens_per_s;
  const bool counted = observation.span != Span::window || observation.decoding != Decoding::plain || !is_usable(rate);
  return counted ? part.weight : *rate * part.seconds;
}

/// The decoding time of requests and the tokens generated in it, from the first source that was logged: times at the
/// client, iterations of the engine, or throughput.
void add_times(const Observation& observation, RunPart& part) {
  const logs::ObservedTimes& times = observation.times;
  const auto set = [&part](double request_ms, double tokens) {
    if (!is_usable(request_ms) || !is_usable(tokens) || !is_usable(request_ms / tokens)) return;  // overflow
    part.request_ms = request_ms;
    part.timed_tokens = tokens;
  };
  if (is_usable(times.tpot_ms)) {
    const double tokens = tokens_of(observation, part);
    return set(*times.tpot_ms * tokens, tokens);
  }
  if (is_usable(times.iteration_ms) && part.tokens) {
    part.timed_by_counts = true;
    const double steps = steps_of(observation, part);
    return set(*times.iteration_ms * steps, steps * *part.tokens);
  }
  const bool of_server = !times.request_rate_per_s || observation.span == Span::window;
  if (of_server && is_usable(times.output_tokens_per_s) && is_usable(observation.requests)) {
    constexpr double ms_per_s = 1e3;
    set(ms_per_s * *observation.requests * part.seconds, *times.output_tokens_per_s * part.seconds);
  }
}

/// A window at whose end nothing ran: for an unknown part of it the server was idle, so its throughput is no speed.
bool ended_idle(const Observation& observation) {
  return observation.span == Span::window && observation.requests == 0.0;
}

RunPart run_part(const Observation& observation) {
  const bool plain = observation.decoding == Decoding::plain;
  RunPart part{.span = observation.span,
               .request = observation.stratum.request,
               .tokens = plain ? std::optional(1.0) : length_of(observation),
               .output_tokens_per_s = ended_idle(observation) ? std::nullopt : observation.times.output_tokens_per_s,
               .prompt_tokens_per_s = observation.times.prompt_tokens_per_s,
               .seconds = is_usable(observation.times.duration_s) ? *observation.times.duration_s : 1.0,
               .requests = observation.requests,
               .context_tokens = observation.stratum.context_tokens};
  if (!plain && has_steps(observation)) {
    part.weight = weight_of(observation);
    if (drafts_are_whole(observation)) part.accepted_at = observation.acceptance->accepted_at;
    part.all_accepted = all_accepted(*observation.acceptance, observation.gamma);
  }
  add_times(observation, part);
  return part;
}

// ---- windows whose times are not those of iterations

void leave_out(RunPart& part, std::size_t& count) {
  part.request_ms = part.timed_tokens = std::nullopt;
  ++count;
}

std::vector<RunPart*> timed_windows(std::vector<RunPart>& parts) {
  std::vector<RunPart*> windows;
  for (RunPart& part : parts) {
    if (part.span == Span::window && part.request_ms && part.timed_tokens > 0.0) windows.push_back(&part);
  }
  return windows;
}

/// 0 if a rate was not logged.
double prompt_share(const RunPart& part) {
  if (!part.prompt_tokens_per_s || !part.output_tokens_per_s) return 0.0;
  const double all = *part.prompt_tokens_per_s + *part.output_tokens_per_s;
  return all > 0.0 ? *part.prompt_tokens_per_s / all : 0.0;
}

/// Fractions of the tokens of a window.
constexpr double mostly_prompts = 0.5;
constexpr double hardly_prompts = 0.02;

double iteration_rate(const RunPart& part) {
  return *part.timed_tokens / (part.tokens.value_or(1.0) * *part.request_ms);
}

/// Leaves out windows that mostly ran prompts: all, or those with far fewer iterations than the fastest window.
void leave_out_prefill(std::vector<RunPart>& parts, bool all, std::size_t& count) {
  constexpr double far_fewer = 0.25;
  const std::vector<RunPart*> windows = timed_windows(parts);
  double fastest = 0.0;
  for (const RunPart* part : windows) fastest = std::max(fastest, iteration_rate(*part));
  for (RunPart* part : windows) {
    if (prompt_share(*part) > mostly_prompts && (all || iteration_rate(*part) < far_fewer * fastest))
      leave_out(*part, count);
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Leaves out windows with far fewer iterations per second and request than the median. They were partly idle, although
/// requests were running at their end, where engines count them.
void leave_out_partial(std::vector<RunPart>& parts, std::size_t& count) {
  constexpr std::size_t enough = 4;
  constexpr double clearly = 0.85;           // of the median rate
  constexpr double far_deviations = 5.0;     // of the median scatter
  constexpr double normal_scatter = 1.4826;  // median deviation to standard deviation
  const std::vector<RunPart*> windows = timed_windows(parts);
  if (windows.size() < enough) return;
  std::vector<double> rates;
  for (const RunPart* part : windows) rates.push_back(iteration_rate(*part));
  const double usual = median(rates);
  for (double& one : rates) one = std::abs(one - usual);
  const double least = std::min(clearly * usual, usual - far_deviations * normal_scatter * median(rates));
  for (RunPart* part : windows) {
    if (iteration_rate(*part) < least) leave_out(*part, count);
  }
}

/// Leaves out windows that were partly idle according to the log and ran fewer iterations than the others.
void leave_out_begun_idle(std::span<const Placed> observations, RunParts& all) {
  constexpr double fewer = 0.97;
  const auto is_timed = [](const RunPart& part) { return part.request_ms && part.timed_tokens > 0.0; };
  std::vector<double> others;
  for (std::size_t i = 0; i < all.parts.size(); ++i) {
    const bool whole = !observations[i].observation.partial.value_or(false);
    if (whole && is_timed(all.parts[i])) others.push_back(iteration_rate(all.parts[i]));
  }
  if (others.empty()) return;
  const double usual = median(std::move(others));
  for (std::size_t i = 0; i < all.parts.size(); ++i) {
    const bool partial = observations[i].observation.partial.value_or(false) && is_timed(all.parts[i]);
    if (partial && iteration_rate(all.parts[i]) < fewer * usual) leave_out(all.parts[i], all.left_out.partial);
  }
}

}  // namespace

std::optional<double> length_of(const Observation& observation) {
  if (has_steps(observation) && (observation.acceptance->accepted_tokens || observation.acceptance->steps == 0)) {
    return 1.0 + static_cast<double>(observation.acceptance->accepted_tokens.value_or(0)) / weight_of(observation);
  }
  return observation.acceptance_length;
}

namespace {

/// Whether the first window of a log generated far fewer tokens/s than the second, with the same number of requests.
bool begins_idle(std::span<const Observation> observations) {
  constexpr double clearly = 0.85;
  if (observations.size() < 2 || observations[1].span != Span::window) return false;
  const Observation& one = observations[0];
  const Observation& next = observations[1];
  return one.requests == next.requests && is_usable(one.times.output_tokens_per_s) &&
         is_usable(next.times.output_tokens_per_s) &&
         *one.times.output_tokens_per_s < clearly * *next.times.output_tokens_per_s;
}

}  // namespace

std::vector<Placed> placed(std::span<const Observation> observations) {
  constexpr double alike = 1.25;
  const auto changes = [&](std::size_t here, std::size_t neighbor) {
    if (neighbor >= observations.size() || observations[neighbor].span != Span::window) return false;
    const double one = observations[here].requests.value_or(1.0);
    const double other = observations[neighbor].requests.value_or(one);
    return std::max(one, other) > alike * std::min(one, other);
  };
  std::vector<Placed> all;
  bool any_steady = false;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    // Engines print the number of running requests at the end of a window. If it was the same at the start, they ran
    // all the time.
    const bool window = observations[i].span == Span::window;
    // If the next window is idle at its end but generated tokens, these requests ran on into it.
    const bool idle_after = i + 1 < observations.size() && is_idle(observations[i + 1]) &&
                            !is_usable(observations[i + 1].times.output_tokens_per_s);
    const bool unsteady = window && (idle_after || (i > 0 ? changes(i, i - 1) : begins_idle(observations)));
    any_steady = any_steady || (window && !unsteady && !is_idle(observations[i]));
    all.push_back({.observation = observations[i], .unsteady = unsteady});
  }
  if (!any_steady) {
    for (Placed& one : all) one.unsteady = false;
  }
  return all;
}

RunParts parts_of(std::span<const Placed> observations, bool decode_only) {
  RunParts all;
  for (const Placed& one : observations) {
    all.parts.push_back(run_part(one.observation));
    RunPart& part = all.parts.back();
    if (one.unsteady && part.request_ms) leave_out(part, all.left_out.unsteady);
    if (ended_idle(one.observation) && is_usable(one.observation.times.output_tokens_per_s)) ++all.left_out.partial;
  }
  leave_out_prefill(all.parts, decode_only, all.left_out.prefill);
  leave_out_begun_idle(observations, all);
  leave_out_partial(all.parts, all.left_out.partial);
  return all;
}

std::optional<bool> separates_prefill(std::span<const Placed> observations) {
  bool prompts = false;
  bool decodes = false;
  for (const Placed& one : observations) {
    const RunPart part = run_part(one.observation);
    if (part.span != Span::window || one.unsteady || !part.request_ms) continue;
    prompts = prompts || prompt_share(part) > mostly_prompts;
    decodes = decodes || prompt_share(part) < hardly_prompts;
  }
  return prompts ? std::optional(decodes) : std::nullopt;
}

std::optional<analytic::PrefillTime> prefill_of(std::span<const RunPart> parts) {
  std::vector<analytic::MixedWindow> windows;
  for (const RunPart& part : parts) {
    if (part.span != Span::window || !part.request_ms || !(part.timed_tokens > 0.0) || !part.prompt_tokens_per_s)
      continue;
    const double iteration_ms = part.tokens.value_or(1.0) * *part.request_ms / *part.timed_tokens;
    windows.push_back({iteration_ms, std::max(0.0, *part.prompt_tokens_per_s)});
  }
  return analytic::prefill_time(windows);
}

}  // namespace foredraft::answers
