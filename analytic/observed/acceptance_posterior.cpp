// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/acceptance_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace foredraft::analytic {
namespace {

constexpr std::size_t parameters = run_parameters;

/// Steps by number of accepted drafts, or the accepted drafts of all steps if positions were not logged.
std::vector<double> cells_of(const PooledCounts& counts, std::span<const double> marginal) {
  if (counts.marginal.empty()) return {counts.steps * std::accumulate(marginal.begin(), marginal.end(), 0.0)};
  std::vector<double> cells(marginal.size() + 1);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const double reached = k == 0 ? 1.0 : marginal[k - 1];
    cells[k] = counts.steps * (reached - (k < marginal.size() ? marginal[k] : 0.0));
  }
  return cells;
}

std::vector<double> observed_cells(const PooledCounts& counts) {
  return counts.marginal.empty() ? std::vector{counts.steps * counts.accepted} : cells_of(counts, counts.marginal);
}

std::vector<double> expected_cells(const PooledCounts& counts, const RunParameters& x) {
  return cells_of(counts, accepted_shares(run_model(x), counts.gamma));
}

/// What the variances of the cells depend on besides the counts.
struct Weighing {
  double variance_factor;
  double off;  ///< relative error of the model's cells, one standard deviation
};

/// Model error of a cell: no text has exactly two kinds of runs, so a deviation of 1 % is not significant.
constexpr double cells_are_off = 0.01;

/// Variances of cells. Poisson cells replace a multinomial: score and information are the same. A quarter of a step
/// keeps the variance of cells with expectation 0 positive; rounding is a uniform error at both ends of a cell.
std::vector<double> cell_variances(const PooledCounts& counts, std::span<const double> expected,
                                   const Weighing& weighing) {
  constexpr double quarter = 0.25;
  const double rounding = counts.rounding * counts.steps;
  std::vector<double> variances(expected.size());
  for (std::size_t k = 0; k < variances.size(); ++k) {
    const double cell = std::max(0.0, expected[k]);
    const double of_counts = counts.marginal.empty() ? counts.steps * variance_of_a_step(counts) : cell;
    const double off = weighing.off * cell;
    variances[k] = weighing.variance_factor * (of_counts + quarter) + 2.0 / 3.0 * rounding * rounding + off * off;
  }
  return variances;
}

/// Solves the symmetric positive definite `matrix` x = `right` by Cholesky's factorization.
RunParameters solved(RunMatrix matrix, RunParameters right) {
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return matrix.at(i * parameters + j); };
  for (std::size_t i = 0; i < parameters; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
      at(i, j) = i == j ? std::sqrt(at(i, i)) : at(i, j) / at(j, j);
    }
  }
  for (std::size_t i = 0; i < parameters; ++i) {
    for (std::size_t k = 0; k < i; ++k) right.at(i) -= at(i, k) * right.at(k);
    right.at(i) /= at(i, i);
  }
  for (std::size_t i = parameters; i-- > 0;) {
    for (std::size_t k = i + 1; k < parameters; ++k) right.at(i) -= at(k, i) * right.at(k);
    right.at(i) /= at(i, i);
  }
  return right;
}

RunMatrix inverse(const RunMatrix& matrix) {
  RunMatrix result{};
  for (std::size_t j = 0; j < parameters; ++j) {
    RunParameters unit{};
    unit.at(j) = 1.0;
    const RunParameters column = solved(matrix, unit);
    for (std::size_t i = 0; i < parameters; ++i) result.at(i * parameters + j) = column.at(i);
  }
  return result;
}

/// [i][k]: derivative of cell k with respect to parameter i.
std::array<std::vector<double>, parameters> slopes_of(const PooledCounts& counts, const RunParameters& x) {
  constexpr double step = 1e-5;
  std::array<std::vector<double>, parameters> slopes;
  for (std::size_t i = 0; i < parameters; ++i) {
    RunParameters up = x;
    RunParameters down = x;
    up.at(i) += step;
    down.at(i) -= step;
    slopes.at(i) = expected_cells(counts, up);
    const std::vector<double> below = expected_cells(counts, down);
    for (std::size_t k = 0; k < below.size(); ++k) slopes.at(i)[k] = (slopes.at(i)[k] - below[k]) / (2.0 * step);
  }
  return slopes;
}

/// Minus half the gradient of the weighted squares, and the information without and with the prior.
struct Curvature {
  RunParameters gradient{};
  RunMatrix counts{};
  RunMatrix all{};
};

void add_counts(const PooledCounts& counts, const RunParameters& x, const Weighing& weighing, Curvature& curvature) {
  const std::vector<double> expected = expected_cells(counts, x);
  const std::vector<double> observed = observed_cells(counts);
  const std::vector<double> variances = cell_variances(counts, expected, weighing);
  const auto slopes = slopes_of(counts, x);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    for (std::size_t i = 0; i < parameters; ++i) {
      curvature.gradient.at(i) += slopes.at(i)[k] * (observed[k] - expected[k]) / variances[k];
      for (std::size_t j = 0; j < parameters; ++j) {
        curvature.counts.at(i * parameters + j) += slopes.at(i)[k] * slopes.at(j)[k] / variances[k];
      }
    }
  }
}

Curvature curvature_at(std::span<const PooledCounts> counts, const RunParameters& x, const RunPrior& prior,
                       const Weighing& weighing) {
  Curvature curvature;
  for (const PooledCounts& one : counts) add_counts(one, x, weighing, curvature);
  curvature.all = curvature.counts;
  for (std::size_t i = 0; i < parameters; ++i) {
    const double information = 1.0 / (prior.deviation.at(i) * prior.deviation.at(i));
    curvature.gradient.at(i) += information * (prior.mean.at(i) - x.at(i));
    curvature.all.at(i * parameters + i) += information;
  }
  return curvature;
}

