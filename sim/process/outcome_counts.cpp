// SPDX-License-Identifier: Apache-2.0
#include "sim/process/outcome_counts.hpp"

#include "core/check.hpp"

namespace foredraft::sim {
namespace {

/// at[i] = iterations that reached beyond position i, computed from the number that reached exactly m.
void accumulate_from_end(const std::vector<std::uint64_t>& exactly, std::vector<std::uint64_t>& at) {
  std::uint64_t beyond = 0;
  for (std::size_t i = at.size(); i-- > 0;) {
    beyond += exactly[i + 1];
    at[i] = beyond;
  }
}

}  // namespace

OutcomeCounts::OutcomeCounts(const IterationShape& shape)
    : shape_(shape),
      tokens_count_(static_cast<std::size_t>(shape.max_tokens()), 0),
      accepted_count_(static_cast<std::size_t>(shape.gamma) + 1, 0),
      tested_count_(static_cast<std::size_t>(shape.gamma) + 1, 0) {}

void OutcomeCounts::end_unit() {
  if (unit_iterations_ == 0) return;
  units_.add({unit_.tokens, unit_iterations_, unit_iterations_ * shape_.gamma, unit_iterations_ * shape_.draft_passes(),
              unit_.accepted, unit_.tested});
  unit_ = {};
  unit_iterations_ = 0;
}

void OutcomeCounts::set_unit_aside() {
  aside_ = unit_;
  aside_iterations_ = unit_iterations_;
  unit_ = {};
  unit_iterations_ = 0;
}

void OutcomeCounts::resume_unit() {
  unit_.tokens += aside_.tokens;
  unit_.accepted += aside_.accepted;
  unit_.tested += aside_.tested;
  unit_iterations_ += aside_iterations_;
  aside_ = {};
  aside_iterations_ = 0;
}

Tally OutcomeCounts::tally() const {
  FOREDRAFT_EXPECT(unit_iterations_ == 0 && aside_iterations_ == 0);
  Tally tally = empty_tally(shape_.gamma, shape_.convention);
  tally.units = units_;
  tally.tokens_count = tokens_count_;
  accumulate_from_end(accepted_count_, tally.accepted_at);
  accumulate_from_end(tested_count_, tally.tested_at);
  const auto run = static_cast<std::uint64_t>(units_.sum(iterations));
  tally.drafted_at.assign(tally.drafted_at.size(), run);
  return tally;
}

namespace {

/// at[i] = iterations with more than i, computed from the number with exactly m.
std::vector<std::uint64_t> more_than(const std::vector<std::uint64_t>& exactly) {
  std::vector<std::uint64_t> at(exactly.size() - 1);
  std::uint64_t beyond = 0;
  for (std::size_t i = at.size(); i-- > 0;) at[i] = beyond += exactly[i + 1];
  return at;
}

}  // namespace

VaryingCounts::VaryingCounts(const IterationShape& longest)
    : longest_(longest),
      tokens_count_(static_cast<std::size_t>(longest.max_tokens()), 0),
      drafted_count_(static_cast<std::size_t>(longest.gamma) + 1, 0),
      tested_count_(drafted_count_),
      accepted_count_(drafted_count_) {}

void VaryingCounts::add(const VaryingIteration& iteration) {
  const auto& [gamma, outcome] = iteration;
  ++tokens_count_[static_cast<std::size_t>(outcome.tokens - 1)];
  ++drafted_count_[static_cast<std::size_t>(gamma)];
  ++tested_count_[static_cast<std::size_t>(outcome.tested)];
  ++accepted_count_[static_cast<std::size_t>(outcome.accepted)];
  unit_[tokens] += outcome.tokens;
  unit_[iterations] += 1;
  unit_[drafted] += gamma;
  unit_[draft_passes] += foredraft::draft_passes(gamma, longest_.drafting);
  unit_[accepted] += outcome.accepted;
  unit_[tested] += outcome.tested;
}

void VaryingCounts::end_unit() {
  if (unit_[iterations] == 0) return;
  units_.add(unit_);
  unit_ = {};
}

Tally VaryingCounts::tally() const {
  FOREDRAFT_EXPECT(unit_[iterations] == 0);
  Tally tally;
  tally.units = units_;
  tally.tokens_count = tokens_count_;
  tally.drafted_at = more_than(drafted_count_);
  tally.tested_at = more_than(tested_count_);
  tally.accepted_at = more_than(accepted_count_);
  return tally;
}

}  // namespace foredraft::sim
