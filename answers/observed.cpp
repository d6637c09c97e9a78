// SPDX-License-Identifier: Apache-2.0
#include "answers/observed.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "core/names.hpp"

namespace foredraft::answers {

using logs::Observation;

namespace {

/// Accepted drafts by position, filled up to gamma: some logs omit the positions after the last accepted one. Empty if
/// they were not logged, or contradict the total.
std::vector<double> accepted_at(const logs::AcceptanceCounts& counts, std::int64_t gamma) {
  std::vector<double> result(counts.accepted_at.begin(), counts.accepted_at.end());
  if (result.empty() || result.size() == static_cast<std::size_t>(gamma)) return result;
  const double sum = std::accumulate(result.begin(), result.end(), 0.0);
  const bool all = counts.accepted_tokens && sum == static_cast<double>(*counts.accepted_tokens);
  if (!all || result.size() > static_cast<std::size_t>(gamma)) return {};
  result.resize(static_cast<std::size_t>(gamma), 0.0);
  return result;
}

}  // namespace

bool has_counts(const Observation& observation) {
  return observation.decoding != logs::Decoding::plain && observation.acceptance && observation.acceptance->steps > 0;
}

bool drafts_are_whole(const Observation& observation) {
  constexpr double cut_short = 0.02;  // at the ends of texts
  const auto gamma = observation.gamma.value_or(0);
  if (!has_counts(observation) || gamma < 1 || gamma > analytic::max_observed_gamma) return false;
  const logs::AcceptanceCounts& counts = *observation.acceptance;
  const double whole = static_cast<double>(counts.steps) * (1.0 - cut_short);
  if (!counts.drafted_at.empty()) return static_cast<double>(counts.drafted_at.back()) >= whole;
  return !counts.drafted_tokens || static_cast<double>(*counts.drafted_tokens) >= whole * static_cast<double>(gamma);
}

std::optional<analytic::AcceptanceCluster> counts_for_fit(const Observation& observation) {
  if (!drafts_are_whole(observation)) return std::nullopt;
  const logs::AcceptanceCounts& counts = *observation.acceptance;
  const std::int64_t gamma = *observation.gamma;
  analytic::AcceptanceCluster taken{
      .gamma = gamma,
      .steps = static_cast<double>(counts.steps),
      .accepted_at = accepted_at(counts, gamma),
      .accepted_tokens = static_cast<double>(counts.accepted_tokens.value_or(0)),
      .rounding = std::min(1.0, counts.accepted_at_rounding / static_cast<double>(counts.steps)),
      .in_time = observation.span == logs::Span::window};
  if (taken.accepted_at.empty() && !counts.accepted_tokens) return std::nullopt;
  return taken;
}

analytic::DrafterClass drafter_class(std::string_view method) {
  using analytic::DrafterClass;
  const std::string lower = lower_case(method);
  const auto names = [&](const auto& words) {
    return std::ranges::any_of(words, [&](const char* word) { return lower.find(word) != lower.npos; });
  };
  if (names(std::array{"eagle", "mtp", "nextn"})) return DrafterClass::feature_head;
  if (names(std::array{"medusa", "dflash", "parallel"})) return DrafterClass::parallel_heads;
  if (names(std::array{"ngram", "n-gram", "suffix", "lookup", "lookahead", "draft", "standalone"})) {
    return DrafterClass::text;
  }
  return DrafterClass::unknown;
}

}  // namespace foredraft::answers
