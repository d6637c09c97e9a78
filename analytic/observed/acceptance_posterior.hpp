// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "analytic/observed/acceptance_counts.hpp"

/// Where counts and a prior put the parameters of a run model. Internal to the fit.
namespace foredraft::analytic {

/// logit a, logit b, spread, log rho.
inline constexpr std::size_t run_parameters = 4;
using RunParameters = std::array<double, run_parameters>;
using RunMatrix = std::array<double, run_parameters * run_parameters>;

/// Independent normal distributions of the parameters.
struct RunPrior {
  RunParameters mean;
  RunParameters deviation;
};

[[nodiscard]] RunAcceptance run_model(const RunParameters& parameters);
[[nodiscard]] RunParameters run_parameters_of(const RunAcceptance& model);

struct RunPosterior {
  RunParameters mode;
  RunMatrix covariance;  ///< row by row; of counts, prior and the share by which cells are known to be off
  double chi_squared;    ///< of the counts at the mode, that share included
  double decided;        ///< parameters that the counts decide, not the prior: 0 to 4
};

/// By Fisher scoring. `variance_factor` >= 1 multiplies the variance of the counts. At least one entry of counts. One
/// gamma does not tell rho, but a text that is not quite the model's would bend it: it is held at the prior's mean, and
/// its deviation enters the covariance.
[[nodiscard]] RunPosterior run_posterior(std::span<const PooledCounts> counts, RunPrior prior, double variance_factor);

/// Pearson's chi-squared of one gamma's counts under the model, noise and rounding alone.
[[nodiscard]] double chi_squared_of_noise(const PooledCounts& counts, const RunAcceptance& model,
                                          double variance_factor);

}  // namespace foredraft::analytic
