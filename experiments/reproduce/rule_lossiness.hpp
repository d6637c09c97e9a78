// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/tally.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/token_simulation.hpp"

/// What a verification rule gives up on a synthetic pair of models whose distributions are known.
namespace foredraft::experiments {

/// Every context's p and q, drawn and written out once for all rules.
[[nodiscard]] sim::TablePair drawn_contexts(const SyntheticModels& pair, std::uint64_t seed);

/// Exact in every context, so that only the choice of contexts is random.
[[nodiscard]] sim::Lossiness mean_loss(const sim::TablePair& contexts, const Rule& rule);

/// A run in the same contexts, temperature 1.
struct LossRun {
  Rule rule;
  std::int64_t gamma;
  std::uint64_t iterations;
};
[[nodiscard]] sim::Tally simulate_loss(const sim::TablePair& contexts, const LossRun& run, const sim::RunKey& key,
                                       unsigned threads);

/// Makes of log p a logit of mean 0, for softmax of Normal(0, s^2) logits: the mean of exp(z) is exp(s^2 / 2).
[[nodiscard]] double sigmoid_shift(const SyntheticModels& pair);

}  // namespace foredraft::experiments
