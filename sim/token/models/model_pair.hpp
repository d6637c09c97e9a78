// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "foredraft/scenario.hpp"
#include "sim/ngram/drafter.hpp"

namespace foredraft::sim {

/// n-gram models over one vocabulary: the target writes text, the drafter drafts. gamma is at most the number of heads
/// or stages of a drafter that has them.
struct NgramPair {
  std::shared_ptr<const ngram::Model> target;
  ngram::Drafter drafter;
};

/// Text of an n-gram model whose drafts are copied from what was written before.
struct PromptLookupPair {
  std::shared_ptr<const ngram::Model> target;
  PromptLookup lookup;
};

/// Distributions given outright: rows of p and q, one per context. For tests and small studies.
struct TablePair {
  std::vector<std::vector<double>> target;
  std::vector<std::vector<double>> draft;
};

using ModelPair = std::variant<SyntheticModels, NgramPair, PromptLookupPair, TablePair>;

/// Name and one line of explanation of each kind of model pair, for `foredraft list models`.
struct ModelEntry {
  std::string_view name;
  std::string_view summary;
};
[[nodiscard]] const std::vector<ModelEntry>& model_registry();

}  // namespace foredraft::sim
