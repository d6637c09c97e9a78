// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "core/decoding_cost.hpp"
#include "core/words.hpp"
#include "experiments/cost/cost_registry.hpp"

/// What `foredraft predict` answers: closed forms for one setting, at one gamma and at the best.
namespace foredraft::experiments {

/// Acceptance is `alpha` or, where `marginal` has entries, depends on the position.
struct Question {
  double alpha;                             ///< i.i.d. acceptance; unused with `marginal`
  std::vector<double> marginal;             ///< [i]: draft i and all before it accepted
  std::optional<double> acceptance_length;  ///< what alpha was inferred from
  DecodingCost cost;                        ///< of an iteration; what is paid once a sequence does not count
  std::optional<double> operations_ratio;
  Convention convention;
  Drafting drafting;
  std::optional<std::int64_t> gamma;  ///< nothing: the best one
  std::string drafter = {};           ///< its name; empty: that of its cost
  bool endless = false;               ///< `marginal` leaves out a 1e-20 of drafts without end
  CostValues measured = {};           ///< the times behind `cost`; empty where c was given
};

/// Quantities at one gamma, or their limits for ever longer drafts. Infinite: nothing.
struct AtGamma {
  std::optional<std::int64_t> gamma;  ///< nothing: unbounded
  std::optional<double> tokens{};
  std::optional<double> variance{};  ///< tokens^2
  std::optional<double> all_accepted{};
  std::optional<double> speedup{};
  std::optional<double> operations{};  ///< nothing too without an operations ratio
  std::optional<double> memory{};
};

struct Prediction {
  Question question;
  AtGamma asked;
  AtGamma best;
  std::optional<double> real_gamma{};
  std::optional<double> oracle_speedup{};
  std::optional<analytic::GammaRange> near_best{};     ///< within 1 % of the best
  std::optional<double> break_even_alpha{};            ///< at the asked gamma; i.i.d. only
  std::optional<double> break_even_c{};                ///< draft pass in target steps, at the asked gamma
  std::optional<analytic::TokenBounds> any_process{};  ///< at the asked gamma; i.i.d. only
};

/// Throws DomainError; gamma beyond a vector is one.
[[nodiscard]] Prediction predict(const Question& question);

/// The answer first, then the table, then what it rests on.
[[nodiscard]] std::string to_text(const Prediction& prediction);

/// Schema foredraft.predict/1.
[[nodiscard]] nlohmann::ordered_json to_json(const Prediction& prediction);

}  // namespace foredraft::experiments
