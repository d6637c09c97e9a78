// SPDX-License-Identifier: Apache-2.0
#include "sim/token/law/residual_mass.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "core/contract.hpp"

namespace foredraft::sim {

ResidualMass::ResidualMass(const PositionLaws& laws) {
  FOREDRAFT_EXPECT(laws.target.size() == laws.draft.size());
  bends_.reserve(laws.draft.size());
  for (std::size_t x = 0; x < laws.draft.size(); ++x) {
    const double ratio = laws.target[x] / laws.draft[x];  // NaN for 0/0: such a token never counts
    if (std::isinf(ratio)) never_drafted_ += laws.target[x];
    if (std::isfinite(ratio)) bends_.push_back({.ratio = ratio, .mass = 0.0, .slope = laws.draft[x]});
  }
  std::sort(bends_.begin(), bends_.end(), [](const Bend& a, const Bend& b) { return a.ratio > b.ratio; });
  const Bend* before = nullptr;
  for (Bend& bend : bends_) {
    bend.mass = before == nullptr ? never_drafted_ : before->mass + (before->ratio - bend.ratio) * before->slope;
    if (before != nullptr) bend.slope += before->slope;
    before = &bend;
  }
  constexpr std::size_t bends_a_slice = 4;
  first_.assign(bends_.size() / bends_a_slice + 4, 0);
  for (const Bend& bend : bends_) ++first_[slice(bend.ratio) + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

double ResidualMass::operator()(double c) const {
  const std::size_t s = slice(c);
  const auto below = std::partition_point(bends_.begin() + first_[s], bends_.begin() + first_[s + 1],
                                          [c](const Bend& bend) { return bend.ratio > c; });
  if (below == bends_.begin()) return never_drafted_;
  const Bend& bend = *(below - 1);
  return bend.mass + (bend.ratio - c) * bend.slope;
}

}  // namespace foredraft::sim
