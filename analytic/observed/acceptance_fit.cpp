// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/acceptance_fit.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <tuple>

#include "analytic/numerics/stable_forms.hpp"
#include "core/intervals.hpp"

namespace foredraft::analytic {
namespace {

/// The priors of logit a and logit b are practically flat. The prior of spread is 0.6 +- 0.2, as observed for n-gram
/// drafters.
RunPrior prior_of(DrafterClass drafter) {
  constexpr double wide = 4.0;
  RunPrior prior{.mean = {0.0, 0.0, 0.6, 0.0}, .deviation = {wide, wide, 0.2, 0.03}};
  const auto set_rho = [&](double middle, double deviation) {
    prior.mean[3] = std::log(middle);
    prior.deviation[3] = deviation;
  };
  if (drafter == DrafterClass::feature_head) set_rho(1.4, 0.15);
  if (drafter == DrafterClass::parallel_heads) set_rho(3.3, 0.3);
  if (drafter == DrafterClass::unknown) set_rho(1.2, 0.17);
  return prior;
}

/// Model error at `gamma` when fitted at `logged`: one standard deviation relative to tokens per iteration, observed
/// for n-gram drafters and processes; twice that unless the drafter reads only text, because others may change with
/// depth.
double model_error(DrafterClass drafter, std::int64_t logged, std::int64_t gamma) {
  constexpr double near = 0.002;
  constexpr double per_log_of_gamma = 0.006;
  constexpr double known_range = 1.5;
  const double beyond = std::log(static_cast<double>(gamma) / (known_range * static_cast<double>(logged)));
  const double error = near + per_log_of_gamma * std::max(0.0, beyond);
  return drafter == DrafterClass::text ? error : 2.0 * error;
}

double standard_error_of(const PooledCounts& counts, double factor) {
  // If all steps agree, an uncertainty of one step remains.
  const double variance = factor * (variance_of_a_step(counts) + 1.0 / counts.steps) / counts.steps;
  const double rounding = counts.rounding * static_cast<double>(counts.marginal.size());
  return std::sqrt(variance + rounding * rounding / 3.0);
}

/// Half width of a 95 % interval in standard errors: Student quantile if the variance is estimated from few clusters.
double quantile_of(const AcceptanceFit& fit) {
  if (fit.cluster_degrees <= 0.0) return normal_quantile(0.95);
  constexpr double upper_tail = 0.025;
  return boost::math::quantile(
      boost::math::complement(boost::math::students_t_distribution<double>(fit.cluster_degrees), upper_tail));
}

// ---- rejected counts

std::optional<FitProblem> too_few(std::span<const PooledCounts> counts, double factor) {
  double steps = 0.0;
  for (const PooledCounts& one : counts) steps += one.steps;
  if (steps >= min_steps) return std::nullopt;
  constexpr double wanted = 0.02;
  const PooledCounts& longest = counts.back();
  const double half_width = wanted * (1.0 + longest.accepted) / normal_quantile(0.95);
  const double needed = factor * (variance_of_a_step(longest) + 1.0 / longest.steps) / (half_width * half_width);
  return FitProblem{.reason = FitProblem::Reason::too_few_steps,
                    .gamma = longest.gamma,
                    .steps = steps,
                    .more_steps_needed = std::ceil(std::max(needed, min_steps) - steps)};
}

bool all_accepted(std::span<const PooledCounts> counts) {
  return std::all_of(counts.begin(), counts.end(), [](const PooledCounts& one) {
    return one.accepted >= static_cast<double>(one.gamma) * (1.0 - one.rounding) - 0.5 / one.steps;
  });
}

/// Fractions of the same steps cannot increase, apart from rounding and one step of noise in the counter.
std::optional<FitProblem> rising(const PooledCounts& counts) {
  for (std::size_t i = 1; i < counts.marginal.size(); ++i) {
    const double noise = 2.0 * counts.rounding + 1.0 / counts.steps;
    if (counts.marginal[i] > counts.marginal[i - 1] + noise) {
      return FitProblem{
          .reason = FitProblem::Reason::rising, .gamma = counts.gamma, .steps = counts.steps, .position = i + 1};
    }
  }
  return std::nullopt;
}

std::optional<FitProblem> problem_of(std::span<const PooledCounts> counts, double factor) {
  if (auto problem = too_few(counts, factor)) return problem;
  for (const PooledCounts& one : counts) {
    if (auto problem = rising(one)) return problem;
  }
  if (!all_accepted(counts)) return std::nullopt;
  return FitProblem{
      .reason = FitProblem::Reason::all_accepted, .gamma = counts.back().gamma, .steps = counts.back().steps};
}

/// True if the conditional acceptance at index i >= 1 is below half of the previous one by more than five standard
/// errors.
bool collapses(const PooledCounts& counts, std::size_t i) {
  constexpr double far = 5.0;
  const double tested = counts.marginal[i - 1];
  const double before = i == 1 ? tested : tested / counts.marginal[i - 2];
  const double half = 0.5 * before;
  const double error = std::sqrt(half * (1.0 - half) / (counts.steps * tested));
  return (counts.marginal[i] + counts.rounding) / tested < half - far * error;
}

std::optional<std::size_t> collapsed_position(std::span<const PooledCounts> counts) {
  for (const PooledCounts& one : counts) {
    for (std::size_t i = 1; i < one.marginal.size() && one.marginal[i - 1] > 0.0; ++i) {
      if (collapses(one, i)) return i + 1;
    }
  }
  return std::nullopt;
}

/// Number of independent counts: a multinomial of gamma + 1 cells has gamma.
double numbers_counted(const PooledCounts& counts) {
  return counts.marginal.empty() ? 1.0 : static_cast<double>(counts.gamma);
}

bool identifies_a_model(std::span<const PooledCounts> counts) {
  return counts.size() >= 2 || counts.front().marginal.size() >= 2;
}

void add_misfit(AcceptanceFit& fit) {
  constexpr double far = 4.0;
  for (const PooledCounts& one : fit.counts) {
    const double fitted = tokens_per_iteration(*fit.model, one.gamma);
    const double error = std::hypot(standard_error_of(one, fit.variance_factor),
                                    model_error(fit.drafter, one.gamma, one.gamma) * fitted);
    const double deviation = (1.0 + one.accepted - fitted) / error;
    fit.misfit.push_back({one.gamma, 1.0 + one.accepted, fitted, deviation});
    fit.text_changed = fit.text_changed || (fit.counts.size() > 1 && std::abs(deviation) > far);
  }
}

void add_model(AcceptanceFit& fit) {
  const RunPosterior posterior = run_posterior(fit.counts, prior_of(fit.drafter), fit.variance_factor);
  fit.model = run_model(posterior.mode);
  add_misfit(fit);
  fit.chi_squared = posterior.chi_squared;
  double counted = 0.0;
  for (const PooledCounts& one : fit.counts) counted += numbers_counted(one);
  fit.degrees_of_freedom = std::max(0.0, counted - posterior.decided);
  fit.covariance = posterior.covariance;
}

// ---- predictions

/// The logged gamma nearest by ratio; prefers one with enough steps, then one with counts by position.
const PooledCounts& nearest_logged(const AcceptanceFit& fit, std::int64_t gamma) {
  const auto distance = [&](const PooledCounts& one) {
    const double ratio = std::abs(std::log(static_cast<double>(gamma + 1) / static_cast<double>(one.gamma + 1)));
    return std::tuple(one.steps < min_steps, one.marginal.empty() && one.gamma != gamma, ratio);
  };
  return *std::min_element(fit.counts.begin(), fit.counts.end(),
                           [&](const auto& left, const auto& right) { return distance(left) < distance(right); });
}

/// Misfit of the model at one logged gamma.
struct Correction {
  std::vector<double> factors;  ///< [i]: observed divided by fitted share, shrunk toward 1 as far as noise explains it
  double missed = 0.0;          ///< tokens per iteration that are corrected, absolute value
};

/// Shrinks toward 1 by the fraction of chi-squared that the degrees of freedom explain.
Correction correction_at(const AcceptanceFit& fit, const PooledCounts& logged) {
  Correction correction{.factors = logged.marginal};
  const double misfit = chi_squared_of_noise(logged, *fit.model, fit.variance_factor);
  const double noise = std::max(1.0, fit.degrees_of_freedom);
  const double real = misfit > noise ? 1.0 - noise / misfit : 0.0;
  const std::vector<double> fitted = accepted_shares(*fit.model, logged.gamma);
  for (std::size_t i = 0; i < fitted.size() && i < correction.factors.size(); ++i) {
    double& factor = correction.factors[i];
    factor = real > 0.0 && fitted[i] > 0.0 ? std::pow(factor / fitted[i], real) : 1.0;
    correction.missed += std::abs(factor - 1.0) * fitted[i];
  }
  return correction;
}

double corrected_tokens(const Runs& model, std::span<const double> corrections, std::int64_t gamma) {
  double tokens = 1.0;
  double before = 1.0;
  const std::vector<double> shares = accepted_shares(model, gamma);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double correction = corrections.empty() ? 1.0 : corrections[std::min(i, corrections.size() - 1)];
    before = std::min(before, shares[i] * correction);
    tokens += before;
  }
  return tokens;
}

/// Standard error of the model's tokens at `gamma` due to the errors of its parameters.
double parameter_error(const AcceptanceFit& fit, std::span<const double> corrections, std::int64_t gamma) {
  constexpr double step = 1e-5;
  const RunParameters x = run_parameters_of(*fit.model);
  RunParameters slope{};
  for (std::size_t i = 0; i < run_parameters; ++i) {
    RunParameters up = x;
    RunParameters down = x;
    up.at(i) += step;
    down.at(i) -= step;
    slope.at(i) =
        (corrected_tokens(run_model(up), corrections, gamma) - corrected_tokens(run_model(down), corrections, gamma)) /
        (2.0 * step);
  }
  double variance = 0.0;
  for (std::size_t i = 0; i < run_parameters; ++i) {
    for (std::size_t j = 0; j < run_parameters; ++j) {
      variance += slope.at(i) * fit.covariance.at(i * run_parameters + j) * slope.at(j);
    }
  }
  return std::sqrt(std::max(0.0, variance));
}

TokensAtGamma with_error(TokensAtGamma tokens, double half_width) {
  const double maximum = static_cast<double>(tokens.gamma) + 1.0;
  tokens.low = std::clamp(tokens.value - half_width, 1.0, maximum);
  tokens.high = std::clamp(tokens.value + half_width, 1.0, maximum);
  return tokens;
}

TokensAtGamma fitted_tokens(const AcceptanceFit& fit, const PooledCounts& logged, TokensAtGamma tokens) {
  const auto [corrections, missed] = correction_at(fit, logged);
  tokens.source = TokensAtGamma::Source::fitted;
  tokens.value = corrected_tokens(*fit.model, corrections, tokens.gamma);
  // The misfit where the model was fitted may occur elsewhere too.
  const double error = std::hypot(parameter_error(fit, corrections, tokens.gamma), missed,
                                  model_error(fit.drafter, logged.gamma, tokens.gamma) * tokens.value);
  return with_error(tokens, quantile_of(fit) * error);
}

TokensAtGamma tokens_left_open_at(const AcceptanceFit& fit, const PooledCounts& logged, TokensAtGamma tokens) {
  const double half_width = quantile_of(fit) * standard_error_of(logged, fit.variance_factor);
  const auto maximum = static_cast<double>(logged.gamma);
  tokens.source = TokensAtGamma::Source::left_open;
  tokens.low = tokens_left_open(1.0 + std::max(0.0, logged.accepted - half_width), logged.gamma, tokens.gamma).low;
  tokens.high =
      tokens_left_open(1.0 + std::min(maximum, logged.accepted + half_width), logged.gamma, tokens.gamma).high;
  tokens.value = std::numeric_limits<double>::quiet_NaN();
  if (logged.gamma > 1) {
    const double alpha = stable::alpha_of_geometric_total(logged.accepted, logged.gamma);
    const double of_alpha = stable::geometric_sum(alpha, 1.0 - alpha, tokens.gamma + 1);
    tokens.value = std::clamp(of_alpha, tokens.low, tokens.high);
  }
  return tokens;
}

}  // namespace

