// SPDX-License-Identifier: Apache-2.0
#include "sim/token/pooled/pooled_tables.hpp"

#include <fmt/format.h>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "foredraft/quantities.hpp"

namespace foredraft::sim {

std::int64_t PooledCandidates::bytes_per_entry(const CandidateScheme& scheme) {
  if (scheme.count < 2) return 0;
  const bool by_position = scheme.count > 2 && scheme.draws == CandidateDraws::without_replacement;
  return static_cast<std::int64_t>(sizeof(Pair)) + (by_position ? ResidualMass::bytes_per_entry : 0);
}

void PooledCandidates::add(const PositionDistributions& distributions) {
  double mass = 0.0;
  for (std::size_t x = 0; x < distributions.target.size(); ++x) {
    pairs_.push_back({.target = distributions.target[x], .draft = distributions.draft[x]});
    mass += std::max(0.0, distributions.target[x] - distributions.draft[x]);
  }
  first_mass_.push_back(mass);
  if (scheme_.count == 2) return;
  ResidualMass residual(distributions);
  if (scheme_.draws == CandidateDraws::without_replacement) {
    masses_.push_back(std::move(residual));
    return;
  }
  double c = 1.0;
  for (std::int64_t rejections = 2; rejections < scheme_.count; ++rejections) {
    c += mass;
    mass = residual(c);
    steps_.push_back(mass);
  }
}

namespace {

/// Per token and context: a draft slot, two alias slots; logits, noise and distribution that a pool is solved with.
constexpr std::int64_t bytes_per_entry = sizeof(DraftSlot) + 2 * sizeof(AliasSlot) + 2 * sizeof(float) + sizeof(double);
constexpr std::int64_t max_pool_bytes = std::int64_t{1} << 31U;

/// Candidates that look up m(c) at any c.
constexpr CandidateScheme any_residual{.count = 3, .draws = CandidateDraws::without_replacement};

}  // namespace

std::uint32_t acceptance_threshold(double acceptance) {
  FOREDRAFT_EXPECT(acceptance >= 0.0 && acceptance <= 1.0);
  return static_cast<std::uint32_t>(std::lround(std::ldexp(acceptance, acceptance_bits)));
}

void check_pool_size(std::int64_t contexts, std::int64_t vocabulary, const CandidateScheme& scheme) {
  check_range("vocabulary", vocabulary, 1, max_vocabulary);
  check_at_least("pool", contexts, 1);
  const std::int64_t bytes = bytes_per_entry + PooledCandidates::bytes_per_entry(scheme);
  const std::int64_t maximum = max_pool_bytes / bytes / vocabulary;
  if (contexts > maximum) {
    throw DomainError(fmt::format(
        "invalid pool={} (must be at most {} at a vocabulary of {}: a larger pool would take more than 2 GiB)",
        contexts, maximum, vocabulary));
  }
}

PooledTables::PooledTables(std::int64_t vocabulary, std::int64_t contexts, const CandidateScheme& scheme,
                           bool verifies_blocks)
    : vocabulary_(static_cast<std::size_t>(vocabulary)), scheme_(scheme), verifies_blocks_(verifies_blocks) {
  const CandidateScheme looked_up = verifies_blocks ? any_residual : scheme.tested_alike ? CandidateScheme{} : scheme;
  check_pool_size(contexts, vocabulary, looked_up);
  if (looked_up.count > 1) candidates_.emplace(looked_up);
  const std::size_t entries = vocabulary_ * static_cast<std::size_t>(contexts);
  draft_.reserve(entries);
  replacement_.reserve(entries);
  bonus_.reserve(entries);
  scratch_.resize(vocabulary_);
}

void PooledTables::add(const VerificationRule& rule, const PositionDistributions& distributions) {
  FOREDRAFT_EXPECT(distributions.target.size() == vocabulary_ && distributions.draft.size() == vocabulary_);
  const double statistic = rule.uses_row_statistic() ? rule.row_statistic(distributions) : 0.0;
  std::vector<std::uint32_t> thresholds(vocabulary_, 0);
  for (std::size_t x = 0; x < vocabulary_; ++x) {
    if (!(distributions.draft[x] > 0.0)) continue;  // never drafted
    thresholds[x] = acceptance_threshold(rule.acceptance(
        {.token = static_cast<Token>(x), .target = distributions.target[x], .draft = distributions.draft[x]},
        statistic));
  }
  const std::vector<AliasSlot> draft = alias_table(distributions.draft);
  for (std::size_t x = 0; x < vocabulary_; ++x) {
    draft_.push_back({.alias = draft[x], .accept_own = thresholds[x], .accept_alias = thresholds[alias_of(draft[x])]});
  }
  const auto append = [this](std::vector<AliasSlot>& to) {
    const std::vector<AliasSlot> table = alias_table(scratch_);
    to.insert(to.end(), table.begin(), table.end());
  };
  rule.replacement(distributions, scratch_);
  append(replacement_);
  rule.bonus(distributions.target, scratch_);
  append(bonus_);
  if (candidates_) candidates_->add(distributions);
  acceptance_sum_ += acceptance_probability(rule, distributions);
  const bool independent = scheme_.count > 1 && scheme_.draws == CandidateDraws::with_replacement;
  optimum_sum_ += independent ? sim::optimal_acceptance(distributions, scheme_.count) : unknown<double>;
  ++contexts_;
}

}  // namespace foredraft::sim
