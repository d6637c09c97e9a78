// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "logs/observations_file.hpp"

namespace foredraft::logs {

/// Maximum number of scrapes of one file; beyond it the last is replaced: only the windows become longer.
inline constexpr std::size_t max_scrapes = 1024;

/// The name of a gauge for the moment of a scrape in seconds, if it is known.
inline constexpr std::string_view scrape_time = "scrape_time_s";

/// Sets the observations of the scrapes of one file: what was counted between two of one server, or since its start.
void observe_scrapes(LogContents& contents);

/// Scrapes of one server in several files, in any order, become observations of what was counted between them, in the
/// file of the later one; a file with only the first of them is omitted. Scrapes are of one server if the later has all
/// series of the earlier, the same start, and no counter fell.
void combine_scrapes(std::vector<ObservedLog>& logs);

}  // namespace foredraft::logs
