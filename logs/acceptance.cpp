// SPDX-License-Identifier: Apache-2.0
#include "logs/acceptance.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/numbers.hpp"
#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

constexpr std::size_t min_clusters = 10;

bool counted(const Observation& observation) {
  return observation.acceptance && observation.acceptance->steps > 0 && observation.acceptance->accepted_tokens;
}

/// Standard error of `ratio`, accepted / steps, from `clusters` independent observations.
double error_between(std::span<const Observation> observations, double ratio, double steps, double clusters) {
  double squares = 0.0;
  for (const Observation& observation : observations) {
    if (!counted(observation)) continue;
    const double off = static_cast<double>(*observation.acceptance->accepted_tokens) -
                       ratio * static_cast<double>(observation.acceptance->steps);
    squares += off * off;
  }
  return std::sqrt(squares * clusters / (clusters - 1.0)) / steps;
}

/// Standard error of `ratio` from independent steps: E[X^2] is the sum of (2 i - 1) P(X >= i) over positions i = 1, 2,
/// ... NaN if drafts were accepted and their positions were not logged.
double error_within(std::span<const Observation> observations, double ratio, double steps) {
  double squares = 0.0;
  for (const Observation& observation : observations) {
    if (!counted(observation)) continue;
    if (observation.acceptance->accepted_at.empty() && *observation.acceptance->accepted_tokens > 0)
      return std::numeric_limits<double>::quiet_NaN();
    double weight = 1.0;
    for (const std::int64_t at : observation.acceptance->accepted_at) {
      squares += weight * static_cast<double>(at);
      weight += 2.0;
    }
  }
  return std::sqrt(std::max(0.0, squares / steps - ratio * ratio) / steps);
}

}  // namespace

std::optional<Estimate> acceptance_length(std::span<const Observation> observations) {
  double steps = 0.0;
  double accepted = 0.0;
  std::size_t clusters = 0;
  for (const Observation& observation : observations) {
    if (!counted(observation)) continue;
    steps += static_cast<double>(observation.acceptance->steps);
    accepted += static_cast<double>(*observation.acceptance->accepted_tokens);
    ++clusters;
  }
  if (clusters == 0) return std::nullopt;
  const double ratio = accepted / steps;
  const double error = clusters >= min_clusters
                           ? error_between(observations, ratio, steps, static_cast<double>(clusters))
                           : error_within(observations, ratio, steps);
  return Estimate{.mean = 1.0 + ratio, .standard_error = error};
}

namespace {

std::string_view present(const JsonFields& steps, std::string_view name, std::string_view other) {
  return steps.has(name) ? name : other;
}

void require_equal(const JsonFields& steps, std::string_view key, std::int64_t printed, std::int64_t counted) {
  if (printed != counted) steps.reject(key, std::to_string(printed), fmt::format("the steps add up to {}", counted));
}

/// The most detailed counts that the record has.
AcceptanceCounts detailed_counts(const JsonFields& steps, Observation& observation) {
  const std::vector<std::int64_t> accepted = steps.counts("per_step_accepted");
  const std::vector<std::int64_t> histogram = histogram_of(steps, "acceptance_histogram");
  if (accepted.empty()) return counts_of_histogram(histogram, observation.gamma, steps.line());
  AcceptanceCounts counts = counts_of_steps(accepted, steps.counts("per_step_drafted"), steps.line());
  observation.trace.by_step.assign(accepted.begin(), accepted.end());
  return counts;
}

}  // namespace

std::vector<std::int64_t> histogram_of(const JsonFields& record, std::string_view key) {
  const JsonValue* found = record.json().find(key);
  if (found == nullptr || !found->is_object()) return record.counts(key);
  const JsonFields entries = *record.object(key);
  std::vector<std::int64_t> histogram;
  for (const JsonValue& entry : *found) {
    const auto length = parse_integer(entry.key());
    if (!length || *length < 0 || *length > max_positions) {
      entries.reject(entry.key(), "not a number of tokens",
                     fmt::format("must be a whole number from 0 to {}", max_positions));
    }
    const auto at = static_cast<std::size_t>(*length);
    if (histogram.size() <= at) histogram.resize(at + 1, 0);
    histogram[at] = entries.required_count(entry.key());
  }
  return histogram;
}

