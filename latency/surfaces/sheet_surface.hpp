// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "latency/models/deployment.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/profile/cell.hpp"
#include "latency/surfaces/pass_work.hpp"
#include "latency/surfaces/step_model.hpp"

namespace foredraft::latency {

/// t(batch, tokens, context) of one kind of pass by step_us(). A value.
class SheetSurface {
 public:
  /// Passes that a program computes (fp32, bf16 or fp16 on one device, no mixtures and the like) are counted from it,
  /// other decoder passes and drafting one by one by step_operations(). Throws DomainError for the rest.
  SheetSurface(const ModelShape& shape, Role role, std::int64_t source_length, const Deployment& deployment,
               DevicePeaks peaks);

  [[nodiscard]] double us(const PassPoint& point, const Attained& attained) const;

 private:
  ModelShape shape_;
  Role role_;
  Deployment deployment_;
  DevicePeaks peaks_;
  std::optional<PassWork> work_;  ///< of passes that have a program
};

}  // namespace foredraft::latency
