// SPDX-License-Identifier: Apache-2.0
#include "sim/process/outcome_counts.hpp"

#include <numeric>
#include <utility>

#include "core/check.hpp"

namespace foredraft::sim {
namespace {

std::uint64_t sum_of(std::span<const std::uint64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// at[i] = iterations with more than i, from the number with exactly m.
std::vector<std::uint64_t> more_than(std::span<const std::uint64_t> exactly) {
  std::vector<std::uint64_t> at(exactly.size() - 1);
  std::uint64_t beyond = 0;
  for (std::size_t i = at.size(); i-- > 0;) at[i] = beyond += exactly[i + 1];
  return at;
}

}  // namespace

Tally tally_independent(const IterationShape& shape, std::span<const std::uint64_t> accepted_counts) {
  FOREDRAFT_EXPECT(accepted_counts.size() == static_cast<std::size_t>(shape.gamma) + 1);
  Tally tally = empty_tally(shape.gamma, shape.convention);
  const std::uint64_t all = sum_of(accepted_counts);
  std::uint64_t surviving = all;  // iterations that accepted at least k drafts
  for (std::size_t k = 0; k < accepted_counts.size(); ++k) {
    const std::uint64_t ended = accepted_counts[k];
    if (ended > 0) {
      const auto [tokens, accepted, tested] = iteration_outcome(shape, static_cast<std::int64_t>(k));
      tally.tokens_count[static_cast<std::size_t>(tokens - 1)] += ended;
      tally.units.add({tokens, 1, shape.gamma, shape.draft_passes(), accepted, tested},
                      static_cast<std::int64_t>(ended));
    }
    if (k + 1 == accepted_counts.size()) break;
    tally.drafted_at[k] = all;
    tally.tested_at[k] = surviving;
    surviving -= ended;
    tally.accepted_at[k] = surviving;
  }
  return tally;
}

OutcomeCounts::OutcomeCounts(const IterationShape& longest)
    : longest_(longest),
      tokens_count_(static_cast<std::size_t>(longest.max_tokens()), 0),
      accepted_count_(static_cast<std::size_t>(longest.gamma) + 1, 0),
      tested_count_(accepted_count_),
      drafted_count_(accepted_count_) {}

void OutcomeCounts::add(const VaryingIteration& iteration) {
  add(iteration.outcome);
  ++drafted_count_[static_cast<std::size_t>(iteration.gamma)];
  unit_.drafts_short += longest_.gamma - iteration.gamma;
  unit_.passes_short +=
      longest_.draft_passes() - iteration.passes.value_or(foredraft::draft_passes(iteration.gamma, longest_.drafting));
}

void OutcomeCounts::end_unit() {
  const auto [outcome, iterations, drafts_short, passes_short] = std::exchange(unit_, {});
  if (iterations == 0) return;
  units_.add({outcome.tokens, iterations, iterations * longest_.gamma - drafts_short,
              iterations * longest_.draft_passes() - passes_short, outcome.accepted, outcome.tested});
}

void OutcomeCounts::set_unit_aside() { aside_ = std::exchange(unit_, {}); }

void OutcomeCounts::resume_unit() {
  const Unit aside = std::exchange(aside_, {});
  unit_.outcome.tokens += aside.outcome.tokens;
  unit_.outcome.accepted += aside.outcome.accepted;
  unit_.outcome.tested += aside.outcome.tested;
  unit_.iterations += aside.iterations;
  unit_.drafts_short += aside.drafts_short;
  unit_.passes_short += aside.passes_short;
}

Tally OutcomeCounts::tally() const {
  FOREDRAFT_EXPECT(unit_.iterations == 0 && aside_.iterations == 0);
  std::vector<std::uint64_t> drafted = drafted_count_;
  drafted.back() += static_cast<std::uint64_t>(units_.sum(iterations)) - sum_of(drafted);
  Tally tally;
  tally.units = units_;
  tally.tokens_count = tokens_count_;
  tally.drafted_at = more_than(drafted);
  tally.tested_at = more_than(tested_count_);
  tally.accepted_at = more_than(accepted_count_);
  return tally;
}

}  // namespace foredraft::sim
