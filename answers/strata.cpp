// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

#include "answers/advice_steps.hpp"
#include "answers/run_groups.hpp"
#include "core/readable.hpp"
#include "logs/acceptance.hpp"

namespace foredraft::answers {
namespace {

constexpr double min_stratum_steps = 200.0;  // as many as a fit needs
constexpr std::int64_t min_request_steps = 20;
constexpr std::size_t min_requests = 10;
constexpr std::size_t longest_stratum_name = 24;
constexpr double shortest_context = 512.0;

using ObservationList = std::vector<logs::Observation>;

/// Speculative observations of single requests and of runs with counted acceptance. `windows`: also windows, which mix
/// requests but state a mean context length.
ObservationList counted_observations(std::span<const logs::ObservedLog> logs, const std::optional<std::int64_t>& gamma,
                                     bool windows) {
  ObservationList counted;
  for (const logs::ObservedLog& log : logs) {
    const auto each = drafted_per_step(log.contents.observations);
    for (const logs::Observation& one : log.contents.observations) {
      const bool steps = one.acceptance && one.acceptance->steps > 0 && one.acceptance->accepted_tokens;
      const bool known = !gamma || (one.gamma ? one.gamma : each) == gamma;
      const bool wanted = one.decoding == logs::Decoding::speculative && known;
      if (steps && wanted && (windows || one.span != logs::Span::window)) counted.push_back(one);
    }
  }
  return counted;
}

/// Position in the order of the dimension, and name.
using StratumKey = std::pair<double, std::string>;

std::optional<StratumKey> category_of(const logs::Observation& one) {
  if (!one.stratum.category) return std::nullopt;
  return StratumKey{0.0, readable(*one.stratum.category, longest_stratum_name)};
}

std::optional<StratumKey> reasoning_of(const logs::Observation& one) {
  if (!one.stratum.reasoning) return std::nullopt;
  return StratumKey{0.0, *one.stratum.reasoning ? "on" : "off"};
}

std::string tokens_text(double tokens) {
  return tokens < 1024.0 ? fmt::format("{:.0f}", tokens) : fmt::format("{:.0f}k", tokens / 1024.0);
}

bool is_context(const std::optional<double>& tokens) { return tokens && *tokens >= 0.0 && std::isfinite(*tokens); }

/// Ranges between powers of two.
std::optional<StratumKey> context_of(const logs::Observation& one) {
  const double tokens = one.stratum.context_tokens.value_or(-1.0);
  if (!(tokens >= 0.0) || !std::isfinite(tokens)) return std::nullopt;
  if (tokens < shortest_context) return StratumKey{0.0, fmt::format("below {}", tokens_text(shortest_context))};
  const double from = std::exp2(std::floor(std::log2(tokens)));
  return StratumKey{from, fmt::format("{} to {}", tokens_text(from), tokens_text(2.0 * from))};
}

void add_dimension(std::string_view dimension, const ObservationList& counted, const auto& key_of,
                   std::vector<StratumTokens>& strata) {
  std::map<StratumKey, ObservationList> groups;
  for (const logs::Observation& one : counted) {
    if (const auto key = key_of(one)) groups[*key].push_back(one);
  }
  std::vector<StratumTokens> found;
  for (const auto& [key, group] : groups) {
    double steps = 0.0;
    for (const logs::Observation& one : group) steps += static_cast<double>(one.acceptance->steps);
    if (steps < min_stratum_steps) continue;
    found.push_back({std::string(dimension), key.second, group.size(), steps, *logs::acceptance_length(group)});
  }
  if (found.size() < 2) return;
  if (dimension != "context") {
    std::ranges::stable_sort(found, {}, [](const StratumTokens& one) { return one.tokens.mean; });
  }
  strata.insert(strata.end(), found.begin(), found.end());
}

/// Quantile of a sorted list, interpolated between two values.
double value_at(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

std::vector<StratumTokens> tokens_by_stratum(std::span<const logs::ObservedLog> logs,
                                             const std::optional<std::int64_t>& gamma) {
  const ObservationList counted = counted_observations(logs, gamma, false);
  std::vector<StratumTokens> strata;
  add_dimension("category", counted, category_of, strata);
  add_dimension("reasoning", counted, reasoning_of, strata);
  if (!counted.empty()) {
    add_dimension("context", counted, context_of, strata);
    return strata;
  }
  const ObservationList windows = counted_observations(logs, gamma, true);
  std::vector<double> contexts;
  for (const logs::Observation& one : windows) {
    if (is_context(one.stratum.context_tokens)) contexts.push_back(*one.stratum.context_tokens);
  }
  const std::vector<double> levels = context_levels(std::move(contexts));
  const auto level_key = [&](const logs::Observation& one) -> std::optional<StratumKey> {
    if (!is_context(one.stratum.context_tokens)) return std::nullopt;
    const double level = level_of(*one.stratum.context_tokens, levels);
    return StratumKey{level, "from " + token_count_text(level)};
  };
  add_dimension("context", windows, level_key, strata);
  return strata;
}

std::optional<RequestSpread> spread_of_requests(std::span<const logs::ObservedLog> logs,
                                                const std::optional<std::int64_t>& gamma) {
  std::vector<double> lengths;
  for (const logs::Observation& one : counted_observations(logs, gamma, false)) {
    if (one.span != logs::Span::request || one.acceptance->steps < min_request_steps) continue;
    lengths.push_back(1.0 + static_cast<double>(*one.acceptance->accepted_tokens) /
                                static_cast<double>(one.acceptance->steps));
  }
  if (lengths.size() < min_requests) return std::nullopt;
  std::sort(lengths.begin(), lengths.end());
  return RequestSpread{lengths.size(), value_at(lengths, 0.1), value_at(lengths, 0.5), value_at(lengths, 0.9)};
}

}  // namespace foredraft::answers
