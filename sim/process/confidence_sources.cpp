// SPDX-License-Identifier: Apache-2.0
#include "sim/process/confidence_sources.hpp"

#include <algorithm>
#include <cmath>

namespace foredraft::sim {

double row_entropy(double confidence, std::int64_t alternatives) {
  const auto others = static_cast<double>(alternatives);
  const double rest = 1.0 - confidence;
  if (rest <= 0.0) return 0.0;
  if (confidence * (others + 1.0) <= 1.0) return std::log(others + 1.0);
  return -confidence * std::log(confidence) - rest * std::log(rest / others);
}

void DynamicStop::learn(const VaryingIteration& iteration) {
  const auto above = [](double confidence, const Tested& tested) { return confidence > tested.confidence; };
  for (std::int64_t i = 0; i < iteration.outcome.tested; ++i) {
    const double confidence = drafted_[static_cast<std::size_t>(i)];
    seen_.insert(std::upper_bound(seen_.begin(), seen_.end(), confidence, above),
                 {confidence, i < iteration.outcome.accepted});
  }
  accepted_ += iteration.outcome.accepted;
  const auto size = static_cast<std::int64_t>(seen_.size());
  const std::int64_t rejected = size - accepted_;
  constexpr std::int64_t few = 5;
  if (size <= few || accepted_ == 0 || rejected == 0) return;
  // In integers: costs multiplied by the numbers of accepted and rejected drafts.
  constexpr std::int64_t cost_of_missing = 3;
  std::int64_t best = cost_of_missing * accepted_ * rejected;  // for a threshold above all confidences
  std::int64_t accepted_above = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const Tested& tested = seen_[static_cast<std::size_t>(i)];
    accepted_above += tested.accepted ? 1 : 0;
    if (i + 1 < size && seen_[static_cast<std::size_t>(i) + 1].confidence == tested.confidence) continue;
    const std::int64_t rejected_above = i + 1 - accepted_above;
    const std::int64_t cost = rejected_above * accepted_ + cost_of_missing * (accepted_ - accepted_above) * rejected;
    if (cost >= best) continue;
    best = cost;
    threshold_ = tested.confidence;
  }
}

}  // namespace foredraft::sim
