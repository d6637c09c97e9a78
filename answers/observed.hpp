// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "analytic/observed/acceptance_fit.hpp"
#include "logs/observation.hpp"

/// From what a log counted to what is fitted.
namespace foredraft::answers {

/// Whether verification steps of speculative decoding were counted.
[[nodiscard]] bool has_counts(const logs::Observation& observation);

/// Whether all steps drafted gamma tokens, except the few that were cut short by the ends of texts: for varying draft
/// lengths the number of tests of a position is unknown. False without gamma or steps.
[[nodiscard]] bool drafts_are_whole(const logs::Observation& observation);

/// Counts for a fit; nullopt if draft lengths vary or acceptance was not counted.
[[nodiscard]] std::optional<analytic::AcceptanceCluster> counts_for_fit(const logs::Observation& observation);

/// The class of the drafter that an engine calls `method`: "eagle3", "ngram", "draft_model".
[[nodiscard]] analytic::DrafterClass drafter_class(std::string_view method);

}  // namespace foredraft::answers
