// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "sim/ngram/drafter.hpp"

namespace foredraft {

/// The n-gram models of a scenario, trained on its corpus.
struct TrainedModels {
  std::shared_ptr<const ngram::Model> target;
  std::optional<ngram::Drafter> drafter;  ///< nothing: drafts are copied
};

}  // namespace foredraft
