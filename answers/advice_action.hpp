// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "answers/advice.hpp"

/// The first line of an advice: what to do, or why nothing can be said; internal to the folder.
namespace foredraft::answers {

[[nodiscard]] std::string action_of(const Advice& advice);

/// "eagle3, K = 4 yields 2.82 tokens per iteration".
[[nodiscard]] std::string yield_text(const Advice& advice);

/// The action if the acceptance could not be estimated.
[[nodiscard]] std::string problem_action(const analytic::FitProblem& problem, const Advice& advice);

/// The action if only acceptance is known.
[[nodiscard]] std::string without_speedup(const Advice& advice);

/// A sentence with the throughput at the loads where it contradicts the speedup; empty if there are none.
[[nodiscard]] std::string opposed_text(const Advice& advice);

/// Whether speedups were measured, and each is a gain or a loss for certain.
[[nodiscard]] bool is_sign_certain(const Advice& advice);

/// Whether the choice was logged at some load, and not only interpolated or predicted.
[[nodiscard]] bool is_logged(const Advice& advice);

/// Whether an acceptance rate was read that is no acceptance length, for want of a draft length.
[[nodiscard]] bool has_rate_alone(const Advice& advice);

}  // namespace foredraft::answers
