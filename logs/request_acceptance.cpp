// SPDX-License-Identifier: Apache-2.0
#include "logs/request_acceptance.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/numbers.hpp"
#include "logs/acceptance.hpp"

namespace foredraft::logs {
namespace {

std::optional<std::int64_t> either(const JsonFields& steps, std::string_view name, std::string_view other) {
  return steps.has(name) ? steps.count(name) : steps.count(other);
}

void require_equal(const JsonFields& steps, std::string_view key, std::int64_t printed, std::int64_t counted) {
  if (printed != counted) steps.refuse(key, std::to_string(printed), fmt::format("the steps add up to {}", counted));
}

/// The most detailed of what the record holds.
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
  const auto found = record.json().find(key);
  if (found == record.json().end() || !found->is_object()) return record.counts(key);
  const JsonFields entries = *record.object(key);
  std::vector<std::int64_t> histogram;
  for (const auto& entry : found->items()) {
    const auto length = parse_integer(entry.key());
    if (!length || *length < 0 || *length > max_positions) {
      entries.refuse(entry.key(), "no length", fmt::format("must be a whole number from 0 to {}", max_positions));
    }
    const auto at = static_cast<std::size_t>(*length);
    if (histogram.size() <= at) histogram.resize(at + 1, 0);
    histogram[at] = entries.count(entry.key()).value_or(0);
  }
  return histogram;
}

void read_request_acceptance(const JsonFields& steps, Observation& observation, LogContents& contents) {
  observation.gamma = steps.count("num_spec_tokens");
  if (observation.gamma.value_or(0) > max_positions) {
    steps.refuse("num_spec_tokens", std::to_string(*observation.gamma),
                 fmt::format("must be at most {}", max_positions));
  }
  note(contents.settings.gamma, observation.gamma);
  AcceptanceCounts counts = detailed_counts(steps, observation);
  const auto printed_steps = steps.count("num_spec_steps");
  const auto accepted = either(steps, "num_accepted_draft_tokens", "total_accepted_draft_tokens");
  if (counts.steps > 0) {
    if (printed_steps) require_equal(steps, "num_spec_steps", *printed_steps, counts.steps);
    if (accepted) require_equal(steps, "num_accepted_draft_tokens", *accepted, *counts.accepted_tokens);
  } else {
    counts = {.steps = printed_steps.value_or(0), .accepted_tokens = accepted};
  }
  if (const auto drafted = either(steps, "num_draft_tokens", "total_draft_tokens")) {
    if (counts.drafted_tokens) require_equal(steps, "num_draft_tokens", *drafted, *counts.drafted_tokens);
    counts.drafted_tokens = drafted;
  }
  check_counts(counts, observation.gamma, steps.line(), contents);
  check_printed_length(counts, steps.real("mean_acceptance_length"), two_digits, steps.line(), contents);
  observation.acceptance = std::move(counts);
}

}  // namespace foredraft::logs
