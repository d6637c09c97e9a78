// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiments/text/table.hpp"

namespace foredraft::experiments {

/// The shipped data sheets: memory as programs can use it (GB, 1e9 bytes), bandwidths (GB/s; of links each way) and
/// dense matrix peaks (TFLOP/s). At most 100 columns wide as text.
[[nodiscard]] Table device_table();

/// What docs/devices.md generates: the table, and names and sources of each device.
[[nodiscard]] std::string devices_markdown();

}  // namespace foredraft::experiments
