// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/reproduce/registry.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"

/// Lossiness of the sigmoid approximation of speculative sampling on a synthetic pair with known distributions.
/// [Wagner2024, Eq. 5]
namespace foredraft::experiments {

/// Number of simulated iterations per setting.
inline constexpr std::uint64_t sigmoid_loss_iterations = 40'000;

struct SigmoidLoss {
  std::optional<double> scale;  ///< s of sigma((z + s) / (2 s)), z a logit; empty: softmax, the exact rule
  int bits;                     ///< bits of the arithmetic
  Estimate tokens;              ///< simulated tokens per iteration
  double call_ratio;            ///< verification calls per token, relative to the exact rule
  Lossiness distribution;       ///< of the emitted distribution, over contexts
};

/// The exact rule, then scales from 1 to 10,000 in double and in half precision.
[[nodiscard]] std::vector<SigmoidLoss> sigmoid_losses(const ExperimentSettings& settings);

}  // namespace foredraft::experiments
