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

/// What a request states of the models that run on a device. Problems name the options of the program.
namespace foredraft::inputs {

[[nodiscard]] std::span<const RequestField<AskedDeployment>> deployment_fields();

/// Adds a problem if anything is stated, though no device is named.
void reject_deployment(const AskedDeployment& asked, ProblemList& problems);

/// Whether what is stated of data sheets may stand beside measured times.
enum class BesideTimes { rejected, of_another_sheet };

/// read_pair() of what fits together. Throws InputError with `problems` and with what does not fit: a data sheet's
/// options with measured times, the head of another target, a draft of another vocabulary that is not allowed.
[[nodiscard]] DeployedPair read_deployed_pair(const AskedPair& asked, const latency::Profile& profile,
                                              ProblemList& problems, BesideTimes beside = BesideTimes::rejected);

/// Attainable fractions that are stated in place of those of engines.
[[nodiscard]] latency::AttainableOverrides attained_of(const AskedDeployment& asked);

/// Puts models, formats, parallelism, memory and attainable fractions into the question; `files` gets the digests of
/// what was read. A draft that fills a block drafts in that role, at most so many tokens.
void deploy(const AskedDeployment& asked, DeployedPair pair, answers::ProfileQuestion& question,
            std::vector<FileDigest>& files);

}  // namespace foredraft::inputs
