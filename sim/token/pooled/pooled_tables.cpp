// SPDX-License-Identifier: Apache-2.0
#include "sim/token/pooled/pooled_tables.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "foredraft/quantities.hpp"

namespace foredraft::sim {

std::int64_t PooledCandidates::bytes_per_entry(const CandidateScheme& scheme) {
  if (scheme.count < 2 || scheme.tested_alike) return 0;
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

/// Appends the alias table of a distribution with a ratio for each token; the ratio is 0 if the denominator is 0.
void append_slots(std::span<const double> distribution, std::span<const double> numerators,
                  std::span<const double> denominators, std::vector<BlockSlot>& to) {
  const auto ratio = [&](std::size_t x) { return denominators[x] > 0.0 ? numerators[x] / denominators[x] : 0.0; };
  const std::vector<AliasSlot> table = alias_table(distribution);
  for (std::size_t x = 0; x < table.size(); ++x) {
    to.push_back({.alias = table[x], .ratio_own = ratio(x), .ratio_alias = ratio(alias_of(table[x]))});
  }
}

}  // namespace

void PooledBlocks::add(const PositionDistributions& distributions) {
  append_slots(distributions.draft, distributions.target, distributions.draft, draft_);
  std::vector<double> residual(distributions.target.size());
  write_residual(distributions, 1.0, residual);
  append_slots(residual, distributions.draft, distributions.target, replacement_);
  const ResidualMass& mass = residuals_.emplace_back(distributions, ResidualMass::Draws::yes);
  masses_.push_back(0.0);
  for (std::size_t i = 1; i <= grid + 1; ++i) {
    const double ratio = static_cast<double>(i) / static_cast<double>(grid);
    masses_.push_back(ratio * mass(1.0 / ratio));
  }
}

bool PooledBlocks::keeps(std::size_t context, double ratio, double uniform) const {
  const double place = ratio * static_cast<double>(grid);
  const auto i = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(i);
  const double* at = masses_.data() + context * (grid + 2) + i;
  // U < S / (S + 1 - P)
  const auto below = [&](double mass) { return uniform * (mass + (1.0 - ratio)) < mass; };
  if (!below(at[0] + share * (at[1] - at[0]))) return false;
  const double before = i == 0 ? 0.0 : at[0] + share * (at[0] - at[-1]);
  const double after = at[1] - (1.0 - share) * (at[2] - at[1]);
  return below(std::max({0.0, before, after})) || below(ratio * residuals_[context](1.0 / ratio));
}

namespace {

/// Per token and context: a draft slot, two alias slots, and the logits, noise and distribution used to solve the pool.
constexpr std::int64_t bytes_per_entry = sizeof(DraftSlot) + 2 * sizeof(AliasSlot) + 2 * sizeof(float) + sizeof(double);
constexpr std::int64_t max_pool_bytes = std::int64_t{1} << 31U;
}  // namespace

std::uint32_t acceptance_threshold(double acceptance) {
  FOREDRAFT_EXPECT(acceptance >= 0.0 && acceptance <= 1.0);
  return static_cast<std::uint32_t>(std::lround(std::ldexp(acceptance, acceptance_bits)));
}

void check_pool_size(std::int64_t contexts, std::int64_t vocabulary, const CandidateScheme& scheme,
                     bool verifies_blocks) {
  check_range("vocabulary", vocabulary, 1, max_vocabulary);
  check_at_least("pool", contexts, 1);
  const std::int64_t bytes =
      bytes_per_entry + (verifies_blocks ? PooledBlocks::bytes_per_entry : PooledCandidates::bytes_per_entry(scheme));
  const std::int64_t maximum = max_pool_bytes / bytes / vocabulary;
  if (contexts > maximum) {
    throw DomainError(fmt::format(
        "invalid pool={} (must be at most {} at a vocabulary of {}: a larger pool would take more than 2 GiB)",
        contexts, maximum, vocabulary));
  }
}

PooledTables::PooledTables(std::int64_t vocabulary, std::int64_t contexts, const CandidateScheme& scheme,
                           bool verifies_blocks, std::vector<std::int64_t> counts)
    : vocabulary_(static_cast<std::size_t>(vocabulary)), scheme_(scheme), counts_(std::move(counts)) {
  check_pool_size(contexts, vocabulary, scheme, verifies_blocks);
  if (scheme.count > 1 && !scheme.tested_alike) candidates_.emplace(scheme);
  if (verifies_blocks) blocks_.emplace();
  const std::size_t entries = vocabulary_ * static_cast<std::size_t>(contexts);
  if (!verifies_blocks) draft_.reserve(entries);
  if (!verifies_blocks) replacement_.reserve(entries);
  bonus_.reserve(entries);
  scratch_.resize(vocabulary_);
}

void PooledTables::add(const VerificationRule& rule, const PositionDistributions& distributions) {
  FOREDRAFT_EXPECT(distributions.target.size() == vocabulary_ && distributions.draft.size() == vocabulary_);
  const auto append = [this](std::vector<AliasSlot>& to) {
    const std::vector<AliasSlot> table = alias_table(scratch_);
    to.insert(to.end(), table.begin(), table.end());
  };
  if (blocks_) {
    blocks_->add(distributions);
  } else {
    add_draft(rule, distributions);
    rule.replacement(distributions, scratch_);
    append(replacement_);
  }
  rule.bonus(distributions.target, scratch_);
  append(bonus_);
  if (candidates_) candidates_->add(distributions);
  acceptance_sum_ += acceptance_probability(rule, distributions);
  const bool independent = scheme_.count > 1 && scheme_.draws == CandidateDraws::with_replacement && !scheme_.varies;
  optimum_sum_ += independent ? sim::optimal_acceptance(distributions, scheme_.count) : unknown<double>;
  ++contexts_;
}

void PooledTables::add_draft(const VerificationRule& rule, const PositionDistributions& distributions) {
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
}

}  // namespace foredraft::sim
