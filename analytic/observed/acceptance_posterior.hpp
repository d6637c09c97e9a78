// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "analytic/observed/acceptance_counts.hpp"

/// Posterior of the parameters of a run model from counts and a prior. Internal to the fit.
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

[[nodiscard]] Runs run_model(const RunParameters& parameters);
[[nodiscard]] RunParameters run_parameters_of(const Runs& model);

struct RunPosterior {
  RunParameters mode;
  RunMatrix covariance;  ///< row-major; from counts, prior and model error
  double chi_squared;    ///< misfit of the counts at the mode, with the model error
  double decided;        ///< number of parameters that the counts determine rather than the prior: 0 to 4
};

/// The posterior by Fisher scoring; `variance_factor` >= 1 multiplies the variance of the counts. One gamma does not
/// identify rho: it is held at the prior's mean, and its standard deviation enters the covariance.
[[nodiscard]] RunPosterior run_posterior(std::span<const PooledCounts> counts, RunPrior prior, double variance_factor);

/// Pearson's chi-squared of one gamma's counts under the model; considers noise and rounding but not the model error.
[[nodiscard]] double chi_squared_of_noise(const PooledCounts& counts, const Runs& model, double variance_factor);

}  // namespace foredraft::analytic
