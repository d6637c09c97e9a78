// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"

/// Checks whether a deployment fits into the memory of its devices.
namespace foredraft::latency {

/// Fraction of a device's memory that engines use for weights, caches and activations.
inline constexpr double default_memory_utilization = 0.9;

struct DeployedModel {
  const ModelShape* shape = nullptr;  ///< null: no drafter
  Deployment deployment = {};
};

/// Memory, in bytes, of the device that needs the most: the target's first device, on which the drafter also runs. A
/// head shares the target's embedding and, unless it has its own, the vocabulary projection. If the head uses fewer
/// devices than the target, the parts of both that the first device lacks are added.
struct MemoryNeed {
  double target_weights_bytes = 0.0, draft_weights_bytes = 0.0;
  double sequence_bytes = 0.0;    ///< KV caches and states of one sequence, of both models
  double activation_bytes = 0.0;  ///< of a verification of the whole batch, including its logits
  [[nodiscard]] double total(std::int64_t batch) const {
    return target_weights_bytes + draft_weights_bytes + activation_bytes + sequence_bytes * static_cast<double>(batch);
  }
};

/// Memory for sequences of `context` tokens (including drafts) if one forward pass verifies `tokens` tokens of each.
/// Throws DomainError for counts below 1, a negative context, a model without step operations and a drafter on more
/// devices than the target.
[[nodiscard]] MemoryNeed memory_need(const DeployedModel& target, const DeployedModel& draft, std::int64_t batch,
                                     std::int64_t tokens, std::int64_t context);

/// Maximum batch size (up to 100 million) with memory_need(...).total(batch) <= capacity_bytes, the capacity of one
/// device times the utilization; 0 if the weights do not fit.
[[nodiscard]] std::int64_t max_batch(const DeployedModel& target, const DeployedModel& draft, std::int64_t tokens,
                                     std::int64_t context, double capacity_bytes);

/// A target and its drafter with their deployments.
struct DeployedModels {
  ModelShape target;
  std::optional<ModelShape> draft;  ///< empty: no drafter, or heads with unknown weights
  Deployment target_deployment, draft_deployment;
};

/// Memory limit of a deployment.
struct MemoryLimit {
  DeployedModels models;
  double capacity_bytes = 0.0;  ///< of one device, times the utilization

  /// Memory of `batch` sequences of `context` tokens if `tokens` of each are verified at once.
  [[nodiscard]] MemoryNeed need(std::int64_t batch, std::int64_t tokens, std::int64_t context) const;
  /// True if need() fits.
  [[nodiscard]] bool fits(std::int64_t batch, std::int64_t tokens, std::int64_t context) const;
  /// Maximum batch size that fits; 0: none.
  [[nodiscard]] std::int64_t max_batch(std::int64_t tokens, std::int64_t context) const;
  /// Throws DomainError, with the maximum batch size, if they do not fit.
  void check(std::int64_t batch, std::int64_t tokens, std::int64_t context) const;
};

}  // namespace foredraft::latency
