// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/parallel.hpp"
#include "foredraft/methods.hpp"
#include "foredraft/models.hpp"
#include "foredraft/tree.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"

/// The contexts on which methods are compared for a pair of models; internal to the folder.
namespace foredraft::answers {

/// The contexts of one pair of models.
class PairContexts {
 public:
  PairContexts(const MethodsPair& pair, std::uint64_t seed, StopToken stop);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// s of the distribution Beta(alpha s, (1 - alpha) s) with the mean and variance of the acceptance rates of the
  /// contexts at temperature 1, limited to 1e-3 to 1e6.
  [[nodiscard]] double concentration() const { return concentration_; }
  /// nullptr: synthetic models.
  [[nodiscard]] const NgramModels* text() const { return text_ ? &*text_ : nullptr; }
  /// The distributions of both models at this temperature.
  [[nodiscard]] GivenDistributions at(double temperature) const;

 private:
  std::string name_;
  std::optional<NgramModels> text_;
  std::variant<GivenDistributions, sim::SyntheticPool> contexts_;
  double concentration_ = 1.0;
};

/// Acceptance rate of one draft under rejection sampling: mean over the contexts of sum min(p, q).
[[nodiscard]] double mean_acceptance(const GivenDistributions& contexts);

/// The `width` most probable tokens of the drafter in each context. Accuracies are the probabilities of the target,
/// confidences those of the drafter.
[[nodiscard]] std::vector<DraftContext> draft_contexts(const GivenDistributions& contexts, std::int64_t width);

/// Mean accuracy over the contexts, by rank.
[[nodiscard]] std::vector<double> mean_accuracies(const std::vector<DraftContext>& contexts);

}  // namespace foredraft::answers
