// SPDX-License-Identifier: Apache-2.0
#include "sim/token/distribution/candidate_acceptance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/check.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rows/vector_kernels.hpp"

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

namespace {

Token draw_from(std::span<const double> law, RandomStream& random) {
  std::vector<double> sums(sum_blocks(law.size()));
  sum_row_blocks<double>(law, sums);
  return static_cast<Token>(draw_by_inversion<double>(law, sums, row_sum(sums), random.uniform()));
}

}  // namespace

FurtherOutcome try_further_candidates(const PositionLaws& laws, const CandidateScheme& scheme,
                                      std::span<const Token> rejected, RandomStream& random) {
  RecursiveRejection state(laws, scheme.draws);
  for (const Token token : rejected) state.reject(token);
  for (auto tried = std::ssize(rejected); tried < scheme.count; ++tried) {
    const Token token = draw_from(state.draft(), random);
    if (random.uniform() < state.acceptance(token)) return {.accepted = true, .token = token};
    state.reject(token);
  }
  return {.accepted = false, .token = draw_from(state.residual(), random)};
}

namespace {

constexpr double max_terms = 1048576.0;

double with_replacement(const ResidualMass& mass, std::int64_t count) {
  double c = 0.0;
  double m = 1.0;
  for (std::int64_t i = 0; i < count && m > 0.0; ++i) {
    c += m;
    m = mass(c);
  }
  return 1.0 - m;
}

/// The sum over all sequences of rejected tokens, without replacement. The residual before a candidate is max(0, p - c
/// q) / m, and the candidate is drawn from q / rest over the tokens not yet rejected.
class RejectedSequences {
 public:
  explicit RejectedSequences(const PositionLaws& laws)
      : laws_(laws), mass_(laws), rejected_(laws.target.size(), false) {}

  /// Probability that the next `count` candidates are all rejected.
  double all_rejected(double c, double m, double rest, std::int64_t count) {
    if (count == 0) return 1.0;
    if (!(m > 0.0)) return 0.0;
    if (!(rest > 0.0)) return 1.0 - candidate_acceptance_of_rest(c, count);
    const double next = c + m / rest;
    const double next_mass = mass_(next);
    if (count == 1) return next_mass / m;
    double sum = 0.0;
    for (std::size_t x = 0; x < rejected_.size(); ++x) {
      const double d = laws_.draft[x] / rest;
      if (rejected_[x] || !(d > 0.0)) continue;
      const double rejected_here = d - std::min(d, std::max(0.0, laws_.target[x] - c * laws_.draft[x]) / m);
      if (!(rejected_here > 0.0)) continue;
      rejected_[x] = true;
      sum += rejected_here * all_rejected(next, next_mass, rest_without(x, rest), count - 1);
      rejected_[x] = false;
    }
    return sum;
  }

 private:
  /// By subtraction, or by summation if the difference would cancel.
  [[nodiscard]] double rest_without(std::size_t x, double rest) const {
    if (laws_.draft[x] <= 0.5 * rest) return rest - laws_.draft[x];
    double sum = 0.0;
    for (std::size_t y = 0; y < rejected_.size(); ++y) sum += rejected_[y] ? 0.0 : laws_.draft[y];
    return sum;
  }

  /// q is exhausted: further candidates are uniform over the tokens not yet rejected.
  [[nodiscard]] double candidate_acceptance_of_rest(double c, std::int64_t count) const {
    std::vector<double> residual;
    for (std::size_t x = 0; x < rejected_.size(); ++x) {
      if (!rejected_[x]) residual.push_back(std::max(0.0, laws_.target[x] - c * laws_.draft[x]));
    }
    double sum = 0.0;
    for (const double entry : residual) sum += entry;
    for (double& entry : residual) entry /= sum;
    const std::vector<double> uniform(residual.size(), 1.0 / static_cast<double>(residual.size()));
    return candidate_acceptance({.target = residual, .draft = uniform},
                                {.count = count, .draws = CandidateDraws::without_replacement});
  }

  const PositionLaws& laws_;
  ResidualMass mass_;
  std::vector<bool> rejected_;
};

}  // namespace

double candidate_acceptance(const PositionLaws& laws, const CandidateScheme& scheme) {
  if (scheme.draws == CandidateDraws::with_replacement || scheme.count == 1) {
    return with_replacement(ResidualMass(laws), scheme.count);
  }
  const auto vocabulary = static_cast<std::int64_t>(laws.target.size());
  if (scheme.count >= vocabulary) return 1.0;  // one of V different tokens is accepted
  if (std::pow(static_cast<double>(vocabulary), static_cast<double>(scheme.count - 1)) > max_terms) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return 1.0 - RejectedSequences(laws).all_rejected(0.0, 1.0, 1.0, scheme.count);
}

}  // namespace foredraft::sim
