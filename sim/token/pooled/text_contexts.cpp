// SPDX-License-Identifier: Apache-2.0
#include "sim/token/pooled/text_contexts.hpp"

#include <fmt/format.h>
#include <cstddef>
#include <vector>

#include "core/check.hpp"
#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "sim/ngram/model.hpp"
#include "sim/ngram/speculation.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {

GivenDistributions text_contexts(const TrainedModels& models, std::int64_t contexts, std::uint64_t seed, StopToken stop,
                                 std::uint64_t point) {
  check_at_least("contexts", contexts, 1);
  if (!models.drafter || models.drafter->sight != ngram::Sight::all) {
    throw DomainError("invalid drafter (must be an n-gram model: others have no distribution for a context)");
  }
  const ngram::Model& target = *models.target;
  const ngram::Model& draft = *models.drafter->models.front();
  constexpr double max_bytes = 2.0 * (1 << 30);
  const auto vocabulary = static_cast<std::size_t>(target.vocabulary());
  if (2.0 * sizeof(double) * static_cast<double>(vocabulary) * static_cast<double>(contexts) > max_bytes) {
    throw DomainError(
        fmt::format("{} contexts of {} tokens take more than 2 GiB - ask for fewer", contexts, target.vocabulary()));
  }
  ngram::Prompts prompts(target, RandomStream(seed, {.purpose = Purpose::text, .point = point, .block = 0}));
  GivenDistributions rows;
  for (std::int64_t k = 0; k < contexts; ++k) {
    stop.check();
    const std::vector<ngram::Token> text = prompts.next();
    target.distribution(text, rows.target.emplace_back(vocabulary));
    draft.distribution(text, rows.draft.emplace_back(vocabulary));
  }
  return rows;
}

GivenDistributions as_drawn(GivenDistributions contexts, const TokenSampling& sampling) {
  for (std::vector<double>& row : contexts.target) apply_sampling(row, sampling.target);
  for (std::vector<double>& row : contexts.draft) apply_sampling(row, sampling.draft);
  return contexts;
}

}  // namespace foredraft::sim
