// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "analytic/observed/acceptance_counts.hpp"
#include "analytic/observed/acceptance_posterior.hpp"

/// Fit of acceptance counts at one or several gamma, and predictions of tokens per iteration at every other gamma.
/// Rationale of the model: docs/adr/0018-acceptance-from-one-log.md.
namespace foredraft::analytic {

/// Kind of drafter. It sets the prior of rho, which describes acceptance after a bonus token.
enum class DrafterClass {
  text,            ///< n-gram, prompt lookup, separate draft model: reads only the text. rho 1
  feature_head,    ///< EAGLE, MTP: reads hidden states of the target, updated at each verification. rho 1.4
  parallel_heads,  ///< Medusa: no head sees the other heads' tokens. rho 3.3
  unknown,         ///< anything from text to feature_head
};

/// Reasons why counts do not determine acceptance. Returned as values because they are shown to the user.
struct FitProblem {
  enum class Reason {
    too_few_steps,  ///< fewer than 200
    all_accepted,   ///< every draft was accepted; possibly the counter is 100 % by construction
    rising,         ///< a position has a larger count than the previous one, beyond noise and rounding
  };
  Reason reason;
  std::int64_t gamma;            ///< where the problem occurs; unless `rising` the longest draft
  double steps;                  ///< at this gamma; for too_few_steps the total over all gammas
  double more_steps_needed = 0;  ///< for too_few_steps: needed to estimate tokens per iteration within 2 %
  std::size_t position = 0;      ///< for rising: from 1
};

/// Misfit of the joint fit at one logged gamma.
struct GammaMisfit {
  std::int64_t gamma;
  double observed;   ///< tokens per iteration
  double fitted;     ///< tokens per iteration
  double deviation;  ///< observed - fitted, in standard errors that include the model's error
};

struct AcceptanceFit {
  std::vector<PooledCounts> counts;  ///< by gamma, ascending
  DrafterClass drafter;
  std::optional<Runs> model;  ///< empty if there is only one gamma, and it is 1 or has no counts by position
  /// Covariance of logit a, logit b, spread and log rho, row-major. Zero without a model.
  RunMatrix covariance{};
  double variance_factor;        ///< variance inflation from dependent steps, estimated from clusters; 1 if unknown
  double cluster_degrees;        ///< degrees of freedom of variance_factor; 0: one cluster
  bool interval_is_lower_bound;  ///< only one cluster: the dependence of steps is unknown and not included
  double chi_squared = 0.0;      ///< misfit of the model, variance_factor included
  /// Of chi_squared: number of counts minus the number of parameters that the counts determine.
  double degrees_of_freedom = 0.0;
  std::vector<GammaMisfit> misfit;  ///< by gamma, ascending; empty without a model
  bool text_changed = false;        ///< the counts of several gammas do not fit one text: a deviation exceeds 4
  /// First draft (2 or later) with a conditional acceptance less than half of the previous draft's, far beyond noise.
  std::optional<std::size_t> collapsed_position;
};

/// Minimum number of steps for a fit.
inline constexpr double min_steps = 200.0;

/// Throws DomainError as check_counts.
[[nodiscard]] std::variant<AcceptanceFit, FitProblem> fit_acceptance(std::span<const AcceptanceCluster> clusters,
                                                                     DrafterClass drafter);

/// Tokens per iteration at one gamma.
struct TokensAtGamma {
  enum class Source {
    observed,   ///< logged at this gamma with at least min_steps, or with fewer if no gamma has min_steps
    fitted,     ///< by the model
    left_open,  ///< no model: the range over all acceptance processes with the logged tokens per iteration
  };
  std::int64_t gamma;
  double value;  ///< left_open: the value for i.i.d. acceptance; NaN if only gamma 1 is logged
  double low;    ///< 95 % interval, which includes the known error of the model
  double high;
  bool extrapolated;  ///< beyond 1.5 times the longest logged gamma
  Source source;
};

/// gamma in 0 to max_observed_gamma.
[[nodiscard]] TokensAtGamma tokens_at(const AcceptanceFit& fit, std::int64_t gamma);

}  // namespace foredraft::analytic
