// SPDX-License-Identifier: Apache-2.0
#include "logs/observation.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

using Real = std::optional<double>;

/// The weighted mean of two values, unweighted if both weights are 0; nullopt if a value is missing.
Real mean(const Real& first, double first_weight, const Real& second, double second_weight) {
  if (!first || !second) return std::nullopt;
  if (*first == *second) return first;  // 1 request stays 1, so that it is of the same power of two
  const double sum = first_weight + second_weight;
  if (!(sum > 0.0)) return 0.5 * *first + 0.5 * *second;
  return *first * (first_weight / sum) + *second * (second_weight / sum);
}

Real sum(const Real& first, const Real& second) {
  if (!first || !second) return std::nullopt;
  return *first + *second;
}

std::optional<std::int64_t> sum(const std::optional<std::int64_t>& first, const std::optional<std::int64_t>& second) {
  if (!first || !second || *first + *second > max_logged_count) return std::nullopt;
  return *first + *second;
}

/// Adds by position, where one is shorter as if it had zeros: nothing was drafted there. Empty if either is empty or a
/// sum is above max_logged_count.
std::vector<std::int64_t> sum(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& second) {
  if (first.empty() || second.empty()) return {};
  std::vector<std::int64_t> all(std::max(first.size(), second.size()), 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = (i < first.size() ? first[i] : 0) + (i < second.size() ? second[i] : 0);
    if (all[i] > max_logged_count) return {};
  }
  return all;
}

std::optional<AcceptanceCounts> sum(const std::optional<AcceptanceCounts>& first,
                                    const std::optional<AcceptanceCounts>& second) {
  if (!first || !second || first->steps + second->steps > max_logged_count) return std::nullopt;
  return AcceptanceCounts{.steps = first->steps + second->steps,
                          .drafted_tokens = sum(first->drafted_tokens, second->drafted_tokens),
                          .accepted_tokens = sum(first->accepted_tokens, second->accepted_tokens),
                          .accepted_at = sum(first->accepted_at, second->accepted_at),
                          .accepted_at_rounding = first->accepted_at_rounding + second->accepted_at_rounding,
                          .drafted_at = sum(first->drafted_at, second->drafted_at),
                          .steps_estimated = first->steps_estimated || second->steps_estimated,
                          .generated_tokens = sum(first->generated_tokens, second->generated_tokens)};
}

struct Weights {
  double seconds, steps, tokens;
};

Weights weights_of(const Observation& observation) {
  const double seconds = observation.times.duration_s.value_or(0.0);
  if (!observation.acceptance) {
    // Without counts and a length every token is taken as a step.
    const double tokens = seconds * observation.times.output_tokens_per_s.value_or(0.0);
    return {.seconds = seconds, .steps = tokens / observation.acceptance_length.value_or(1.0), .tokens = tokens};
  }
  const AcceptanceCounts& counts = *observation.acceptance;
  const auto accepted = static_cast<double>(counts.accepted_tokens.value_or(0));
  const double steps = all_steps(counts);
  return {.seconds = seconds, .steps = steps, .tokens = steps + accepted};
}

ObservedTimes mean(const ObservedTimes& first, const Weights& a, const ObservedTimes& second, const Weights& b) {
  return {
      .duration_s = sum(first.duration_s, second.duration_s),
      .output_tokens_per_s = mean(first.output_tokens_per_s, a.seconds, second.output_tokens_per_s, b.seconds),
      .prompt_tokens_per_s = mean(first.prompt_tokens_per_s, a.seconds, second.prompt_tokens_per_s, b.seconds),
      .iteration_ms = mean(first.iteration_ms, a.steps, second.iteration_ms, b.steps),
      .draft_ms = mean(first.draft_ms, a.steps, second.draft_ms, b.steps),
      .verification_ms = mean(first.verification_ms, a.steps, second.verification_ms, b.steps),
      .tpot_ms = mean(first.tpot_ms, a.tokens, second.tpot_ms, b.tokens),
      .ttft_ms = mean(first.ttft_ms, 0.0, second.ttft_ms, 0.0),
      .request_rate_per_s = first.request_rate_per_s,
      .served_requests_per_s = mean(first.served_requests_per_s, a.seconds, second.served_requests_per_s, b.seconds)};
}

/// Exponent of the largest power of two up to `number`; -1: not logged, below 1 or infinite.
int power_of_two(const Real& number) {
  return number && *number >= 1.0 && std::isfinite(*number) ? std::ilogb(*number) : -1;
}

/// The members that are equal in all pooled observations; others are averaged, or dropped if they differ (request).
auto without_lengths(const Stratum& stratum) {
  return std::tie(stratum.temperature, stratum.top_p, stratum.draft_sampling, stratum.reasoning, stratum.category);
}

}  // namespace

std::string to_string(const DraftTree& tree) {
  return fmt::format("{} steps, topk {}, {} draft tokens", tree.steps, tree.width, tree.tokens);
}

double all_steps(const AcceptanceCounts& counts) {
  const auto drafting = static_cast<double>(counts.steps);
  if (!counts.generated_tokens || !counts.accepted_tokens) return drafting;
  return std::max(drafting, static_cast<double>(*counts.generated_tokens - *counts.accepted_tokens));
}

bool may_be_pooled(const Observation& first, const Observation& second) {
  return first.span == second.span && first.decoding == second.decoding && first.gamma == second.gamma &&
         first.adaptive == second.adaptive && first.tree == second.tree && first.drafter == second.drafter &&
         first.partial == second.partial && first.concurrency == second.concurrency &&
         first.offered_requests == second.offered_requests &&
         without_lengths(first.stratum) == without_lengths(second.stratum) &&
         power_of_two(first.stratum.context_tokens) == power_of_two(second.stratum.context_tokens) &&
         first.cuda_graphs == second.cuda_graphs && first.times.request_rate_per_s == second.times.request_rate_per_s &&
         first.acceptance.has_value() == second.acceptance.has_value() &&
         power_of_two(first.requests) == power_of_two(second.requests);
}

Observation pooled(const Observation& first, Observation second) {
  const Weights a = weights_of(first);
  const Weights b = weights_of(second);
  second.trace = {};
  second.acceptance = sum(first.acceptance, second.acceptance);
  second.acceptance_length = mean(first.acceptance_length, a.steps, second.acceptance_length, b.steps);
  second.acceptance_rate = mean(first.acceptance_rate, a.steps, second.acceptance_rate, b.steps);
  second.requests = mean(first.requests, a.seconds, second.requests, b.seconds);
  second.completed_requests = sum(first.completed_requests, second.completed_requests);
  second.failed_requests = sum(first.failed_requests, second.failed_requests);
  second.waiting = mean(first.waiting, a.seconds, second.waiting, b.seconds);
  second.times = mean(first.times, a, second.times, b);
  if (first.stratum.request != second.stratum.request) second.stratum.request = std::nullopt;
  second.stratum.context_tokens = mean(first.stratum.context_tokens, a.tokens, second.stratum.context_tokens, b.tokens);
  second.stratum.output_tokens = mean(first.stratum.output_tokens, 0.0, second.stratum.output_tokens, 0.0);
  return second;
}

}  // namespace foredraft::logs
