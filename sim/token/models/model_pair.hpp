// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/ngram/drafter.hpp"

namespace foredraft::sim {

/// Law of a synthetic target's distributions over the vocabulary.
enum class TargetLaw {
  zipf,             ///< p(rank r) proportional to r^-parameter, ranks shuffled anew for every context
  gaussian_logits,  ///< softmax of independent Normal(0, parameter^2) logits
  dirichlet,        ///< symmetric Dirichlet(parameter)
};

/// How the draft distribution is made from the target's.
enum class DraftLaw {
  noise,        ///< independent Normal(0, strength^2) added to the logits
  temperature,  ///< logits divided by 1 + strength
  mixing,       ///< (1 - strength) * p + strength * another context's p
};

/// A synthetic target and its drafter; the strength of the difference is solved so that the expected acceptance
/// sum min(p, q) at temperature 1, averaged over contexts, is `alpha`.
struct SyntheticPair {
  TargetLaw target;
  double parameter;
  std::int64_t vocabulary;  ///< 2 .. 256,000
  DraftLaw draft;
  double alpha;       ///< wanted expected acceptance, in (0, 1]
  std::int64_t pool;  ///< contexts in the pool, >= 1
};

/// n-gram models over one vocabulary: the target writes text, the drafter drafts. gamma is at most the number of heads
/// or stages of a drafter that has them.
struct NgramPair {
  std::shared_ptr<const ngram::Model> target;
  ngram::Drafter drafter;
};

/// Text of an n-gram model whose drafts are copied from what was written before.
struct PromptLookup {
  std::shared_ptr<const ngram::Model> target;
  std::int64_t match;   ///< longest end of the text that is looked for, 1 .. 64 tokens
  std::int64_t window;  ///< tokens that are looked through, 16 .. 65,536
};

/// Distributions given outright: rows of p and q, one per context. For tests and small studies.
struct TablePair {
  std::vector<std::vector<double>> target;
  std::vector<std::vector<double>> draft;
};

using ModelPair = std::variant<SyntheticPair, NgramPair, PromptLookup, TablePair>;

/// Name and one line of explanation of each kind of model pair, for `foredraft list models`.
struct ModelEntry {
  std::string_view name;
  std::string_view summary;
};
[[nodiscard]] const std::vector<ModelEntry>& model_registry();

}  // namespace foredraft::sim
