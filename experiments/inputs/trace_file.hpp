// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "foredraft/words.hpp"
#include "sim/process/process_simulation.hpp"

/// Recorded acceptance, in four formats recognized by content.
///
/// CSV, header `sequence,outcome`: a row per token position; 1 the draft would be accepted, 0 rejected, -1 not
/// observed. CSV, header `sequence,accepted`: a row per iteration; accepted drafts, 0 to recorded_gamma. JSONL, a
/// sequence per line: {"outcomes": [1, 0, ...]} or {"accepted": [3, 0, ...]}. Rows of one sequence follow each other;
/// blank lines and lines that begin with # are skipped.
namespace foredraft::experiments {

/// `recorded_gamma` (0: not given) is required for accepted counts. Throws InputError `file:line: ...`, all lines at
/// once (the first twenty, and the number of the others).
[[nodiscard]] Recording parse_trace(std::string_view text, const std::string& file, std::int64_t recorded_gamma,
                                    Convention convention);

}  // namespace foredraft::experiments
