// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/text/digest.hpp"
#include "experiments/text/table.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/profile/profile.hpp"

/// The models that a command can name.
namespace foredraft::experiments {

/// A shape, the formats that a checkpoint is stored in where its config says so, and where they come from.
struct ReadModel {
  latency::ModelShape shape;
  std::optional<latency::NumberFormat> weights = {}, kv_cache = {};
  std::vector<std::string> notes = {};   ///< what was left out or assumed, one sentence each
  std::vector<FileDigest> digests = {};  ///< of the files that it was read from; none for a shipped shape
};

/// The model that `what` names: a shipped one (case does not matter), FILE.toml with one model in it, FILE.toml:NAME, a
/// config.json of Hugging Face (with a hf_quant_config.json beside it), or a folder that holds one. A shipped name goes
/// before a folder of that name; write
/// ./NAME for the folder. A model of a config.json is named after its folder, or after the file where that has another
/// name. Throws InputError for what is none of these, with the nearest shipped name, and for a file that does not hold
/// a model, with all that is wrong.
[[nodiscard]] ReadModel read_model(const std::string& what);

/// Why `draft` cannot draft for `target`, its tokens being others: their numbers differ by 1 % or more. Models of one
/// family pad their vocabularies differently (Qwen2.5: 151,936 rows to 3B, 152,064 above), which is no problem; equal
/// numbers are taken for equal tokens, which no shape can tell.
[[nodiscard]] std::optional<std::string> vocabulary_problem(const latency::ModelShape& target,
                                                            const latency::ModelShape& draft);

/// Where the numbers differ by less, what was taken for padding.
[[nodiscard]] std::optional<std::string> vocabulary_note(const latency::ModelShape& target,
                                                         const latency::ModelShape& draft);

/// Why the head `draft` cannot stand on `target`: it reads hidden states of another width. Nothing for other drafts.
[[nodiscard]] std::optional<std::string> head_problem(const latency::ModelShape& target,
                                                      const latency::ModelShape& draft);

// ---- A target and what drafts for it, found by their names and put onto devices.

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

/// The shipped model shapes with what is computed from them: parameters (millions, beside the published count where the
/// source prints one) and the bytes of weights that one decoder pass of one token reads in fp16 (GB, 1e9 bytes). At
/// most 100 characters wide; the first table of docs/models.md.
[[nodiscard]] Table model_table();

/// What each of them is, how far the published count is rounded (+- millions; nothing: printed to the last parameter),
/// and where its numbers stand. The second table of docs/models.md.
[[nodiscard]] Table model_source_table();

}  // namespace foredraft::experiments
