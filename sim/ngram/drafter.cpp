// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/drafter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/contract.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::ngram {

Drafter ngram_drafter(std::shared_ptr<const Model> model) { return {{std::move(model)}, Sight::all}; }

Drafter heads(std::vector<std::shared_ptr<const Model>> models) { return {std::move(models), Sight::none}; }

Drafter stages(std::vector<std::shared_ptr<const Model>> models) { return {std::move(models), Sight::previous}; }

void check_drafter(const Drafter& drafter, std::int64_t vocabulary, std::int64_t gamma) {
  for (const auto& model : drafter.models) {
    if (model == nullptr) throw DomainError("invalid models=null (must be n-gram models)");
    if (model->vocabulary() != vocabulary) {
      throw DomainError(
          fmt::format("invalid draft.vocabulary={} (must be the target's, {})", model->vocabulary(), vocabulary));
    }
  }
  const auto most = drafter.sight == Sight::all ? gamma : static_cast<std::int64_t>(drafter.models.size());
  if (drafter.models.empty() || gamma > most) {
    throw DomainError(fmt::format("invalid gamma={} (must be at most the number of models that draft, {})", gamma,
                                  drafter.models.size()));
  }
}

DraftDistribution::DraftDistribution(const Drafter& drafter, std::span<const Token> text, std::size_t index)
    : model_(drafter.models[drafter.sight == Sight::all ? 0 : index].get()) {
  FOREDRAFT_EXPECT(text.size() >= index);
  const bool sees_previous = drafter.sight == Sight::previous && index > 0;
  const auto emitted = drafter.sight == Sight::all ? text : text.first(text.size() - index);
  count_ = std::min(emitted.size(), seen_.size() - (sees_previous ? 1 : 0));
  std::copy_n(emitted.end() - static_cast<std::ptrdiff_t>(count_), count_, seen_.begin());
  if (sees_previous) seen_[count_++] = text.back();
}

}  // namespace foredraft::ngram
