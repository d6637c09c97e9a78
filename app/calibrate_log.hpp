// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/command_line.hpp"

namespace foredraft::app {

/// `foredraft calibrate --backend log`: fits the terms of an engine and the efficiency of one device to logs, and
/// writes them to a new TOML file for --engine. Returns the exit code.
[[nodiscard]] int run_calibrate_log(CommandLine& line);

}  // namespace foredraft::app
