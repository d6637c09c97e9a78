// SPDX-License-Identifier: Apache-2.0
#include "sim/token/law/recursive_rejection.hpp"

#include <algorithm>

#include "core/contract.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {
RecursiveRejection::RecursiveRejection(const PositionLaws& laws, CandidateDraws draws)
    : draws_(draws), residual_(laws.target.begin(), laws.target.end()), draft_(laws.draft.begin(), laws.draft.end()) {
  FOREDRAFT_EXPECT(residual_.size() == draft_.size());
}

double RecursiveRejection::acceptance(Token candidate) const {
  const double r = residual_[static_cast<std::size_t>(candidate)];
  const double d = draft_[static_cast<std::size_t>(candidate)];
  if (!(d > 0.0)) return 0.0;
  return r >= d ? 1.0 : r / d;
}

void RecursiveRejection::reject(Token candidate) {
  std::vector<double> rest(residual_.size());
  for (std::size_t x = 0; x < rest.size(); ++x) rest[x] = std::max(0.0, residual_[x] - draft_[x]);
  if (normalise(rest)) residual_ = std::move(rest);
  if (draws_ == CandidateDraws::with_replacement) return;

  rejected_.push_back(candidate);
  draft_[static_cast<std::size_t>(candidate)] = 0.0;
  if (normalise(draft_)) return;
  std::fill(draft_.begin(), draft_.end(), 1.0);
  for (const Token token : rejected_) draft_[static_cast<std::size_t>(token)] = 0.0;
  normalise(draft_);
}

std::optional<std::size_t> first_accepted(const PositionLaws& laws, CandidateDraws draws,
                                          std::span<const Token> candidates, std::span<const double> uniforms,
                                          std::span<double> residual) {
  FOREDRAFT_EXPECT(candidates.size() == uniforms.size() && residual.size() == laws.target.size());
  RecursiveRejection state(laws, draws);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (uniforms[i] < state.acceptance(candidates[i])) return i;
    state.reject(candidates[i]);
  }
  std::copy(state.residual().begin(), state.residual().end(), residual.begin());
  return std::nullopt;
}

}  // namespace foredraft::sim