bool lacks_acceptance(const Observation& run, const LogContents& contents) {
  if (run.decoding != Decoding::plain) return false;
  if (run.span != Span::window) return contents.format == "bench-serving" && contents.engine == "sglang";
  return contents.engine == "vllm" || contents.engine == "lmdeploy" || contents.engine == "sglang";
}

void draft_uncounted(Observation& run) {
  if (run.decoding == Decoding::plain && run.span == Span::window) run.times.iteration_ms.reset();
  run.decoding = Decoding::speculative;
}

void read_request_acceptance(const JsonFields& steps, Observation& observation, LogContents& contents) {
  observation.gamma = steps.count("num_spec_tokens");
  if (observation.gamma.value_or(0) > max_positions) {
    steps.reject("num_spec_tokens", std::to_string(*observation.gamma),
                 fmt::format("must be at most {}", max_positions));
  }
  note(contents.settings.gamma, observation.gamma);
  AcceptanceCounts counts = detailed_counts(steps, observation);
  const auto printed_steps = steps.count("num_spec_steps");
  const auto accepted_key = present(steps, "num_accepted_draft_tokens", "total_accepted_draft_tokens");
  const auto accepted = steps.count(accepted_key);
  if (counts.steps > 0) {
    if (printed_steps) require_equal(steps, "num_spec_steps", *printed_steps, counts.steps);
    if (accepted) require_equal(steps, accepted_key, *accepted, *counts.accepted_tokens);
  } else {
    counts = {.steps = printed_steps.value_or(0), .accepted_tokens = accepted};
  }
  const auto drafted_key = present(steps, "num_draft_tokens", "total_draft_tokens");
  if (const auto drafted = steps.count(drafted_key)) {
    if (counts.drafted_tokens) require_equal(steps, drafted_key, *drafted, *counts.drafted_tokens);
    counts.drafted_tokens = drafted;
  }
  check_counts(counts, observation.gamma, steps.line(), contents);
  check_printed_length(counts, steps.real("mean_acceptance_length"), two_digits, steps.line(), contents);
  observation.acceptance = std::move(counts);
}

