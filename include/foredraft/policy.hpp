// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

#pragma GCC visibility push(default)

/// Draft-length policies. The `gamma` of the scenario is the maximum draft length of each.
namespace foredraft {

/// Maximum draft length under a policy other than ConstantGamma, which iterates step by step and draws a confidence for
/// each drafted token.
inline constexpr std::int64_t max_policy_gamma = 10'000;
/// Maximum draft length under OptimalStopping of a BetaMixture, whose closed form takes time quadratic in it.
inline constexpr std::int64_t max_known_alpha_gamma = 4096;

/// The same gamma in every iteration.
struct ConstantGamma {};

/// Lengthens the draft by two after an iteration that accepted all of its drafts; shortens it by one (to at least one)
/// after any other. [Wagner2024, Sec. 4.1; Wolf2020] Any process but Observed, Runs and Trace.
struct Plus2Minus1 {
  std::int64_t start = 5;  ///< draft length of the first iteration of a text; at most `gamma`
};

/// Stops drafting after the first token whose confidence is below the threshold; that token is still verified.
/// [Wolf2020] Each token of an Iid process gets an acceptance probability of its own, drawn from Beta(alpha s, (1 -
/// alpha) s); its confidence is this probability to the power `bias`.
struct ConfidenceThreshold {
  double threshold = 0.0;      ///< in [0, 1]
  double concentration = 1.0;  ///< s > 0
  double bias = 1.0;           ///< > 0; 1: the confidence is calibrated
};

/// Drafts while the probability that the next draft yields a token exceeds c times the best long-run speedup. An
/// oracle: it knows the acceptance probability of the next draft (for a BetaMixture, the alpha of the iteration). Iid,
/// Positional, BetaMixture.
struct OptimalStopping {};

using Policy = std::variant<ConfidenceThreshold, ConstantGamma, OptimalStopping, Plus2Minus1>;

}  // namespace foredraft

#pragma GCC visibility pop
