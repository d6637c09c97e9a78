// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/text/digest.hpp"
#include "latency/models/deployment.hpp"
#include "latency/models/model_shape.hpp"

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

}  // namespace foredraft::experiments
