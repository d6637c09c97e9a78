// SPDX-License-Identifier: Apache-2.0
#include "sim/token/law/further_candidates.hpp"

#include <vector>

#include "sim/token/law/recursive_rejection.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rows/vector_kernels.hpp"

namespace foredraft::sim {
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

}  // namespace foredraft::sim
