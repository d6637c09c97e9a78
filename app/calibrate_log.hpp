// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/command_line.hpp"

namespace foredraft::app {

/// `foredraft calibrate --backend log`: fits what an engine adds to passes, and the efficiency of one card, to logs,
/// and writes them as a new TOML file, which --engine reads. Returns the exit code.
[[nodiscard]] int run_calibrate_log(CommandLine& line);

}  // namespace foredraft::app
