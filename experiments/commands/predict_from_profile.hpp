// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/command_line.hpp"
#include "experiments/cli/scenario_options.hpp"
#include "experiments/predict/load_prediction.hpp"
#include "experiments/predict/prediction.hpp"
#include "experiments/results/manifest.hpp"

/// `foredraft predict --request-rate`: the answer at a load.
namespace foredraft::experiments {

[[nodiscard]] OptionGroup load_options();

/// Whether the line asks for the answer at a load. Rejects options that mean nothing without it, or beside it.
[[nodiscard]] bool asks_load(CommandLine& line);

/// Rejects all of the options: beside anything but times of a device.
void refuse_load(CommandLine& line);

/// The load of the line. Its problems are reported.
[[nodiscard]] LoadQuestion read_load(CommandLine& line);

/// The data sheet of --prompt-device, with the deployment of the line; nothing without the option. Throws InputError
/// for a device that cannot be read.
[[nodiscard]] std::optional<latency::PromptSheet> read_prompt_sheet(CommandLine& line, const ProfileQuestion& pair);

/// Prints the answer. Returns an exit code. Throws InputError and Interrupted.
[[nodiscard]] int predict_at_load(const CommandLine& line, const LoadQuestion& question,
                                  const latency::Profile& profile);

// ---- `foredraft predict` with the times of a device instead of a cost ratio.

[[nodiscard]] OptionGroup profile_options();

/// Whether the command line names times: a profile or steps of its own. Refuses options that need them where it does
/// not.
[[nodiscard]] bool takes_profile(CommandLine& line);

/// What a profile says, or has no use for, in place of the options of a scenario.
[[nodiscard]] std::vector<StatedValue> parameters_of_profiles(CommandLine& line);

/// Prints the prediction for the acceptance of each question, at least one; several differ in the alpha of Iid. With
/// --out writes the only one into a folder too, and draws it. Returns an exit code. Throws InputError.
[[nodiscard]] int predict_from_profile(CommandLine& line, const std::vector<Question>& questions);

}  // namespace foredraft::experiments
