// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "foredraft/scenario.hpp"

/// What drafts of one length do: closed forms at one gamma and at the best.
namespace foredraft::analytic {

/// Quantities at one gamma, or their limits for ever longer drafts. Infinite: nothing.
struct AtGamma {
  std::optional<std::int64_t> gamma;  ///< nothing: unbounded
  std::optional<double> tokens{};
  std::optional<double> variance{};      ///< tokens^2
  std::optional<double> all_accepted{};  ///< nothing too at gamma 0
  std::optional<double> speedup{};
  std::optional<double> operations{};  ///< nothing too without an operations ratio
  std::optional<double> memory{};
};

struct Prediction {
  /// [i]: draft i and all before it accepted, where acceptance depends on the position alone; else empty.
  std::vector<double> marginal;
  AtGamma asked;
  AtGamma best;
  std::optional<double> real_gamma{};        ///< i.i.d. only, and of verifications that cost the same whatever gamma
  std::optional<double> oracle_speedup{};    ///< likewise
  std::optional<GammaRange> near_best{};     ///< within 1 % of the best
  std::optional<double> break_even_alpha{};  ///< at the asked gamma; i.i.d. only
  std::optional<double> break_even_c{};      ///< draft pass in target steps, at the asked gamma
  std::optional<TokenBounds> any_process{};  ///< at the asked gamma; i.i.d. only
};

/// [i]: draft i and all before it accepted.
[[nodiscard]] std::vector<double> marginal_of(const Positional& acceptance);

/// Of a scenario of process fidelity with a cost and a constant gamma. `gamma` takes the place of the scenario's;
/// nothing: the best one. What is paid once a sequence does not count. Throws DomainError; gamma beyond a vector is
/// one, and so is a process without a closed form (Trace).
[[nodiscard]] Prediction predict(const Scenario& scenario, std::optional<std::int64_t> gamma);

}  // namespace foredraft::analytic
