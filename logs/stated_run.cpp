// SPDX-License-Identifier: Apache-2.0
#include "logs/stated_run.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/numbers.hpp"
#include "logs/acceptance.hpp"
#include "logs/line_fields.hpp"
#include "logs/log_format.hpp"
#include "logs/rejected_rounds.hpp"
#include "logs/serving_runs.hpp"

namespace foredraft::logs {
namespace {

/// Maximum relative distance from a whole number of a draft length computed from two numbers with two digits.
constexpr double nearly_whole = 0.03;
/// From this many steps on, a whole number of drafts a step is no coincidence.
constexpr std::int64_t enough_steps = 100;

[[noreturn]] void contradicts(const StatedRun& run, std::string_view key, double value, std::string_view why) {
  reject({.line = run.line, .key = std::string(key), .text = fmt::format("{}", value), .why = std::string(why)});
}

std::optional<std::int64_t> stated_count(const StatedRun& run, std::string_view key, std::optional<double> value) {
  if (!value) return std::nullopt;
  const auto count = whole(value);
  if (!count) contradicts(run, key, *value, "must be a whole number from 0 to 2^53");
  return count;
}

std::optional<double> whole_near(double value) {
  const double nearest = std::round(value);
  const bool good = nearest >= 1.0 && nearest <= static_cast<double>(max_positions);
  return good && std::abs(value - nearest) <= nearly_whole * nearest ? std::optional(nearest) : std::nullopt;
}

/// As printed; else from accepted drafts a step.
std::optional<double> length_of(const StatedRun& run) {
  if (run.length) return run.length;
  if (run.accepted_per_step) return 1.0 + *run.accepted_per_step;
  if (run.drafted_share && *run.drafted_share < 1.0) return 1.0 / (1.0 - *run.drafted_share);
  const double steps = run.steps.value_or(0.0);
  if (run.accepted && steps > 0.0) return 1.0 + *run.accepted / steps;
  return std::nullopt;
}

std::optional<double> gamma_of(const StatedRun& run, std::optional<double> length) {
  if (run.gamma) return run.gamma;
  if (!run.positions.empty()) return static_cast<double>(run.positions.size());
  return length && run.rate && !run.adaptive ? gamma_of_rate(*length, *run.rate) : std::nullopt;
}

Decoding decoding_of_stated(const StatedRun& run, std::optional<double> length) {
  const bool counts = run.steps.value_or(0.0) > 0.0 || run.drafted.value_or(0.0) > 0.0 || run.rejections;
  if (run.gamma.value_or(0.0) > 0.0 || counts || length.value_or(0.0) >= length_without_draft)
    return Decoding::speculative;
  if (run.gamma == 0.0 || length || run.drafted == 0.0) return Decoding::plain;
  return Decoding::unknown;
}

/// Nullopt if steps are neither stated nor follow from other numbers.
std::optional<AcceptanceCounts> counts_of_stated(const StatedRun& run, std::optional<double> gamma) {
  AcceptanceCounts counts{.drafted_tokens = stated_count(run, "drafted", run.drafted),
                          .accepted_tokens = stated_count(run, "accepted", run.accepted)};
  if (run.steps) {
    counts.steps = *stated_count(run, "steps", run.steps);
  } else if (counts.accepted_tokens && run.length.value_or(1.0) > 1.0) {
    // The length is rounded: fewer steps than this could not draft that much.
    const double at_least = run.drafted && gamma.value_or(0.0) > 0.0 ? std::ceil(*run.drafted / *gamma) : 0.0;
    counts.steps = whole(std::max(at_least, std::round(*run.accepted / (*run.length - 1.0)))).value_or(0);
    counts.steps_estimated = true;
  } else if (counts.drafted_tokens && gamma.value_or(0.0) > 0.0) {
    counts.steps = whole(std::round(*run.drafted / *gamma)).value_or(0);
    counts.steps_estimated = static_cast<double>(counts.steps) * *gamma != *run.drafted;
  }
  const double output = run.output_tokens.value_or(0.0);
  const bool shares = run.drafted_share && !run.accepted && !run.drafted;
  const double accepted = shares ? std::round(*run.drafted_share * output) : run.accepted.value_or(0.0);
  if (shares) {
    counts.accepted_tokens = whole(accepted);
    if (gamma)  // the drafts of a rounded rate would not be whole rounds
      counts.drafted_tokens = whole(*gamma * (output - accepted));
    else if (run.rate.value_or(0.0) > 0.0)
      counts.drafted_tokens = whole(std::round(accepted / *run.rate));
  }
  const bool drafted = shares || (run.drafted.value_or(0.0) > 0.0 && run.accepted);
  if (counts.steps <= 0 && !run.length && drafted && output > accepted) {
    counts.steps = whole(std::round(output - accepted)).value_or(0);  // each emits one that was not drafted
    counts.steps_estimated = true;
  }
  if (counts.steps <= 0) return std::nullopt;
  return counts;
}

void set_stated_acceptance(const StatedRun& run, Observation& observation, LogContents& contents) {
  const auto length = length_of(run);
  auto gamma = gamma_of(run, length);
  if (length && *length < 1.0) contradicts(run, "acceptance length", *length, "must be at least 1");
  if (run.rate && *run.rate > 1.0) contradicts(run, "acceptance rate", *run.rate, "must be at most 1");
  if (run.rejections && run.accepted) {  // of drafts checked up to the first rejection: count_rejected_rounds
    observation.gamma = stated_count(run, "draft length", gamma);
    observation.acceptance = AcceptanceCounts{.accepted_tokens = stated_count(run, "accepted", run.accepted),
                                              .steps_estimated = true,
                                              .generated_tokens = whole(*run.accepted + *run.rejections)};
    return;
  }
  auto counts = counts_of_stated(run, gamma);
  if (counts) {
    const bool enough = counts->drafted_tokens && counts->steps >= enough_steps;
    if (!gamma && !run.adaptive && enough && *counts->drafted_tokens % counts->steps == 0) {
      gamma = static_cast<double>(*counts->drafted_tokens) / static_cast<double>(counts->steps);
    }
    if (!run.positions.empty()) set_positions(*counts, run.positions, whole(gamma), std::nullopt, run.line);
    if (counts->accepted_tokens) fit_to_total(*counts);
  }
  observation.gamma = stated_count(run, "draft length", gamma);
  if (observation.gamma && *observation.gamma > max_positions) {
    contradicts(run, "draft length", *gamma, fmt::format("must be at most {}", max_positions));
  }
  if (counts && (counts->accepted_tokens || !counts->accepted_at.empty())) {
    check_counts(*counts, observation.gamma, run.line, contents);
    check_printed_length(*counts, run.length, two_digits + (counts->steps_estimated ? length.value_or(0.0) : 0.0),
                         run.line, contents);
    observation.acceptance = std::move(counts);
  } else {
    if (length && observation.gamma && *length > static_cast<double>(*observation.gamma) + length_without_draft) {
      contradicts(run, "acceptance length", *length, fmt::format("at most {} are drafted", *observation.gamma));
    }
    observation.acceptance_length = length;
    if (!length) observation.acceptance_rate = run.rate;
  }
}

void set_stated_times(const StatedRun& run, Observation& observation) {
  ObservedTimes& times = observation.times;
  times.duration_s = run.duration_s;
  times.output_tokens_per_s = run.output_tokens_per_s;
  times.ttft_ms = run.ttft_ms;
  times.request_rate_per_s = run.request_rate_per_s;
  times.served_requests_per_s = run.served_requests_per_s;
  times.tpot_ms = run.tpot_ms;
  if (!times.tpot_ms && run.request_tokens_per_s.value_or(0.0) > 0.0)
    times.tpot_ms = 1000.0 / *run.request_tokens_per_s;
  times.iteration_ms = run.iteration_ms;
  set_iteration(observation);
}

}  // namespace

void set_chunk_length(const StatedRun& run, Observation& observation, LogContents& contents) {
  constexpr double similar = 0.2;  // medians, and chunks without tokens at both ends
  if (observation.acceptance || observation.acceptance_length || observation.decoding == Decoding::plain) return;
  const double tokens = run.chunk_tokens.value_or(0.0), output = run.output_tokens.value_or(0.0);
  if (!(tokens > speculative_chunk) || std::abs(tokens * run.chunks.value_or(0.0) - output) > similar * output) return;
  observation.acceptance_length = tokens;
  warn_once(contents, "W10", run.line,
            "the acceptance length is an estimate: the tokens of a streamed chunk, if each chunk is an iteration");
}

void set_iteration(Observation& observation) {
  ObservedTimes& times = observation.times;
  if (times.iteration_ms || !times.tpot_ms) return;
  if (observation.decoding == Decoding::plain) times.iteration_ms = times.tpot_ms;
  const auto length = observation.acceptance ? tokens_per_step(*observation.acceptance) : observation.acceptance_length;
  if (observation.decoding == Decoding::speculative && length) times.iteration_ms = *times.tpot_ms * *length;
}

std::optional<double> gamma_of_rate(double length, double rate) {
  return rate > 0.0 ? whole_near((length - 1.0) / rate) : std::nullopt;
}

void set_acceptance_length(Observation& observation, double length) {
  observation.acceptance_length = length;
  set_iteration(observation);
}

Observation observation_of(const StatedRun& run, Decoding decoding, LogContents& contents) {
  Observation observation{
      .line = run.line,
      .span = Span::run,
      .decoding = decoding == Decoding::unknown ? decoding_of_stated(run, length_of(run)) : decoding,
      .requests = run.requests ? run.requests : run.concurrency,
      .concurrency = run.concurrency,
      .completed_requests = stated_count(run, "completed", run.completed),
      .failed_requests = stated_count(run, "failed", run.failed)};
  if (observation.decoding == Decoding::speculative) set_stated_acceptance(run, observation, contents);
  if (observation.decoding == Decoding::speculative && run.adaptive) observation.adaptive = true;
  set_chunk_length(run, observation, contents);
  set_stated_times(run, observation);
  observation.stratum.temperature = run.temperature;
  set_lengths(run.prompt_tokens, run.output_tokens, observation.stratum);
  check_failures(observation, contents);
  return observation;
}

namespace {

/// Counters without the steps, and perhaps the acceptance length of a moment: with a draft length they are the drafted
/// tokens over it.
void count_steps(Observation& run, LogContents& contents) {
  if (!run.acceptance || run.acceptance->steps > 0 || !run.acceptance->steps_estimated) return;
  AcceptanceCounts& counts = *run.acceptance;
  const auto drafted = static_cast<double>(counts.drafted_tokens.value_or(0));
  if (!(drafted > 0.0)) return;
  if (!run.gamma || run.adaptive.value_or(false)) {
    warn_once(contents, "W23", run.line,
              fmt::format("{:.3g} % accepted is no acceptance length without K: state the draft length K{}",
                          100.0 * static_cast<double>(counts.accepted_tokens.value_or(0)) / drafted,
                          run.acceptance_length ? "; the length is that of the last iteration only" : ""));
    return;
  }
  counts.steps = std::max<std::int64_t>(std::llround(drafted / static_cast<double>(*run.gamma)), 1);
  counts.steps_estimated = drafted != static_cast<double>(counts.steps * *run.gamma);
  run.acceptance_length.reset();
  run.times.iteration_ms.reset();
  set_iteration(run);
}

}  // namespace

void tell_rates(LogContents& contents) {
  count_rejected_rounds(contents);
  for (Observation& run : contents.observations) {
    count_steps(run, contents);
    fit_steps(run, run.gamma.value_or(0));
    if (!run.acceptance_rate || run.acceptance || run.acceptance_length) continue;
    if (run.gamma && !run.adaptive.value_or(false)) {
      set_acceptance_length(run, 1.0 + *run.acceptance_rate * static_cast<double>(*run.gamma));
      warn_once(contents, "W20", run.line, length_of_rate);
    } else {
      warn_once(contents, "W23", run.line,
                fmt::format("{:.3g} % accepted is no acceptance length {}", 100.0 * *run.acceptance_rate,
                            run.gamma ? "where drafts end early: state the number of drafts"
                                      : "without K: state the draft length K"));
    }
  }
}

void warn_of_totals(std::int64_t line, LogContents& contents) {
  warn_once(contents, "W12", line,
            "tok/s may be of all requests together or of each: only their ratios count, not the times");
}

void warn_of_range(std::string_view range, std::int64_t line, LogContents& contents) {
  warn_once(contents, "W20", line, fmt::format("acceptance is estimated by the middle of a range: \"{}\"", range));
}

void read_stated(const JsonFields& record, std::span<const StatedKey> keys, StatedRun& run) {
  for (const StatedKey& key : keys) {
    std::optional<double>& field = run.*key.field;
    const JsonValue* found = record.json().find(key.key);
    const bool ignored = found == nullptr || (found->is_number() && found->number() < 0.0) ||
                         (found->is_string() && !parse_real(found->string()));
    if (field || ignored) continue;
    const auto value = record.real(key.key);
    if (value) field = *value * key.unit;
  }
}

std::ptrdiff_t stated_keys_of(const JsonValue& value, std::span<const StatedKey> keys) {
  if (!value.is_object()) return 0;
  return std::ranges::count_if(keys, [&](const StatedKey& key) { return value.contains(key.key); });
}

}  // namespace foredraft::logs
