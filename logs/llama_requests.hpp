// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "logs/observation.hpp"

/// What the requests of a llama-server tell of each other.
namespace foredraft::logs {

/// A request whose statistics are cut off has the draft length of the others, if it drafted about as much a step.
void complete_draft_lengths(std::vector<Observation>& observations);

/// Marks the requests of a drafter as adaptive if together they drafted clearly fewer tokens than its positions: it
/// stops at a threshold (--spec-draft-p-min).
void mark_varying(LogContents& contents);

/// Counted drafts of no known length are at most as long as the command line says (`most`), if they fit.
void note_most(std::optional<std::int64_t> most, Observation& request);

/// Requests for which nothing was drafted ran with the setting of the request before them, else behind them.
void share_setting_with_undrafted(std::vector<Observation>& observations);

}  // namespace foredraft::logs
