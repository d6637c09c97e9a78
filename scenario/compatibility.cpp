// SPDX-License-Identifier: Apache-2.0
#include "scenario/compatibility.hpp"

#include <algorithm>
#include <cmath>

#include "scenario/registries.hpp"

namespace foredraft::scenario {
namespace {

/// Acceptance of a draft over that of the one before it.
double decay_of(const Drafter& drafter) {
  if (const auto* block = std::get_if<BlockDrafter>(&drafter)) return block->decay;
  if (const auto* heads = std::get_if<Heads>(&drafter)) return heads->decay;
  if (const auto* stages = std::get_if<MlpSpeculator>(&drafter)) return stages->decay;
  return 1.0;
}

}  // namespace

bool has_own_acceptance(const Drafter& drafter) {
  const auto* heads = std::get_if<Heads>(&drafter);
  const bool accuracies = heads != nullptr && !heads->accuracies.empty();
  return std::holds_alternative<InputCopy>(drafter) || accuracies || decay_of(drafter) != 1.0;
}

bool goes_with(const Drafter& drafter, const AcceptanceProcess& process) {
  return std::holds_alternative<Iid>(process) || !has_own_acceptance(drafter);
}

bool forgets(const AcceptanceProcess& process) {
  return std::holds_alternative<Iid>(process) || std::holds_alternative<Positional>(process) ||
         std::holds_alternative<BetaMixture>(process);
}

bool needs_endless_text(const AcceptanceProcess& process) {
  return std::holds_alternative<Observed>(process) || std::holds_alternative<Runs>(process);
}

bool goes_with(const Drafter& drafter, const Policy& policy) {
  if (std::holds_alternative<InputCopy>(drafter)) return std::holds_alternative<ConstantGamma>(policy);
  // ConfidenceThreshold draws the acceptance of each token itself.
  return !(has_own_acceptance(drafter) && std::holds_alternative<ConfidenceThreshold>(policy));
}

bool can_stop(const Drafter& drafter) { return drafting(drafter) == Drafting::autoregressive; }

bool drafts_in_batches(const Drafter& drafter) {
  return entry_of(drafters(), drafter).process && !std::holds_alternative<InputCopy>(drafter);
}

bool has_times(const Drafter& drafter) {
  return std::holds_alternative<AutoregressiveDrafter>(drafter) || std::holds_alternative<BlockDrafter>(drafter) ||
         std::holds_alternative<Heads>(drafter);
}

std::int64_t max_gamma(const Policy& policy, const AcceptanceProcess& process) {
  return std::holds_alternative<OptimalStopping>(policy) && std::holds_alternative<BetaMixture>(process)
             ? max_known_alpha_gamma
             : max_policy_gamma;
}

std::int64_t max_text_gamma(const Drafter& drafter) {
  return std::holds_alternative<MlpSpeculator>(drafter) || std::holds_alternative<Heads>(drafter) ? max_ngram_heads
                                                                                                  : max_token_gamma;
}

std::int64_t max_draft_order(const Drafter& drafter) {
  return std::holds_alternative<MlpSpeculator>(drafter) ? max_ngram_order - 1 : max_ngram_order;
}

bool is_temperature(double temperature) { return temperature == 0.0 || temperature >= min_temperature; }

bool is_whole(double tokens) { return tokens == std::floor(tokens); }

std::optional<std::size_t> first_rise(const std::vector<double>& entries) {
  const auto rise = std::adjacent_find(entries.begin(), entries.end(), [](double a, double b) { return b > a; });
  if (rise == entries.end()) return std::nullopt;
  return static_cast<std::size_t>(rise - entries.begin()) + 1;
}

}  // namespace foredraft::scenario