/// Weighted squares of one gamma at x, with the weights at `center`.
double squares_of(const PooledCounts& counts, const RunParameters& x, const RunParameters& center,
                  const Weighing& weighing) {
  const std::vector<double> expected = expected_cells(counts, x);
  const std::vector<double> observed = observed_cells(counts);
  const std::vector<double> variances = cell_variances(counts, expected_cells(counts, center), weighing);
  double sum = 0.0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    sum += (observed[k] - expected[k]) * (observed[k] - expected[k]) / variances[k];
  }
  return sum;
}

double all_squares(std::span<const PooledCounts> counts, const RunParameters& x, const RunParameters& center,
                   const RunPrior& prior, const Weighing& weighing) {
  double sum = 0.0;
  for (const PooledCounts& one : counts) sum += squares_of(one, x, center, weighing);
  for (std::size_t i = 0; i < parameters; ++i) {
    const double off = (x.at(i) - prior.mean.at(i)) / prior.deviation.at(i);
    sum += off * off;
  }
  return sum;
}

RunParameters start_of(std::span<const PooledCounts> counts, const RunPrior& prior) {
  const PooledCounts& longest = counts.back();
  constexpr double end = 0.02;
  double first = longest.accepted / static_cast<double>(longest.gamma);
  double later = first;
  if (longest.marginal.size() >= 2) {
    first = longest.marginal.front();
    const double tested = longest.accepted - longest.marginal.back();
    if (tested > 0.0) later = (longest.accepted - first) / tested;
  }
  RunParameters x = run_parameters_of({.a = std::clamp(later, end, 1.0 - end), .b = std::clamp(first, end, 1.0 - end)});
  x[2] = prior.mean[2];
  x[3] = prior.mean[3];
  return x;
}

/// x + scale * move, with the scale halved until the squares decrease; x itself if they do not.
RunParameters improved(std::span<const PooledCounts> counts, const RunParameters& x, const RunParameters& move,
                       const RunPrior& prior, const Weighing& weighing) {
  constexpr int max_halvings = 30;
  const double before = all_squares(counts, x, x, prior, weighing);
  double largest = 0.0;
  for (const double one : move) largest = std::max(largest, std::abs(one));
  double scale = largest > 1.0 ? 1.0 / largest : 1.0;
  for (int halving = 0; halving < max_halvings; ++halving, scale /= 2.0) {
    RunParameters next = x;
    for (std::size_t i = 0; i < parameters; ++i) next.at(i) += scale * move.at(i);
    if (all_squares(counts, next, x, prior, weighing) < before) return next;
  }
  return x;
}

/// Adds the prior variance of the fixed rho, and the response of the other parameters to a change of rho.
void widen_rho(double deviation, RunMatrix& covariance) {
  constexpr std::size_t rho = 3;
  const double of_fit = covariance.at(rho * parameters + rho);
  const double more = deviation * deviation - of_fit;
  if (more <= 0.0) return;
  RunParameters per_rho{};
  for (std::size_t i = 0; i < parameters; ++i) per_rho.at(i) = covariance.at(i * parameters + rho) / of_fit;
  for (std::size_t i = 0; i < parameters; ++i) {
    for (std::size_t j = 0; j < parameters; ++j) {
      covariance.at(i * parameters + j) += more * per_rho.at(i) * per_rho.at(j);
    }
  }
}

}  // namespace

Runs run_model(const RunParameters& x) {
  const auto logistic = [](double logit) { return 1.0 / (1.0 + std::exp(-logit)); };
  return {.a = logistic(x[0]), .b = logistic(x[1]), .spread = std::abs(x[2]), .rho = std::exp(x[3])};
}

RunParameters run_parameters_of(const Runs& model) {
  const auto logit = [](double p) { return std::log(p) - std::log1p(-p); };
  return {logit(model.a), logit(model.b), model.spread, std::log(model.rho)};
}

RunPosterior run_posterior(std::span<const PooledCounts> counts, RunPrior prior, double variance_factor) {
  constexpr int max_steps = 200;
  constexpr double held = 0.01;
  const double rho_deviation = prior.deviation[3];
  if (counts.size() == 1) prior.deviation[3] *= held;
  const Weighing weighing{.variance_factor = variance_factor, .off = cells_are_off};
  RunParameters x = start_of(counts, prior);
  Curvature curvature = curvature_at(counts, x, prior, weighing);
  for (int step = 0; step < max_steps; ++step) {
    const RunParameters next = improved(counts, x, solved(curvature.all, curvature.gradient), prior, weighing);
    if (next == x) break;
    x = next;
    curvature = curvature_at(counts, x, prior, weighing);
  }
  RunPosterior posterior{.mode = x, .covariance = inverse(curvature.all), .chi_squared = 0.0, .decided = 0.0};
  for (const PooledCounts& one : counts) posterior.chi_squared += squares_of(one, x, x, weighing);
  // The trace of counts (counts + prior)^-1.
  for (std::size_t i = 0; i < parameters; ++i) {
    for (std::size_t j = 0; j < parameters; ++j) {
      posterior.decided += curvature.counts.at(i * parameters + j) * posterior.covariance.at(j * parameters + i);
    }
  }
  if (counts.size() == 1) widen_rho(rho_deviation, posterior.covariance);
  return posterior;
}

double chi_squared_of_noise(const PooledCounts& counts, const Runs& model, double variance_factor) {
  const RunParameters x = run_parameters_of(model);
  return squares_of(counts, x, x, {.variance_factor = variance_factor, .off = 0.0});
}

}  // namespace foredraft::analytic
