// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "logs/observation.hpp"
#include "logs/scrape_counters.hpp"

namespace foredraft::logs {

/// Warns (W02) of what was counted since the start of a server.
void warn_since_start(const Counted& counted, std::string_view what, LogContents& contents);

/// What the counters and gauges of a server tell of its drafts: whether there are any, their length and acceptance.
void observe_acceptance(const Counted& counted, Observation& run, LogContents& contents);

}  // namespace foredraft::logs
