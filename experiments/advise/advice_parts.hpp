// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiments/advise/advice.hpp"

/// The steps of advise(), in their order. Internal to the folder.
namespace foredraft::experiments {

/// Loads of the speculative runs, each with the plain run that may be compared. Adds warnings (W03, W09, W16).
void add_loads(const AdviceQuestion& question, Advice& advice);

/// Speedups at other draft lengths, and the draft length to use where that is identified.
void add_choice(const AdviceQuestion& question, Advice& advice);

/// Causes, action, cause, why_not and evidence, in words.
void add_words(const AdviceQuestion& question, Advice& advice);

/// How much wider than 5 % the interval of the acceptance length is: nothing is advised from it.
[[nodiscard]] bool too_uncertain(const Advice& advice);

}  // namespace foredraft::experiments
