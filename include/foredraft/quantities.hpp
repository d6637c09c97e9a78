// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#pragma GCC visibility push(default)

/// The output quantities of closed forms and simulation.
namespace foredraft {

/// A point estimate and its standard error, which is NaN if it cannot be estimated (fewer than two observations).
struct Estimate {
  double mean;
  double standard_error;
};

/// The value of an unknown quantity.
template <class Number>
inline constexpr Number unknown = Number{};
template <>
inline constexpr double unknown<double> = std::numeric_limits<double>::quiet_NaN();
template <>
inline constexpr Estimate unknown<Estimate> = {unknown<double>, unknown<double>};

/// Every output quantity, as a closed form (double; infinity: unbounded) or as an estimate; NaN if unknown.
/// Definitions: scenario/metrics.cpp and docs/metrics.md.
template <class Number>
struct Quantities {
  Number tokens_per_iteration = unknown<Number>;
  Number tokens_variance = unknown<Number>;
  Number speedup = unknown<Number>;
  Number operations_factor = unknown<Number>;
  Number memory_access_factor = unknown<Number>;
  Number per_token = unknown<Number>;
  Number accepted_over_drafted = unknown<Number>;
  Number optimal_acceptance = unknown<Number>;
  Number mean_gamma = unknown<Number>;
  Number best_gamma = unknown<Number>;
  Number best_speedup = unknown<Number>;
  Number optimal_speedup = unknown<Number>;
  Number oracle_speedup = unknown<Number>;
  Number loss = unknown<Number>;
  // For a server.
  Number tokens_per_s = unknown<Number>;
  Number goodput_tokens_per_s = unknown<Number>;
  Number mean_batch = unknown<Number>;
  Number mean_in_system = unknown<Number>;
  Number wait_ms = unknown<Number>;
  Number latency_ms = unknown<Number>;
  Number latency_p50_ms = unknown<Number>;
  Number latency_p95_ms = unknown<Number>;
  Number latency_p99_ms = unknown<Number>;
  Number first_token_ms = unknown<Number>;
  Number first_token_p50_ms = unknown<Number>;
  Number first_token_p95_ms = unknown<Number>;
  Number first_token_p99_ms = unknown<Number>;
  Number per_token_latency_ms = unknown<Number>;
  Number per_token_latency_p50_ms = unknown<Number>;
  Number per_token_latency_p95_ms = unknown<Number>;
  Number per_token_latency_p99_ms = unknown<Number>;
  Number tpot_ms = unknown<Number>;
  Number tpot_p50_ms = unknown<Number>;
  Number tpot_p95_ms = unknown<Number>;
  Number tpot_p99_ms = unknown<Number>;
};

using ClosedForm = Quantities<double>;
using Estimates = Quantities<Estimate>;

}  // namespace foredraft

#pragma GCC visibility pop
