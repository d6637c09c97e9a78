// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analytic/observed/clustered_estimate.hpp"

/// Draws of several estimates from their joint uncertainty (multiplier bootstrap). Derivation D29 in docs/model.md.
namespace foredraft::analytic {

/// Number of draws that a choice rests on: a probability is known within 0.016 (95 %).
inline constexpr std::size_t default_draws = 4000;

/// [estimate][draw]: draws of positive quantities, value * exp(error / value). The errors of one source are normal with
/// the standard error of uncertainty_of(), spread to Student's distribution with its degrees of freedom. Estimates with
/// the same clusters share one normal variate per cluster and draw, an assumed source one per draw and id: what they
/// share is correlated as in the log. The seed is fixed: a draw depends on the estimate and its own number only.
/// |error / value| is at most 100. Throws DomainError for a value that is not positive.
[[nodiscard]] std::vector<std::vector<double>> joint_draws(std::span<const ClusteredEstimate> estimates,
                                                           std::size_t draws = default_draws);

}  // namespace foredraft::analytic
