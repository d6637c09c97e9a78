// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "answers/profile_prediction.hpp"
#include "core/command_line.hpp"
#include "core/digest.hpp"
#include "inputs/read_model.hpp"
#include "latency/profile/profile.hpp"

/// The options for the formats and the parallelism of the models, and for the efficiency and memory of the device.
namespace foredraft::app {

[[nodiscard]] OptionGroup deployment_options();

/// Reads the deployment from the line. Problems of the values go to the line.
[[nodiscard]] inputs::AskedDeployment read_asked_deployment(CommandLine& line);

/// Rejects all of these options, for a line that names no device.
void reject_deployment(CommandLine& line);

/// Reads the models that the question names, and puts them and the deployment of the line into the question. Adds the
/// digests of the files that it reads to `files`. Returns its assumptions, a sentence each. Throws InputError with the
/// problems of the line, for models that cannot be read, and for models that do not fit together.
[[nodiscard]] std::vector<std::string> read_deployment(CommandLine& line, const latency::Profile& profile,
                                                       answers::ProfileQuestion& question,
                                                       std::vector<FileDigest>& files);

}  // namespace foredraft::app
