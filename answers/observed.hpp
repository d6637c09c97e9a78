// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "analytic/observed/acceptance_fit.hpp"
#include "logs/observation.hpp"

/// Counts of a log, for a fit of its acceptance.
namespace foredraft::answers {

/// Whether verification steps of speculative decoding were counted.
[[nodiscard]] bool has_counts(const logs::Observation& observation);

/// Whether all steps drafted gamma tokens, except up to 2 % that were cut short at the end of a text. If draft lengths
/// vary, it is unknown how often each position was verified. False without steps or a gamma of 1 to max_observed_gamma.
[[nodiscard]] bool drafts_are_whole(const logs::Observation& observation);

/// Counts for a fit; nullopt if draft lengths vary or acceptance was not counted.
[[nodiscard]] std::optional<analytic::AcceptanceCluster> counts_for_fit(const logs::Observation& observation);

/// The class of a drafter from its method's name in an engine ("eagle3", "ngram", "draft_model"); `unknown` for others.
[[nodiscard]] analytic::DrafterClass drafter_class(std::string_view method);

}  // namespace foredraft::answers
