// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/parallel.hpp"
#include "foredraft/models.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"

namespace foredraft::sim {

/// Both n-gram models' distributions at `contexts` positions of the target's own text at temperature 1, which is drawn
/// from `seed` and `point`; the positions are ngram::Prompts::passage_tokens apart. Throws DomainError for no context,
/// a drafter that is no n-gram model and a pool above 2 GiB, Interrupted when stopped.
[[nodiscard]] GivenDistributions text_contexts(const TrainedModels& models, std::int64_t contexts, std::uint64_t seed,
                                               StopToken stop = {}, std::uint64_t point = pool_point);

/// The contexts with the temperature and truncation of each model applied.
[[nodiscard]] GivenDistributions as_drawn(GivenDistributions contexts, const TokenSampling& sampling);

}  // namespace foredraft::sim
