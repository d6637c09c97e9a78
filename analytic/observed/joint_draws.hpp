// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analytic/observed/clustered_estimate.hpp"

/// Draws of several estimates from their joint uncertainty (multiplier bootstrap). Derivation D29 in docs/model.md.
namespace foredraft::analytic {

/// Default number of draws: a probability has an error of at most 0.016 (95 %), even if both draws of each pair agree.
inline constexpr std::size_t default_draws = 8000;

/// [estimate][draw]: draws of positive quantities, value * exp(error / value). The errors of a source have Student's
/// distribution with the standard error and degrees of freedom of uncertainty_of(). Estimates with the same clusters
/// share one normal variate per cluster and draw; other sources with the same id share one per draw. Their errors are
/// thus correlated as in the log. Every second draw has the opposite errors of the one before it, which cancels most of
/// the noise in differences of means. The seed is fixed: a draw depends only on the estimate and the draw's number.
/// |error / value| is at most 100. Throws DomainError for a value that is not positive.
[[nodiscard]] std::vector<std::vector<double>> joint_draws(std::span<const ClusteredEstimate> estimates,
                                                           std::size_t draws = default_draws);

}  // namespace foredraft::analytic
