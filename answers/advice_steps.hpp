// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "answers/advice.hpp"
#include "answers/runs.hpp"
#include "logs/observations_file.hpp"

/// The steps of advise(), in their order; internal to the folder.
namespace foredraft::answers {

// ---- Acceptance

/// What all runs of one acceptance curve share: a setting without its draft length.
[[nodiscard]] RunSetting curve_setting(RunSetting setting);

/// If the logs name only one drafter or draft model, runs without a name get it.
void name_drafters(std::vector<Run>& runs);

/// Names the file in the settings of runs that cannot share a curve.
void divide_curves(std::vector<Run>& runs);

/// Fits an acceptance curve for each setting. The main curve is that of the most steps, then of the most tokens per
/// iteration.
void add_curves(const std::vector<Run>& runs, Advice& advice);

/// Sets gamma_observed, tokens_observed and verification_steps. gamma_observed is the draft length of the main curve
/// with the most steps, then the smallest one.
void add_observed(Advice& advice);

// ---- Loads

/// Adds the loads of the speculative runs, each with its comparable run without speculation, and warnings (W03, W09,
/// W16).
void add_loads(const AdviceQuestion& question, Advice& advice);

/// Adds the speedups at other draft lengths and, if the data permit one, the recommendation.
void add_choice(const AdviceQuestion& question, Advice& advice);

/// Takes the measurements of each load from the recommended setting if it was logged there, else from the fastest one.
void add_main_runs(const AdviceQuestion& question, Advice& advice);

// ---- Requests and texts

/// Tokens per iteration by category, reasoning and context of the observations at this draft length (nullopt: at any)
/// that counted steps. A dimension is included if its values were logged and at least two of them have 200 steps each.
/// Contexts are in ascending order, the others by ascending acceptance length.
[[nodiscard]] std::vector<StratumTokens> tokens_by_stratum(std::span<const logs::ObservedLog> logs,
                                                           const std::optional<std::int64_t>& gamma);

/// Quantiles over requests of at least 20 steps at this draft length (nullopt: any); nullopt for fewer than 10.
[[nodiscard]] std::optional<RequestSpread> spread_of_requests(std::span<const logs::ObservedLog> logs,
                                                              const std::optional<std::int64_t>& gamma);

/// Adds causes, action, cause, why_not, next and evidence.
void add_words(const AdviceQuestion& question, Advice& advice);

/// True if the half width of the 95 % interval of tokens_observed is above 5 % of it.
[[nodiscard]] bool too_uncertain(const Advice& advice);

}  // namespace foredraft::answers
