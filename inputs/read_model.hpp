// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/digest.hpp"
#include "core/table.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/pair_surface.hpp"

/// Reads the models that a user names.
namespace foredraft::inputs {

/// A shape with its origin, and the formats of its checkpoint if the config or the model file states them.
struct ReadModel {
  latency::ModelShape shape;
  std::optional<latency::WeightFormats> weights = {};
  std::optional<latency::WeightFormats> drafting_weights = {};  ///< of MTP layers
  std::optional<latency::NumberFormat> kv_cache = {};
  std::vector<std::string> notes = {};   ///< omissions and assumptions, one sentence each
  std::vector<FileDigest> digests = {};  ///< of the files; empty for a shipped shape
};

/// Reads the model `what`: a shipped model (ignoring case), FILE.toml with one model, FILE.toml:NAME, a Hugging Face
/// config.json (and a hf_quant_config.json in the same folder), or its folder. A shipped name takes precedence over a
/// folder of that name; write ./NAME for the folder. A checkpoint on the Hugging Face hub ("Qwen/Qwen3-8B",
/// "Llama-3.1-8B-Instruct-FP8") or a GGUF file, whose name alone is read, means the shipped shape of the same name,
/// ignoring owner, case, separators and training variants, with the format at the end; a note says so. A model of a
/// config.json is named after its folder, or after the file if that has another name. Throws InputError for anything
/// else, with the nearest shipped name or how to download the config.json, and for an invalid file, with all problems.
/// `assume`: architecture to read a config.json as; empty: its own. An error for other sources. `texts`: of files that
/// were read, which are not read again; null: none.
[[nodiscard]] ReadModel read_model(const std::string& what, const std::string& assume = {}, FileTexts* texts = nullptr);

/// Why `draft` and `target` have different vocabularies: sizes that differ by 1 % or more; else nullopt. Smaller
/// differences are padding, which differs within a family (Qwen2.5: 151,936 rows up to 3B, 152,064 above). Equal sizes
/// are assumed to mean equal vocabularies.
[[nodiscard]] std::optional<std::string> vocabulary_problem(const latency::ModelShape& target,
                                                            const latency::ModelShape& draft);

/// A note if the sizes differ by less, which is assumed to be padding.
[[nodiscard]] std::optional<std::string> vocabulary_note(const latency::ModelShape& target,
                                                         const latency::ModelShape& draft);

/// Why the head `draft` cannot run on `target`: it reads hidden states of another width. nullopt for other drafts.
[[nodiscard]] std::optional<std::string> head_problem(const latency::ModelShape& target,
                                                      const latency::ModelShape& draft);

// ---- A target and its drafter, found by their names and assigned to devices.

/// Deployment options that were given; empty: default.
struct AskedDeployment {
  std::string assume = {};  ///< architecture to read the target's config.json as; empty: its own
  /// Default: the formats of the model's config or checkpoint, else fp16. Default of the KV cache: the weights' format,
  /// bf16 if that is narrower.
  std::optional<latency::WeightFormats> target_format = {}, draft_format = {};
  std::optional<latency::NumberFormat> kv_format = {};
  std::optional<std::int64_t> target_tp = {}, draft_tp = {};  ///< devices that share each layer; default 1
  std::optional<std::int64_t> target_pp = {};                 ///< pipeline stages; default 1
  std::optional<double> expert_skew = {};                     ///< 0: tokens choose experts independently
  std::optional<double> bandwidth_efficiency = {}, compute_efficiency = {};  ///< attained shares
  std::optional<double> step_overhead_us = {};    ///< per forward pass, in addition to its operators
  std::optional<double> memory_utilization = {};  ///< fraction of a device's memory for weights and caches
  bool ignore_memory = false;                     ///< answer even if the models do not fit into memory
  std::optional<double> draft_host_us = {};       ///< time per request and iteration to look up drafts on the host
  bool allow_vocabulary_mismatch = false;         ///< allow a draft model with another vocabulary
};

struct AskedPair {
  std::string target;
  /// A name of read_model(); "mtp": the target's own layers; a kind of head (head_kinds); "ngram" or "suffix": looked
  /// up on the host.
  std::string draft;
  bool heads = false;  ///< the draft is the target itself
  AskedDeployment deployment = {};
};

struct DeployedPair {
  std::string target, draft;                ///< names in `models` or in the profile's steps
  std::vector<latency::ModelShape> models;  ///< shipped models and those that were read
  latency::Deployment target_deployment = {}, draft_deployment = {};
  std::int64_t max_drafts = 0;                         ///< maximum drafts of an iteration; 0: no limit
  bool at_once = false;                                ///< all drafts take one pass, or none
  std::optional<latency::HostDrafter> host = {};       ///< instead of a draft model
  std::optional<std::string> head_problem = {};        ///< why the draft cannot run on the target, or is missing
  std::optional<std::string> vocabulary_problem = {};  ///< why vocabularies differ
  std::vector<std::string> notes = {};                 ///< one sentence each
  std::vector<FileDigest> files = {};                  ///< files that were read
};

/// Reads both models. A model with steps in the profile keeps its name and need not be known otherwise. Throws
/// InputError for models that cannot be read. `texts`: as of read_model().
[[nodiscard]] DeployedPair read_pair(const AskedPair& asked, const latency::Profile& profile,
                                     FileTexts* texts = nullptr);

/// A suggestion for an unknown format.
[[nodiscard]] std::string format_suggestion(std::string_view word);

/// Table of the shipped shapes: parameters and active parameters (millions), bytes of the checkpoint in its own
/// formats, and bytes of weights that a decoder pass of one token reads in fp16 (GB, 1e9 bytes). At most 100 characters
/// wide; the first table of docs/models.md.
[[nodiscard]] Table model_table();

/// Table of the shipped shapes: summary, heads, formats of the checkpoint (empty: 16 bits), published parameters in
/// millions and their rounding (empty: exact), and sources. The second table of docs/models.md.
[[nodiscard]] Table model_source_table();

}  // namespace foredraft::inputs