std::variant<AcceptanceFit, FitProblem> fit_acceptance(std::span<const AcceptanceCluster> clusters,
                                                       DrafterClass drafter) {
  std::vector<PooledCounts> counts = pooled_by_gamma(clusters);
  const std::optional<ClusterVariance> variance = cluster_variance(clusters);
  const double factor = variance ? variance->factor : 1.0;
  if (const auto problem = problem_of(counts, factor)) return *problem;
  AcceptanceFit fit{.counts = std::move(counts),
                    .drafter = drafter,
                    .model = std::nullopt,
                    .variance_factor = factor,
                    .cluster_degrees = variance ? variance->degrees : 0.0,
                    .interval_is_lower_bound = !variance,
                    .misfit = {},
                    .collapsed_position = std::nullopt};
  fit.collapsed_position = collapsed_position(fit.counts);
  if (identifies_a_model(fit.counts)) add_model(fit);
  return fit;
}

TokensAtGamma tokens_at(const AcceptanceFit& fit, std::int64_t gamma) {
  constexpr std::int64_t halves = 3;  // 1.5 times the longest
  TokensAtGamma tokens{.gamma = gamma,
                       .value = 1.0,
                       .low = 1.0,
                       .high = 1.0,
                       .extrapolated = 2 * gamma > halves * fit.counts.back().gamma,
                       .source = TokensAtGamma::Source::observed};
  if (gamma == 0) return tokens;
  const PooledCounts& logged = nearest_logged(fit, gamma);
  if (logged.gamma == gamma) {
    tokens.value = 1.0 + logged.accepted;
    return with_error(tokens, quantile_of(fit) * standard_error_of(logged, fit.variance_factor));
  }
  return fit.model ? fitted_tokens(fit, logged, tokens) : tokens_left_open_at(fit, logged, tokens);
}

}  // namespace foredraft::analytic
