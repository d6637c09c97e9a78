// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiments/advise/advice.hpp"

/// The steps of advise(), in their order. Internal to the folder.
namespace foredraft::experiments {

/// Loads of the speculative runs, each with its comparable run without speculation. Adds warnings (W03, W09, W16).
void add_loads(const AdviceQuestion& question, Advice& advice);

/// Speedups at other draft lengths, and the draft length to use if it is identified.
void add_choice(const AdviceQuestion& question, Advice& advice);

/// Causes, action, cause, why_not and evidence, as text.
void add_words(const AdviceQuestion& question, Advice& advice);

/// Whether the interval of the acceptance length is much wider than 5 %, so that nothing is recommended.
[[nodiscard]] bool too_uncertain(const Advice& advice);

}  // namespace foredraft::experiments
