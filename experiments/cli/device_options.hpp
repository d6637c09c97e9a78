// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/command_line.hpp"
#include "experiments/devices/devices.hpp"

/// --device and --profile, which name the times that a command rests on.
namespace foredraft::experiments {

inline constexpr OptionSpec device_option{"device", "D",
                                          "a data sheet: a shipped one (foredraft list devices), or FILE.toml"};

/// Whether the line names one of the two; a problem where it names both.
[[nodiscard]] bool names_device(CommandLine& line);

/// What the line names, as it was written.
[[nodiscard]] std::string named_device(const CommandLine& line);

/// The data sheet of --device or the profile of --profile. Throws InputError as read_device and read_profile do.
[[nodiscard]] ReadProfile read_named_device(const CommandLine& line);

}  // namespace foredraft::experiments
