// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/command_line.hpp"
#include "experiments/predict/load_prediction.hpp"
#include "experiments/results/result_folder.hpp"

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

}  // namespace foredraft::experiments