namespace {

/// Maximum error of a count computed from a fraction that is printed in full, up to 10^11 steps.
constexpr double whole_count = 1e-4;
/// Tolerance in steps: a line may be logged in the middle of a step.
constexpr double steps_under_way = 1.0;
/// Maximum relative difference between a mean of requests and that of all steps that is not reported.
constexpr double same_mean = 0.005;

void require_positions(std::int64_t positions, std::int64_t line) {
  if (positions > max_positions) {
    reject({.line = line,
            .key = "accepted",
            .text = fmt::format("{} drafts in one step", positions),
            .why = fmt::format("must be at most {}", max_positions)});
  }
}

/// Half of the last digit of the most precisely printed of `shares`; 0 if each is that of an integer count, as
/// fractions printed in full are.
double rounding_of(std::span<const double> shares, double steps) {
  const bool whole_counts = std::all_of(shares.begin(), shares.end(), [steps](double share) {
    return std::abs(share * steps - std::round(share * steps)) < whole_count;
  });
  if (whole_counts) return 0.0;
  int digits = 0;
  for (const double share : shares) {
    const std::string text = fmt::format("{}", share);  // "0.0125", "1.25e-05"
    const std::size_t mantissa = std::min(text.find('e'), text.size());
    const std::size_t point = std::min(text.find('.'), mantissa);
    int exponent = 0;
    if (mantissa < text.size()) std::from_chars(text.data() + mantissa + 1, text.data() + text.size(), exponent);
    const auto decimals = static_cast<int>(mantissa - std::min(point + 1, mantissa));
    digits = std::max(digits, decimals - exponent);
  }
  return 0.5 * std::pow(10.0, -static_cast<double>(digits));
}

void check_tokens(const AcceptanceCounts& counts, std::optional<std::int64_t> gamma, std::int64_t line) {
  if (!counts.drafted_tokens) return;
  if (counts.accepted_tokens && *counts.accepted_tokens > *counts.drafted_tokens) {
    reject({.line = line,
            .key = "accepted",
            .text = fmt::format("{} tokens accepted of {} drafted", *counts.accepted_tokens, *counts.drafted_tokens),
            .why = "must be at most those drafted",
            .suggestion = "check whether the log was edited or two runs were mixed"});
  }
  if (!gamma || counts.steps_estimated) return;
  const auto drafted = static_cast<double>(*counts.drafted_tokens);
  if (drafted > static_cast<double>(counts.steps) * static_cast<double>(*gamma)) {
    reject({.line = line,
            .key = "drafted",
            .text = fmt::format("{} tokens", *counts.drafted_tokens),
            .why = fmt::format("{} steps draft at most {} each", counts.steps, *gamma)});
  }
}

void check_positions(const AcceptanceCounts& counts, std::int64_t line, LogContents& contents) {
  double before = static_cast<double>(counts.steps);
  double sum = 0.0;
  const double slack = 2.0 * counts.accepted_at_rounding + steps_under_way;
  for (std::size_t i = 0; i < counts.accepted_at.size(); ++i) {
    const auto here = static_cast<double>(counts.accepted_at[i]);
    if (here < 0.0 || here > before + slack) {
      reject({.line = line,
              .key = fmt::format("position {}", i + 1),
              .text = i == 0 ? fmt::format("accepted in {} of {} steps", here, before)
                             : fmt::format("accepted in {} steps, position {} in {}", here, i, before),
              .why = "a draft is accepted only after those before it",
              .suggestion = "check whether the log gives conditional rates"});
    }
    before = here;
    sum += here;
  }
  const double accepted = static_cast<double>(counts.accepted_tokens.value_or(0));
  const double off = slack * static_cast<double>(counts.accepted_at.size());
  if (counts.accepted_tokens && !counts.accepted_at.empty() && std::abs(sum - accepted) > off) {
    warn_once(contents, "W18", line,
              fmt::format("positions add up to {} accepted tokens, {} are logged", sum, *counts.accepted_tokens));
  }
}

}  // namespace

std::int64_t sum_of_counts(std::span<const std::int64_t> counts, std::string_view key, std::int64_t line) {
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) {
    if (count < 0 || count > max_logged_count - sum) {
      reject({.line = line,
              .key = std::string(key),
              .text = fmt::format("{} and more", sum),
              .why = "the counts must add up to at most 2^53"});
    }
    sum += count;
  }
  return sum;
}

AcceptanceCounts counts_of_histogram(std::span<const std::int64_t> histogram, std::optional<std::int64_t> gamma,
                                     std::int64_t line) {
  std::size_t length = histogram.size();
  while (length > 0 && histogram[length - 1] == 0) --length;
  const auto observed = length == 0 ? 0 : static_cast<std::int64_t>(length) - 1;
  const std::int64_t positions = std::max(observed, gamma.value_or(0));
  require_positions(positions, line);
  AcceptanceCounts counts{.steps = sum_of_counts(histogram, "steps by accepted drafts", line)};
  counts.accepted_at.assign(static_cast<std::size_t>(positions), 0);
  std::int64_t at_least = 0;
  for (std::int64_t i = observed; i > 0; --i) {
    at_least += histogram[static_cast<std::size_t>(i)];
    counts.accepted_at[static_cast<std::size_t>(i - 1)] = at_least;
  }
  counts.accepted_tokens = sum_of_counts(counts.accepted_at, "accepted drafts", line);
  return counts;
}

