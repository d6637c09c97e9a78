// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "latency/models/deployment.hpp"
#include "latency/models/model_shape.hpp"

/// Whether a deployment fits into the memory of its devices.
namespace foredraft::latency {

struct DeployedModel {
  const ModelShape* shape = nullptr;  ///< null: no drafter
  Deployment deployment = {};
};

/// Of the device that holds most: one share of the target and, where it runs, of the drafter.
struct MemoryNeed {
  double target_weights_bytes = 0.0, draft_weights_bytes = 0.0;
  double sequence_bytes = 0.0;    ///< KV caches and states of one sequence, of both models
  double activation_bytes = 0.0;  ///< of a verification of the whole batch
  [[nodiscard]] double total(std::int64_t batch) const {
    return target_weights_bytes + draft_weights_bytes + activation_bytes + sequence_bytes * static_cast<double>(batch);
  }
};

/// `context` includes the tokens that are being drafted.
[[nodiscard]] MemoryNeed memory_need(const DeployedModel& target, const DeployedModel& draft, std::int64_t batch,
                                     std::int64_t tokens, std::int64_t context);

/// The largest batch (at least 0) with memory_need(...).total <= capacity_bytes, which is capacity times utilisation.
[[nodiscard]] std::int64_t max_batch(const DeployedModel& target, const DeployedModel& draft, std::int64_t tokens,
                                     std::int64_t context, double capacity_bytes);

}  // namespace foredraft::latency
