// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/acceptance_by_position.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/drafter_cascades.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {

std::vector<double> marginal_from_conditional(std::span<const double> conditional) {
  std::vector<double> marginal;
  marginal.reserve(conditional.size());
  double product = 1.0;
  for (const double acceptance : conditional) marginal.push_back(product *= acceptance);
  return marginal;
}

std::vector<double> marginal_of(const Positional& acceptance) {
  return acceptance.marginal.empty() ? marginal_from_conditional(acceptance.conditional) : acceptance.marginal;
}

std::vector<double> conditional_of(const AcceptanceProcess& acceptance, std::int64_t gamma) {
  if (const auto* positional = std::get_if<Positional>(&acceptance)) {
    return {positional->conditional.begin(), positional->conditional.begin() + static_cast<std::ptrdiff_t>(gamma)};
  }
  if (const auto* iid = std::get_if<Iid>(&acceptance)) return decaying_acceptance(iid->alpha, 1.0, gamma);
  return {};
}

std::optional<std::vector<double>> marginal_of(const AcceptanceProcess& acceptance, std::int64_t gamma) {
  if (const auto* beta = std::get_if<BetaMixture>(&acceptance)) return marginal_of(*beta, gamma);
  const std::vector<double> conditional = conditional_of(acceptance, gamma);
  if (!conditional.empty()) return marginal_from_conditional(conditional);
  return gamma == 0 ? std::optional<std::vector<double>>(std::in_place) : std::nullopt;
}

std::vector<double> decaying_acceptance(double first, double decay, std::int64_t gamma) {
  FOREDRAFT_EXPECT(gamma >= 0 && gamma <= std::int64_t{1} << 24U);
  std::vector<double> conditional;
  conditional.reserve(static_cast<std::size_t>(gamma));
  for (std::int64_t i = 0; i < gamma; ++i) conditional.push_back(first * std::pow(decay, static_cast<double>(i)));
  return conditional;
}

double recovered_decay(double decay, double recovery) { return std::pow(decay, 1.0 - recovery); }

std::int64_t last_useful_draft(double first, double decay) {
  constexpr double negligible = 1e-20;
  constexpr std::int64_t maximum = 100'000;
  double conditional = first;
  double marginal = first;
  std::int64_t drafts = 1;
  while (drafts < maximum && marginal >= negligible) {
    conditional *= decay;
    marginal *= conditional;
    ++drafts;
  }
  return drafts;
}

namespace {

/// The factor by which acceptance falls from each position to the next; 1 for drafters whose acceptance does not fall.
double acceptance_decay(const Drafter& drafter) {
  if (const auto* block = std::get_if<BlockDrafter>(&drafter)) return block->decay;
  if (const auto* heads = std::get_if<Heads>(&drafter)) return heads->decay;
  const auto* stages = std::get_if<MlpSpeculator>(&drafter);
  return stages == nullptr ? 1.0 : recovered_decay(stages->decay, stages->recovery);
}

/// Independent drafts of i.i.d. acceptance; `drafts` entries or more.
DraftedAcceptance longest_of(const IndependentDrafts& independent, const Iid& iid, std::int64_t drafts) {
  const std::int64_t useful = last_useful_draft(iid.alpha, 1.0);
  Positional longest;
  longest.marginal = marginal_of_longest(marginal_of(iid, std::max(drafts, useful)).value(), independent.drafts);
  double before = 1.0;
  for (const double accepted : longest.marginal) {
    longest.conditional.push_back(before > 0.0 ? accepted / before : 0.0);
    before = accepted;
  }
  return {std::move(longest), useful};
}

}  // namespace

DraftedAcceptance drafted_acceptance(const AcceptanceProcess& process, const Drafter& drafter, std::int64_t drafts) {
  if (const auto* independent = std::get_if<IndependentDrafts>(&drafter)) {
    const auto* iid = std::get_if<Iid>(&process);
    const bool same = iid == nullptr || independent->drafts == 1 || iid->alpha == 1.0;
    return same ? DraftedAcceptance{process} : longest_of(*independent, *iid, drafts);
  }
  Positional drafted;
  std::optional<std::int64_t> useful;
  if (const auto* heads = std::get_if<Heads>(&drafter); heads != nullptr && !heads->accuracies.empty()) {
    drafted.conditional = heads->accuracies;
  } else if (const auto* iid = std::get_if<Iid>(&process)) {
    const double decay = acceptance_decay(drafter);
    if (decay == 1.0) return {*iid};
    useful = last_useful_draft(iid->alpha, decay);
    drafted.conditional = decaying_acceptance(iid->alpha, decay, std::max(drafts, *useful));
  } else if (const auto* positional = std::get_if<Positional>(&process)) {
    drafted = *positional;
  } else {
    return {process};
  }
  drafted.marginal = marginal_of(drafted);
  return {std::move(drafted), useful};
}

}  // namespace foredraft::analytic