AcceptanceCounts counts_of_steps(std::span<const std::int64_t> accepted, std::span<const std::int64_t> drafted,
                                 std::int64_t line) {
  if (!drafted.empty() && drafted.size() != accepted.size()) {
    reject({.line = line,
            .key = "per_step_drafted",
            .text = fmt::format("lists {} steps", drafted.size()),
            .why = fmt::format("per_step_accepted lists {}", accepted.size())});
  }
  std::vector<std::int64_t> accepted_histogram, drafted_histogram;
  const auto add = [line](std::vector<std::int64_t>& histogram, std::int64_t value) {
    require_positions(value, line);
    const auto at = static_cast<std::size_t>(value);
    if (histogram.size() <= at) histogram.resize(at + 1, 0);
    ++histogram[at];
  };
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    add(accepted_histogram, accepted[i]);
    if (drafted.empty()) continue;
    if (accepted[i] > drafted[i]) {
      reject({.line = line,
              .key = fmt::format("step {}", i + 1),
              .text = fmt::format("{} drafts accepted", accepted[i]),
              .why = fmt::format("{} were drafted", drafted[i])});
    }
    add(drafted_histogram, drafted[i]);
  }
  AcceptanceCounts counts = counts_of_histogram(accepted_histogram, std::nullopt, line);
  if (!drafted.empty()) {
    const AcceptanceCounts drafts = counts_of_histogram(drafted_histogram, std::nullopt, line);
    counts.drafted_tokens = drafts.accepted_tokens;
    counts.drafted_at = drafts.accepted_at;
    counts.accepted_at.resize(drafts.accepted_at.size(), 0);
  }
  return counts;
}

void fit_to_total(AcceptanceCounts& counts) {
  const auto positions = static_cast<std::int64_t>(counts.accepted_at.size());
  if (!counts.accepted_tokens || positions == 0) return;
  const auto sum = std::accumulate(counts.accepted_at.begin(), counts.accepted_at.end(), 0.0);
  if (sum > static_cast<double>(max_logged_count)) return;
  const std::int64_t rest = *counts.accepted_tokens - static_cast<std::int64_t>(sum);
  if (std::abs(static_cast<double>(rest)) > counts.accepted_at_rounding * static_cast<double>(positions)) return;
  std::vector<std::int64_t> fitted = counts.accepted_at;
  const std::int64_t sign = rest < 0 ? -1 : 1;
  for (std::int64_t i = 0; i < positions; ++i) {
    // What does not divide evenly is given to the first ones, or taken from the last ones.
    const std::int64_t at = sign > 0 ? i : positions - 1 - i;
    fitted[static_cast<std::size_t>(at)] +=
        sign * (std::abs(rest) / positions + (i < std::abs(rest) % positions ? 1 : 0));
  }
  const bool possible =
      fitted.back() >= 0 && fitted.front() <= counts.steps && std::ranges::is_sorted(fitted, std::ranges::greater{});
  if (possible) counts.accepted_at = std::move(fitted);
}

void set_positions(AcceptanceCounts& counts, std::span<const double> rates, std::optional<std::int64_t> gamma,
                   std::optional<double> rounding, std::int64_t line) {
  if (gamma && std::cmp_less(*gamma, rates.size())) rates = rates.first(static_cast<std::size_t>(*gamma));
  if (rates.empty()) return;
  require_positions(static_cast<std::int64_t>(rates.size()), line);
  const auto steps = static_cast<double>(counts.steps);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (!(rates[i] >= 0.0 && rates[i] <= 1.0)) {
      reject({.line = line,
              .key = fmt::format("position {}", i + 1),
              .text = fmt::format("accepted in a share {} of the steps", rates[i]),
              .why = "must lie between 0 and 1"});
    }
    counts.accepted_at.push_back(std::llround(rates[i] * steps));
  }
  // The count and its estimate are integers, and so is their difference.
  counts.accepted_at_rounding = std::floor((rounding ? *rounding : rounding_of(rates, steps)) * steps + 0.5);
  if (counts.steps_estimated) counts.accepted_at_rounding = std::max(counts.accepted_at_rounding, 1.0);
  fit_to_total(counts);
}

