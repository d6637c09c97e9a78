// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "foredraft/scenario_fwd.hpp"

/// Closed forms at one draft length and at the best one.
namespace foredraft::analytic {

/// Quantities at one gamma, or their limits as gamma grows. Infinite values are nullopt.
struct AtGamma {
  std::optional<std::int64_t> gamma;  ///< empty: unbounded
  std::optional<double> tokens{};
  std::optional<double> variance{};      ///< tokens^2
  std::optional<double> all_accepted{};  ///< also empty at gamma 0 and if unknown
  std::optional<double> speedup{};
  std::optional<double> operations{};  ///< also empty without an operations ratio
  std::optional<double> memory{};
};

struct Prediction {
  /// [i]: P(drafts 0 to i are all accepted), if acceptance varies with the position and with nothing else; else empty,
  /// also for IndependentDrafts.
  std::vector<double> marginal;
  AtGamma asked;
  AtGamma best;
  std::optional<double> real_gamma{};      ///< only for i.i.d. acceptance and a verification cost independent of gamma
  std::optional<double> oracle_speedup{};  ///< likewise, with a bonus token and autoregressive drafting
  std::optional<NearBestRange> near_best{};  ///< within 1 % of the best
  std::optional<double> break_even_alpha{};  ///< at the given gamma; i.i.d. only
  std::optional<double> break_even_c{};      ///< draft pass in target decode steps, at the given gamma
  std::optional<TokenBounds> any_process{};  ///< at the given gamma; i.i.d. only
};

/// Predicts a scenario of process fidelity with a cost and a constant gamma. `gamma` replaces the scenario's; nullopt:
/// the best gamma. Costs per sequence are ignored. Throws DomainError as best_gamma() does, for a gamma beyond the
/// entries of a vector and for a process without a closed form (Trace).
[[nodiscard]] Prediction predict(const Scenario& scenario, std::optional<std::int64_t> gamma);

}  // namespace foredraft::analytic
