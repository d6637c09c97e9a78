// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "answers/profile_prediction.hpp"
#include "core/command_line.hpp"
#include "core/digest.hpp"
#include "inputs/read_model.hpp"

/// The options that say which models run, how they are stored and split, and what is known of the device.
namespace foredraft::app {

[[nodiscard]] OptionGroup deployment_options();

/// Rejects them all where no device is named.
void reject_deployment(CommandLine& line);

/// The pair that the line deploys: its formats and devices, read from the models that `asked` names. Problems of the
/// line are reported; throws InputError for models that cannot be read.
[[nodiscard]] inputs::DeployedPair read_deployed_pair(CommandLine& line, const latency::Profile& profile,
                                                      inputs::AskedPair asked);

/// Share of a device's memory for weights and caches.
[[nodiscard]] double read_memory_utilization(CommandLine& line);

/// Attainable fractions that the line states in place of those of engines.
[[nodiscard]] latency::AttainableOverrides read_attained(CommandLine& line);

/// Puts models, formats, parallelism, memory and attainable fractions of the line into the question; `files` gets the
/// digests of what was read. Problems of the line are reported; throws InputError for models that cannot be read.
/// Formats that the line does not state are those of the model's config.json, else fp16.
void read_deployment(CommandLine& line, const latency::Profile& profile, answers::ProfileQuestion& question,
                     std::vector<FileDigest>& files);

}  // namespace foredraft::app
