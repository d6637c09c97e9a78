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

/// The contexts of a pair of models on which methods are compared; internal to the folder.
namespace foredraft::answers {

class PairContexts {
 public:
  PairContexts(const MethodsPair& pair, std::uint64_t seed, StopToken stop);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// s of the Beta(alpha s, (1 - alpha) s) that has the mean and variance of the contexts' acceptance rates at
  /// temperature 1.
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

/// Acceptance rate of one draft under rejection sampling: sum min(p, q), mean over the contexts.
[[nodiscard]] double mean_acceptance(const GivenDistributions& contexts);

/// For each context the drafter's `width` most probable tokens: the target's probabilities as accuracies, the drafter's
/// as confidences.
[[nodiscard]] std::vector<DraftContext> draft_contexts(const GivenDistributions& contexts, std::int64_t width);

/// By rank, mean over the contexts.
[[nodiscard]] std::vector<double> mean_accuracies(const std::vector<DraftContext>& contexts);

}  // namespace foredraft::answers
