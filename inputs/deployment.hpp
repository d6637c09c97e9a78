// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "answers/profile_prediction.hpp"
#include "core/digest.hpp"
#include "core/problems.hpp"
#include "inputs/read_model.hpp"
#include "inputs/request_field.hpp"
#include "latency/profile/profile.hpp"

/// Deployment options of a request. Problems name the program's options.
namespace foredraft::inputs {

[[nodiscard]] std::span<const RequestField<AskedDeployment>> deployment_fields();

/// Adds a problem if any option is given although no device is named.
void reject_deployment(const AskedDeployment& asked, ProblemList& problems);

/// Whether options of data sheets are allowed together with measured times.
enum class BesideTimes { rejected, of_another_sheet };

/// Calls read_pair() and checks the combination. Throws InputError with `problems` and for options of a data sheet with
/// measured times, a head of another target, and a draft with another vocabulary unless allowed.
[[nodiscard]] DeployedPair read_deployed_pair(const AskedPair& asked, const latency::Profile& profile,
                                              ProblemList& problems, BesideTimes beside = BesideTimes::rejected);

/// Given attainable fractions, which replace those of engines.
[[nodiscard]] latency::AttainableOverrides attained_of(const AskedDeployment& asked);

/// Sets models, formats, parallelism, memory and attainable fractions of the question, and adds digests of read files
/// to `files`. A block head gets the role of block drafting and its maximum draft length.
void deploy(const AskedDeployment& asked, DeployedPair pair, answers::ProfileQuestion& question,
            std::vector<FileDigest>& files);

}  // namespace foredraft::inputs
