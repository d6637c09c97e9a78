// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/command_line.hpp"
#include "experiments/models/read_model.hpp"
#include "experiments/predict/profile_prediction.hpp"
#include "experiments/results/manifest.hpp"

/// The options that say which models run, how they are stored and split, and what is known of the device.
namespace foredraft::experiments {

[[nodiscard]] OptionGroup deployment_options();

/// Rejects them all: beside anything but times of a device.
void refuse_deployment(CommandLine& line);

/// The pair that the line deploys: its formats and devices, read from the models that `asked` names. Problems of the
/// line are reported; throws InputError for models that cannot be read.
[[nodiscard]] DeployedPair read_deployed_pair(CommandLine& line, const latency::Profile& profile, AskedPair asked);

/// Share of a device's memory for weights and caches.
[[nodiscard]] double read_memory_utilization(CommandLine& line);

/// What the line states better than what engines reach.
[[nodiscard]] latency::AttainableOverrides read_attained(CommandLine& line);

/// Puts models, formats, parallelism, memory and attainable fractions of the line into the question; `files` gets the
/// digests of what was read. Problems of the line are reported; throws InputError for models that cannot be read.
/// Formats of a target or draft that the line does not state are those of its config.json, else fp16.
void read_deployment(CommandLine& line, const latency::Profile& profile, ProfileQuestion& question,
                     std::vector<FileDigest>& files);

}  // namespace foredraft::experiments
