// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/work_estimate.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace foredraft::experiments {
namespace {

// Measured on one core of a 2.1 GHz server, rounded down to one digit. They steer no result.
constexpr double usual_row_seconds = 1e-5;
constexpr double fast_iterations_per_s = 5e8;
constexpr double reference_tests_per_s = 1e8;
constexpr double dependent_iterations_per_s = 2e7;
constexpr double policy_iterations_per_s = 1e7;
constexpr double beta_variates_per_s = 5e6;
constexpr double pooled_iterations_per_s = 1e6;
constexpr double fresh_tokens_per_s = 2e7;
constexpr double pool_entries_per_s = 2e7;
constexpr double ngram_iterations_per_s = 2e5;
constexpr double served_tokens_per_s = 2e7;

bool takes(const SweepConfig& config, std::string_view name, std::string_view word) {
  for (const scenario::Value& value : values_of(config, name)) {
    if (const auto* text = std::get_if<std::string>(&value); text != nullptr && *text == word) return true;
  }
  return false;
}

double largest(const SweepConfig& config, std::string_view name, double otherwise) {
  double result = otherwise;
  for (const scenario::Value& value : values_of(config, name)) {
    if (const auto* real = std::get_if<double>(&value)) result = std::max(result, *real);
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      result = std::max(result, static_cast<double>(*integer));
  }
  return result;
}

}  // namespace

double largest_gamma(const SweepConfig& config) { return largest(config, "gamma", 1.0); }

namespace {

/// The closed form of finite sequences is a sum over drafts at every token.
double closed_form_seconds(const SweepConfig& config) {
  if (!takes(config, "end_of_sequence", "fixed")) return 0.0;
  constexpr double terms_per_s = 1e9;
  return largest(config, "sequence_length", 0.0) * largest_gamma(config) / terms_per_s;
}

}  // namespace

double seconds_per_point(const SweepConfig& config) {
  const double row_seconds = usual_row_seconds + closed_form_seconds(config);
  if (!config.simulation) return row_seconds;
  const double gamma = largest_gamma(config);
  if (takes(config, "fidelity", "system")) {
    const SimulationPlan& plan = *config.simulation;
    const auto requests = static_cast<double>(plan.requests + plan.replicas * plan.warmup_requests);
    return row_seconds + requests * largest(config, "output_tokens", 1.0) / served_tokens_per_s;
  }
  auto iterations = static_cast<double>(config.simulation->iterations);
  if (config.simulation->sequences != 0) {
    iterations = static_cast<double>(config.simulation->sequences) *
                 std::ceil(largest(config, "sequence_length", 1.0) / std::min(gamma + 1.0, 4.0));
  }
  if (takes(config, "fidelity", "token")) {
    if (takes(config, "models.kind", "ngram")) return row_seconds + iterations / ngram_iterations_per_s;
    const double vocabulary = largest(config, "models.vocabulary", 1.0);
    if (takes(config, "contexts", "fresh")) return row_seconds + iterations * gamma * vocabulary / fresh_tokens_per_s;
    return row_seconds + vocabulary * largest(config, "models.pool", 1.0) / pool_entries_per_s +
           iterations / pooled_iterations_per_s;
  }
  if (takes(config, "policy", "confidence_threshold")) return row_seconds + iterations * gamma / beta_variates_per_s;
  if (takes(config, "policy", "optimal_stopping") && takes(config, "process", "beta_mixture")) {
    return row_seconds + iterations / beta_variates_per_s;
  }
  if (gamma_varies(config)) return row_seconds + iterations / policy_iterations_per_s;
  if (config.simulation->sequences != 0 || takes(config, "process", "markov") ||
      takes(config, "process", "beta_mixture")) {
    return row_seconds + iterations / dependent_iterations_per_s;
  }
  if (config.simulation->path == Path::reference) return row_seconds + iterations * gamma / reference_tests_per_s;
  return row_seconds + iterations / fast_iterations_per_s;
}

std::string duration_text(double seconds) {
  constexpr double minute = 60.0;
  constexpr double hour = 3600.0;
  constexpr double day = 86400.0;
  constexpr double year = 365.25 * day;
  const auto rounded = [](double value) {
    return value < 1e6 ? fmt::format("{:.0f}", value) : fmt::format("{:.0e}", value);
  };
  if (seconds < 1.0) return "1 s";
  if (seconds < 2 * minute) return rounded(seconds) + " s";
  if (seconds < 2 * hour) return rounded(seconds / minute) + " min";
  if (seconds < 2 * day) return rounded(seconds / hour) + " h";
  if (seconds < 2 * year) return rounded(seconds / day) + " days";
  return rounded(seconds / year) + " years";
}

}  // namespace foredraft::experiments
