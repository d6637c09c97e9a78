// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/command_line.hpp"
#include "experiments/devices/devices.hpp"
#include "scenario/parameters.hpp"

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

// ---- The options that state a scenario of process fidelity. Each is a parameter of scenario/, which says what is
// legal and what fits with what.

/// c, or measured times.
[[nodiscard]] OptionGroup cost_options();
/// Whether measured times are given.
[[nodiscard]] bool states_times(const CommandLine& line);
/// Drafter and draft-length policy with their parameters.
[[nodiscard]] OptionGroup drafting_options();

/// A parameter that a command states by itself.
struct StatedValue {
  std::string_view parameter;
  std::optional<scenario::Value> value;  ///< nothing: it is wrong or missing, which was said
};

/// The scenario of the options that were given, and of `stated`. ProblemList go to the line; nothing where there are
/// any.
[[nodiscard]] std::optional<Scenario> read_scenario(CommandLine& line, const std::vector<StatedValue>& stated);

}  // namespace foredraft::experiments
