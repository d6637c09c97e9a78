// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "foredraft/acceptance.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/models.hpp"
#include "foredraft/policy.hpp"
#include "foredraft/scenario_fwd.hpp"

/// Which values go together, one function a rule. A scenario (check_scenario), a sweep and a command line (check) ask
/// here and word the answer for their reader.
namespace foredraft::scenario {

/// Whether the drafter itself says how acceptance goes on after the first draft: a copy, accuracies, a decay below 1.
[[nodiscard]] bool has_own_acceptance(const Drafter& drafter);

[[nodiscard]] bool goes_with(const Drafter& drafter, const AcceptanceProcess& process);

/// Whether what an iteration accepts tells nothing of the next one.
[[nodiscard]] bool forgets(const AcceptanceProcess& process);

/// Whether acceptance is of an endless text with a bonus token in every iteration, and known up to max_runs_gamma.
[[nodiscard]] bool needs_endless_text(const AcceptanceProcess& process);
[[nodiscard]] bool goes_with(const Drafter& drafter, const Policy& policy);

/// Whether the drafter can be stopped between two drafts, which OptimalStopping does.
[[nodiscard]] bool can_stop(const Drafter& drafter);

/// Whether a server's batch can draft with it.
[[nodiscard]] bool drafts_in_batches(const Drafter& drafter);

/// Whether times of forward passes can be looked up for it: one model, or the target, drafts.
[[nodiscard]] bool has_times(const Drafter& drafter);

/// The longest draft of a policy other than ConstantGamma.
[[nodiscard]] std::int64_t max_gamma(const Policy& policy, const AcceptanceProcess& process);

/// The longest draft of text, and the longest n-grams of the draft model.
[[nodiscard]] std::int64_t max_text_gamma(const Drafter& drafter);
[[nodiscard]] std::int64_t max_draft_order(const Drafter& drafter);

/// 0, or not so close to it that powers of probabilities leave the range of a double.
[[nodiscard]] bool is_temperature(double temperature);

/// Whether a sequence of fixed length counts whole tokens.
[[nodiscard]] bool is_whole(double tokens);

/// The first entry above the one before it; nothing where none is. A marginal does not rise.
[[nodiscard]] std::optional<std::size_t> first_rise(const std::vector<double>& entries);

// ---- What a scenario that somebody wrote in C++ must hold; one from a configuration holds it.

/// Throws DomainError for a value outside its range and for parts that do not go together: a drafter, policy or cost
/// that another part has no use for, a vector shorter than gamma. Does not look at what was read from files.
void check_scenario(const Scenario& scenario);

/// Throws DomainError for a number outside its range and for a vector shorter than `gamma`.
void check_acceptance(const AcceptanceProcess& acceptance, std::int64_t gamma);

/// Throws DomainError for rows that are no distributions, acceptances outside [0, 1] and rows of different lengths.
void check_distributions(const GivenDistributions& given);

/// Throws DomainError where a recording, a trained model or times of passes are named and were not read.
void check_read(const Scenario& scenario);

}  // namespace foredraft::scenario
