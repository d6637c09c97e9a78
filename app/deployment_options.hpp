// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "answers/profile_prediction.hpp"
#include "core/command_line.hpp"
#include "core/digest.hpp"
#include "inputs/read_model.hpp"
#include "latency/profile/profile.hpp"

/// The options that say which models run, how they are stored and split, and what is known of the device.
namespace foredraft::app {

[[nodiscard]] OptionGroup deployment_options();

/// What the line states of the deployment. Problems of the values go to the line.
[[nodiscard]] inputs::AskedDeployment read_asked_deployment(CommandLine& line);

/// Rejects them all if no device is named.
void reject_deployment(CommandLine& line);

/// Reads the models that the question names, with the deployment that the line states, and puts both into the question.
/// Adds the digests of the files that it reads to `files`. Returns what it assumed, a sentence each. Throws InputError
/// with the problems of the line, for models that cannot be read and for models that do not go together.
[[nodiscard]] std::vector<std::string> read_deployment(CommandLine& line, const latency::Profile& profile,
                                                       answers::ProfileQuestion& question,
                                                       std::vector<FileDigest>& files);

}  // namespace foredraft::app