std::optional<double> tokens_per_step(const AcceptanceCounts& counts) {
  if (!counts.accepted_tokens || counts.steps <= 0) return std::nullopt;
  return 1.0 + static_cast<double>(*counts.accepted_tokens) / static_cast<double>(counts.steps);
}

std::optional<double> tokens_per_iteration(const AcceptanceCounts& counts) {
  const double steps = all_steps(counts);
  if (!counts.accepted_tokens || !(steps > 0.0)) return std::nullopt;
  return 1.0 + static_cast<double>(*counts.accepted_tokens) / steps;
}

std::optional<std::int64_t> steady_gamma(const AcceptanceCounts& counts) {
  if (counts.steps <= 0 || counts.steps_estimated || !counts.drafted_tokens) return std::nullopt;
  if (*counts.drafted_tokens == 0 || *counts.drafted_tokens % counts.steps != 0) return std::nullopt;
  return *counts.drafted_tokens / counts.steps;
}

bool drafts_vary(const AcceptanceCounts& counts, std::optional<std::int64_t> gamma) {
  constexpr double cut_short = 0.02;  // by the ends of texts
  if (!gamma || !counts.drafted_tokens || counts.steps <= 0) return false;
  const double whole = static_cast<double>(counts.steps) * static_cast<double>(*gamma);
  return static_cast<double>(*counts.drafted_tokens) < (1.0 - cut_short) * whole;
}

void fit_steps(Observation& run, std::int64_t gamma) {
  if (!run.acceptance || !run.acceptance->steps_estimated || gamma < 1) return;
  AcceptanceCounts& counts = *run.acceptance;
  const std::int64_t drafted = counts.drafted_tokens.value_or(0);
  const std::int64_t drafts = (drafted + gamma - 1) / gamma;
  const bool whole = drafted > 0 && drafted % gamma == 0 && std::abs(drafts - counts.steps) <= 1;
  if (drafts <= counts.steps && !whole) return;
  if (run.times.iteration_ms && counts.steps > 0)
    *run.times.iteration_ms *= static_cast<double>(counts.steps) / static_cast<double>(drafts);
  counts.steps = drafts;
}

void set_generated_tokens(AcceptanceCounts& counts, std::optional<double> generated) {
  constexpr double other_traffic = 0.05;  // and the ends of texts
  const auto tokens = whole(generated);
  if (!tokens || !counts.accepted_tokens) return;
  const auto emitted = static_cast<double>(counts.steps + *counts.accepted_tokens);
  if (*generated > (1.0 + other_traffic) * emitted + 1.0) counts.generated_tokens = tokens;
}

void check_counts(const AcceptanceCounts& counts, std::optional<std::int64_t> gamma, std::int64_t line,
                  LogContents& contents) {
  check_tokens(counts, gamma, line);
  check_positions(counts, line, contents);
}

void check_printed_length(const AcceptanceCounts& counts, std::optional<double> printed, double tolerance,
                          std::int64_t line, LogContents& contents) {
  const auto length = tokens_per_step(counts);
  if (!printed || !length || std::abs(*length - *printed) <= tolerance) return;
  warn_once(
      contents, "W18", line,
      fmt::format("the printed acceptance length {:.4g} differs from that of the counts, {:.4g}", *printed, *length));
}

void check_mean_length(const AcceptanceCounts& counts, std::optional<double> printed, std::int64_t line,
                       LogContents& contents) {
  const auto length = tokens_per_step(counts);
  if (!printed || !length || std::abs(*printed / *length - 1.0) <= same_mean) return;
  warn_once(contents, "W10", line,
            fmt::format("the printed acceptance length {:.4g} is a mean of requests; of all steps it is {:.4g}",
                        *printed, *length));
}

}  // namespace foredraft::logs
