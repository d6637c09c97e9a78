// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

/// The models that a command can name.
namespace foredraft::inputs {

/// A shape with its origin, and the formats of its checkpoint if the config or the model file states them.
struct ReadModel {
  latency::ModelShape shape;
  std::optional<latency::WeightFormats> weights = {};
  std::optional<latency::WeightFormats> drafting_weights = {};  ///< of its layers for drafting (MTP)
  std::optional<latency::NumberFormat> kv_cache = {};
  std::vector<std::string> notes = {};   ///< what was omitted or assumed, one sentence each
  std::vector<FileDigest> digests = {};  ///< of the files that it was read from; none for a shipped shape
};

/// The model that `what` names: a shipped one (ignoring case), FILE.toml with one model, FILE.toml:NAME, a config.json
/// of Hugging Face (with a hf_quant_config.json beside it), or its folder. A shipped name takes precedence over a
/// folder of that name; write ./NAME for the folder. A name of a checkpoint on the Hugging Face hub
/// ("Qwen/Qwen3-8B", "Llama-3.1-8B-Instruct") means the shipped shape of that name without owner, case, separators and
/// words of training, with a note. A model of a config.json is named after its folder, or after the file if that has
/// another name. Throws InputError for anything else, with the nearest shipped name or how to download the config.json,
/// and for a file that is no model, with all problems.
/// `assume`: the architecture to read a config.json as, empty: its own; an error for what is none.
[[nodiscard]] ReadModel read_model(const std::string& what, const std::string& assume = {});

/// Why `draft` cannot draft for `target` because of different tokens: vocabulary sizes that differ by 1 % or more.
/// Models of one family pad their vocabularies differently (Qwen2.5: 151,936 rows up to 3B, 152,064 above), which is
/// not a problem. Equal sizes are taken for equal tokens, which shapes cannot distinguish.
[[nodiscard]] std::optional<std::string> vocabulary_problem(const latency::ModelShape& target,
                                                            const latency::ModelShape& draft);

/// If the sizes differ by less: a note that the difference was taken for padding.
[[nodiscard]] std::optional<std::string> vocabulary_note(const latency::ModelShape& target,
                                                         const latency::ModelShape& draft);

/// Why the head `draft` cannot run on `target`: it reads hidden states of another width. Nullopt for other drafts.
[[nodiscard]] std::optional<std::string> head_problem(const latency::ModelShape& target,
                                                      const latency::ModelShape& draft);

// ---- A target and its drafter, found by their names and assigned to devices.

/// What is stated of how models run on a device; nothing: the default.
struct AskedDeployment {
  std::string assume = {};  ///< the architecture to read the target's config.json as; empty: its own
  /// Default: those of the model's config or of its checkpoint, else fp16; for the KV cache that of the weights, bf16
  /// if these are narrower.
  std::optional<latency::WeightFormats> target_format = {}, draft_format = {};
  std::optional<latency::NumberFormat> kv_format = {};
  std::optional<std::int64_t> target_tp = {}, draft_tp = {};  ///< devices that share each layer; default 1
  std::optional<std::int64_t> target_pp = {};  ///< groups of them with some of the layers each; default 1
  std::optional<double> expert_skew = {};      ///< 0: tokens choose experts independently
  std::optional<double> bandwidth_efficiency = {}, compute_efficiency = {};  ///< attained shares
  std::optional<double> step_overhead_us = {};    ///< of every forward pass beside its operators
  std::optional<double> memory_utilization = {};  ///< share of a device's memory for weights and caches
  bool ignore_memory = false;                     ///< answer also what does not fit into memory
  std::optional<double> draft_host_us = {};       ///< of one request and iteration, of drafts that the host looks up
  bool allow_vocabulary_mismatch = false;         ///< accept a draft model with another vocabulary
};

/// The draft of this name is the head that the target's own layers for multi-token prediction are (mtp_head).
inline constexpr std::string_view own_drafting_layers = "mtp";
/// Drafts of these names are looked up on the host, without a model.
inline constexpr std::array<std::string_view, 2> host_drafters{"ngram", "suffix"};

struct AskedPair {
  std::string target,
      draft;  ///< names of read_model(); "mtp", "ngram", "suffix"; heads: the draft is the target itself
  bool heads = false;
  AskedDeployment deployment = {};
};

struct DeployedPair {
  std::string target, draft;                ///< names of `models`, or of models that the profile has steps of
  std::vector<latency::ModelShape> models;  ///< the shipped ones and those that were read
  latency::Deployment target_deployment = {}, draft_deployment = {};
  std::int64_t max_drafts = 0;                         ///< of the draft in an iteration; 0: any number
  bool at_once = false;                                ///< all its drafts take one pass, or none
  std::optional<latency::HostDrafter> host = {};       ///< in place of a draft model
  std::optional<std::string> head_problem = {};        ///< why the draft cannot run on the target, or is not there
  std::optional<std::string> vocabulary_problem = {};  ///< why its tokens differ from the target's
  std::vector<std::string> notes = {};                 ///< one sentence each
  std::vector<FileDigest> files = {};                  ///< that were read
};

/// A model that the profile has steps of keeps its name there; nothing more has to be known of it. Throws InputError
/// for models that cannot be read.
[[nodiscard]] DeployedPair read_pair(const AskedPair& asked, const latency::Profile& profile);

/// The suggestion for a word that is not a format.
[[nodiscard]] std::string format_suggestion(std::string_view word);

/// The shipped model shapes with what is computed from them: parameters and those of a token (millions), the bytes of
/// the checkpoint in its own formats and those of weights that one decoder pass of one token reads in fp16 (GB, 1e9
/// bytes). At most 100 characters wide; the first table of docs/models.md.
[[nodiscard]] Table model_table();

/// What each of them is, its heads, the formats of its checkpoint (empty: 16 bits), the published count in millions
/// and how far it is rounded (empty: printed to the last parameter), and where its numbers stand. The second table of
/// docs/models.md.
[[nodiscard]] Table model_source_table();

}  // namespace foredraft::inputs
