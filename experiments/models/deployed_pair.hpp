// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/models/read_model.hpp"
#include "latency/profile/profile.hpp"

/// A target and what drafts for it, found by their names and put onto devices.
namespace foredraft::experiments {

/// What is stated of formats and devices; a format that is not: as the model's config says, else fp16, and of the KV
/// cache that of the weights, bf16 where these are narrower.
struct AskedDeployment {
  std::optional<latency::NumberFormat> target_format = {}, draft_format = {}, kv_format = {};
  std::int64_t target_tp = 1, draft_tp = 1;
  double expert_skew = 0.0;
};

struct AskedPair {
  std::string target, draft;  ///< names of read_model(); heads: the draft is the target itself
  bool heads = false;
  AskedDeployment deployment = {};
};

struct DeployedPair {
  std::string target, draft;                ///< names of `models`, or of models that the profile has steps of
  std::vector<latency::ModelShape> models;  ///< the shipped ones and those that were read
  latency::Deployment target_deployment = {}, draft_deployment = {};
  std::optional<std::string> head_problem = {};        ///< why the draft cannot stand on the target
  std::optional<std::string> vocabulary_problem = {};  ///< why it does not know the target's tokens
  std::vector<std::string> notes = {};                 ///< one sentence each
  std::vector<FileDigest> files = {};                  ///< that were read
};

/// A model that the profile has steps of keeps its name there; nothing more has to be known of it. Throws InputError
/// for models that cannot be read.
[[nodiscard]] DeployedPair read_pair(const AskedPair& asked, const latency::Profile& profile);

/// What to write instead of a word that is no format.
[[nodiscard]] std::string format_suggestion(std::string_view word);

}  // namespace foredraft::experiments
