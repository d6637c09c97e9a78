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

/// From the counts of a log at one or several gamma to tokens per iteration at every other gamma. Why this model and no
/// other: docs/adr/0018-acceptance-from-one-log.md.
namespace foredraft::analytic {

/// What a draft starts from after a bonus token, which one gamma does not tell: it is the prior of rho.
enum class DrafterClass {
  text,            ///< n-gram, prompt lookup, a draft model of its own: the same text, whoever wrote it. rho 1
  feature_head,    ///< EAGLE, MTP: fed with features of the target, fresh after each verification. rho 1.4
  parallel_heads,  ///< Medusa: each head drafts blindly. rho 3.3
  unknown,         ///< the range of text and feature_head
};

/// Why counts carry no acceptance. Values, because somebody must be told.
struct FitRefusal {
  enum class Reason {
    too_few_steps,  ///< fewer than 200
    all_accepted,   ///< of every draft: a counter that is 100 % by construction
    rising,         ///< a position accepted more often than the one before it, beyond noise and rounding
  };
  Reason reason;
  std::int64_t gamma;            ///< of what is wrong; of the longest draft for too_few_steps
  double steps;                  ///< in all counts
  double more_steps_needed = 0;  ///< too_few_steps: for tokens per iteration to within 2 %
  std::size_t position = 0;      ///< rising: from 1
};

/// One logged gamma against the joint fit.
struct GammaMisfit {
  std::int64_t gamma;
  double observed;   ///< tokens per iteration
  double fitted;     ///< tokens per iteration
  double deviation;  ///< observed - fitted in standard errors, those of the model included
};

struct AcceptanceFit {
  std::vector<PooledCounts> counts;  ///< by gamma, ascending
  DrafterClass drafter;
  std::optional<RunAcceptance> model;  ///< nothing: one gamma without positions, or of 1 draft, identifies none
  /// Of logit a, logit b, spread, log rho: row by row. Zero without a model.
  RunMatrix covariance{};
  double variance_factor;           ///< of dependent steps, from clusters; 1 where unknown
  double cluster_degrees;           ///< degrees of freedom of variance_factor; 0: one cluster
  bool interval_is_lower_bound;     ///< one cluster: how much steps depend on each other is not known
  double chi_squared = 0.0;         ///< misfit of the model, variance_factor included
  double degrees_of_freedom = 0.0;  ///< of chi_squared: what is counted less what the counts decide of the model
  std::vector<GammaMisfit> misfit;  ///< by gamma, ascending; empty without a model
  bool text_changed = false;        ///< several gamma that no single text explains: a deviation above 4
  /// From 2: the first draft that is accepted, given all before it, less than half as often as the one before, far
  /// beyond noise: a fault or a limit of the drafter, not of the text.
  std::optional<std::size_t> collapsed_position;
};

/// Steps below which nothing is fitted.
inline constexpr double min_steps = 200.0;

/// Throws DomainError as check_counts.
[[nodiscard]] std::variant<AcceptanceFit, FitRefusal> fit_acceptance(std::span<const AcceptanceCounts> clusters,
                                                                     DrafterClass drafter);

/// Tokens per iteration at one gamma.
struct TokensAtGamma {
  enum class Source {
    observed,   ///< logged at this gamma, with min_steps or more unless no gamma has them
    fitted,     ///< by the model
    left_open,  ///< no model: the range that any acceptance process of the logged tokens per iteration leaves
  };
  std::int64_t gamma;
  double value;  ///< left_open: of one alpha, in the range; NaN where only gamma 1 is logged
  double low;    ///< of a 95 % interval, which includes what the model is known to miss
  double high;
  bool extrapolated;  ///< beyond 1.5 times the longest logged gamma
  Source source;
};

/// gamma in 0 to max_observed_gamma.
[[nodiscard]] TokensAtGamma tokens_at(const AcceptanceFit& fit, std::int64_t gamma);

}  // namespace foredraft::analytic
