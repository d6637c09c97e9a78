// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/random_stream.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/models.hpp"
#include "sim/ngram/speculation.hpp"

namespace foredraft::sim {

/// Name and one line of explanation of each kind of model pair, for `foredraft list models`.
struct ModelEntry {
  std::string_view name;
  std::string_view summary;
};
[[nodiscard]] const std::vector<ModelEntry>& model_registry();

}  // namespace foredraft::sim

namespace foredraft {

/// The n-gram models of a scenario, trained on its corpus.
struct TrainedModels {
  std::shared_ptr<const ngram::Model> target;
  std::optional<ngram::Drafter> drafter;  ///< empty: drafts are copied
};

}  // namespace foredraft

namespace foredraft::sim {

/// Draws the target's distributions of a SyntheticModels, one context at a time, as logits in single precision. The
/// context is defined by these numbers, whichever code converts them to probabilities.
class SyntheticTarget {
 public:
  /// `parameter` in zipf [0, 100], gaussian_logits [0, 1e6], dirichlet [1e-6, 1e6].
  SyntheticTarget(TargetDistribution distribution, double parameter, std::int64_t vocabulary);

  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }

  /// vocabulary() rounded up for the vector kernels.
  [[nodiscard]] std::size_t row_size() const;

  /// Logits of context `index` of the stream `id`, up to a constant; row_size() entries, -infinity after the
  /// vocabulary. A pure function of its arguments. `words` is scratch.
  void logits(std::uint64_t seed, const StreamId& id, std::uint64_t index, std::span<float> row,
              std::vector<std::uint64_t>& words) const;

 private:
  void shuffled_zipf(std::uint64_t seed, const StreamId& id, std::uint64_t index, std::span<float> row,
                     std::vector<std::uint64_t>& words) const;
  void log_dirichlet(std::uint64_t seed, const StreamId& id, std::uint64_t index, std::span<float> row) const;

  TargetDistribution distribution_;
  double parameter_;
  std::size_t vocabulary_;
  std::vector<float> zeros_;        ///< gaussian_logits: the base to which the noise is added
  std::vector<float> rank_logits_;  ///< zipf: -parameter * log(rank)
};

}  // namespace foredraft::sim
