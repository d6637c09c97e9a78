// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/command_line.hpp"
#include "foredraft/scenario_fwd.hpp"
#include "inputs/devices.hpp"
#include "scenario/parameters.hpp"

/// Options that several commands share.
namespace foredraft::app {

// ---- Values of options of several commands, for completion.

[[nodiscard]] std::vector<std::string> device_names();
[[nodiscard]] std::vector<std::string> profile_names();
[[nodiscard]] std::vector<std::string> model_names();
[[nodiscard]] std::vector<std::string> number_format_names();
[[nodiscard]] std::vector<std::string> weight_format_names();
[[nodiscard]] std::vector<std::string> log_format_names();
[[nodiscard]] std::vector<std::string> convention_names();

inline constexpr OptionSpec device_option{
    "device", "D", "a data sheet: a shipped one (foredraft list devices), or FILE.toml", false, device_names};
inline constexpr OptionSpec profile_option{
    "profile", "P", "or a profile.json, step times of an engine, or a data sheet; shipped ones: foredraft list devices",
    false, profile_names};
inline constexpr OptionSpec target_option{
    "target", "T", "the target model: a shipped one (foredraft list models), FILE.toml or a config.json", false,
    model_names};
inline constexpr OptionSpec draft_option{"draft", "D", "the draft model likewise", false, model_names};
inline constexpr OptionSpec plain_option{
    "plain", "LOG,...",
    "logs of the same load without speculation, for a speedup; not needed if the logs hold such runs"};
inline constexpr OptionSpec log_format_option{
    "format", "F", "the format of the logs (foredraft list formats); default: by content", false, log_format_names};
inline constexpr OptionSpec gpu_hour_price_option{"gpu-hour-price", "P",
                                                  "price of a GPU hour, for the cost of a million output tokens"};
inline constexpr OptionSpec gpus_option{"gpus", "N", "GPUs of the server, with --gpu-hour-price (default 1)"};
inline constexpr OptionSpec convention_option{
    "convention", "V", "bonus: 1 to gamma + 1 tokens (default); no_bonus: 1 to gamma", false, convention_names};

/// Whether the line names one of the two. Reports a problem if it names both.
[[nodiscard]] bool names_device(CommandLine& line);

/// The name in the line, as written.
[[nodiscard]] std::string named_device(const CommandLine& line);

/// The values of --target and --draft that are given.
[[nodiscard]] std::vector<std::string> named_pair(const CommandLine& line);

/// The word of --drafter, one of `words`. For another method, the problem says how to ask for it.
[[nodiscard]] std::optional<std::string> read_drafter_word(CommandLine& line, const std::vector<std::string>& words);

/// The data sheet of --device or the profile of --profile. Throws InputError as read_device and read_profile do.
[[nodiscard]] inputs::ReadProfile read_named_device(const CommandLine& line);

// ---- The options of a scenario of fidelity "process". Each is a parameter of scenario/.

/// Acceptance by position, and processes with their parameters.
[[nodiscard]] const std::vector<OptionSpec>& positional_options();
[[nodiscard]] const std::vector<OptionSpec>& process_options();
/// c, or measured times.
[[nodiscard]] OptionGroup cost_options();
/// Whether measured times are given.
[[nodiscard]] bool states_times(const CommandLine& line);
/// Drafter and draft-length policy with their parameters.
[[nodiscard]] OptionGroup drafting_options();

/// A parameter that a command sets itself.
struct StatedValue {
  std::string_view parameter;
  std::optional<scenario::Value> value;  ///< nullopt: invalid or missing; already reported
};

/// The families of options that a question uses. It ignores the others.
struct OptionFamilies {
  bool draft_length = false;  ///< gamma and convention
  bool acceptance = false;
  bool drafter = false;             ///< the drafter itself
  bool drafter_parameters = false;  ///< parameters of the drafter
  bool cost = false;                ///< a ratio or measured times
  bool policy = false;
};
inline constexpr OptionFamilies all_option_families{.draft_length = true,
                                                    .acceptance = true,
                                                    .drafter = true,
                                                    .drafter_parameters = true,
                                                    .cost = true,
                                                    .policy = true};

/// The scenario from the given options and `stated`. Problems go to the line; nullopt if there are any.
[[nodiscard]] std::optional<Scenario> read_scenario(CommandLine& line, const std::vector<StatedValue>& stated,
                                                    const OptionFamilies& read = all_option_families);

}  // namespace foredraft::app
