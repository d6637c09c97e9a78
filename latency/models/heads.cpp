// SPDX-License-Identifier: Apache-2.0
#include "latency/models/heads.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/errors.hpp"
#include "latency/models/family_blocks.hpp"

namespace foredraft::latency {
namespace {

/// Kinds of heads, by method.
enum class HeadKind { eagle, eagle3, dflash, dspark, domino, peagle, medusa, stages };

struct HeadWord {
  std::string_view word;
  HeadKind kind;
};
/// Words in names of architectures; the first match counts.
constexpr std::array architecture_words{HeadWord{"PEagle", HeadKind::peagle}, HeadWord{"DFlash", HeadKind::dflash},
                                        HeadWord{"DSpark", HeadKind::dspark}, HeadWord{"Domino", HeadKind::domino},
                                        HeadWord{"Eagle3", HeadKind::eagle3}, HeadWord{"Eagle", HeadKind::eagle},
                                        HeadWord{"Medusa", HeadKind::medusa}, HeadWord{"MLPSpec", HeadKind::stages}};
/// Values of speculators_model_type, model_type and projector_type.
constexpr std::array type_words{HeadWord{"peagle", HeadKind::peagle}, HeadWord{"dflash", HeadKind::dflash},
                                HeadWord{"dspark", HeadKind::dspark}, HeadWord{"domino", HeadKind::domino},
                                HeadWord{"eagle3", HeadKind::eagle3}, HeadWord{"eagle", HeadKind::eagle},
                                HeadWord{"medusa", HeadKind::medusa}, HeadWord{"mlp_speculator", HeadKind::stages}};

std::vector<std::string> architectures_of(const ConfigObject& config) {
  return config.texts("architectures").value_or(std::vector<std::string>{});
}

std::optional<HeadKind> kind_of_type(const std::optional<std::string>& type) {
  if (!type) return std::nullopt;
  const auto* found = std::find_if(type_words.begin(), type_words.end(),
                                   [&](const HeadWord& one) { return type->starts_with(one.word); });
  return found == type_words.end() ? std::nullopt : std::optional(found->kind);
}

std::optional<HeadKind> kind_of_architecture(const ConfigObject& config) {
  for (const std::string& name : architectures_of(config)) {
    for (const HeadWord& one : architecture_words) {
      if (name.find(one.word) != std::string::npos) return one.kind;
    }
  }
  return std::nullopt;
}

std::optional<HeadKind> kind_of_head(const ConfigObject& config) {
  if (const auto kind = kind_of_architecture(config)) return kind;
  for (const std::string_view key : {"speculators_model_type", "model_type"}) {
    if (const auto kind = kind_of_type(config.text(key))) return kind;
  }
  if (const auto block = config.object("dflash_config")) {
    return kind_of_type(block->text("projector_type")).value_or(HeadKind::dflash);
  }
  if (config.has("medusa_num_heads")) return HeadKind::medusa;
  if (config.has("n_predict")) return HeadKind::stages;
  if (config.has("draft_vocab_size")) return HeadKind::eagle3;
  // EAGLE of 2024 has neither its own vocabulary nor its name in the architecture.
  const bool one_layer = config.whole_or("num_hidden_layers", 0) == 1;
  if (one_layer && config.text("model_type").value_or("") == "llama") return HeadKind::eagle;
  return std::nullopt;
}

const ConfigFamily* layer_family(std::string_view model_type) {
  const std::vector<ConfigFamily>& families = config_families();
  const auto found = std::ranges::find(families, model_type, &ConfigFamily::model_type);
  return found == families.end() ? nullptr : &*found;
}

/// Reads the layers. Their family is the start of the architecture's name ("LlamaForCausalLMEagle3" for a Qwen target
/// has LLaMA layers); latent attention is recognized by its ranks; otherwise the model_type, or LLaMA if that is
/// unknown.
void read_layers_of_head(FamilyReading& reading, const ConfigObject& outer) {
  const ConfigObject& config = reading.config;
  std::string type = config.text("model_type").value_or("llama");
  for (const std::string& name : architectures_of(outer)) {
    if (name.starts_with("Llama")) type = "llama";
  }
  if (config.has("kv_lora_rank")) type = "deepseek_v2";
  const ConfigFamily* family = layer_family(type);
  if (family == nullptr) family = layer_family(type + "_text");
  if (family == nullptr) family = layer_family("llama");
  family->read(reading);
  ModelShape& shape = reading.shape;
  shape.architecture = Architecture::head;
  shape.max_context = 0;  // it is the training length; engines use the target's maximum
  shape.tied = false;
  shape.drafting = {};
}

/// Number of entries of a list; nullopt if it is missing or empty.
std::optional<std::int64_t> count_of(const std::optional<ConfigObject>& config, std::string_view key) {
  if (!config) return std::nullopt;
  const auto list = config->wholes(key);
  if (!list || list->empty()) return std::nullopt;
  return static_cast<std::int64_t>(list->size());
}

/// HeadInputs with hidden_states and hidden_width.
HeadInputs inputs_of_target(const ConfigObject& outer, const ModelShape& shape, std::int64_t states) {
  HeadInputs inputs{.hidden_states = states, .hidden_width = outer.whole_or("target_hidden_size", 0)};
  if (inputs.hidden_width == shape.d_model) inputs.hidden_width = 0;
  return inputs;
}

void read_eagle(FamilyReading& reading, const ConfigObject& outer) {
  read_layers_of_head(reading, outer);
  // Only the projection of embedding and hidden state may have a bias.
  if (reading.config.flag("bias", false)) add_further(reading.shape, as_double(reading.shape.d_model));
  reading.notes.emplace_back("one layer of LLaMA: read as an EAGLE head, which has its target's vocabulary");
}

/// Reads keys that EAGLE-3 and P-EAGLE share. EAGLE-3.1 has a norm of each hidden state before their projection.
void read_wide_head(FamilyReading& reading, const ConfigObject& outer) {
  ModelShape& shape = reading.shape;
  constexpr std::int64_t default_states = 3;
  const std::optional<ConfigObject> eagle = outer.object("eagle_config");
  const std::int64_t states = count_of(eagle, "eagle_aux_hidden_state_layer_ids").value_or(default_states);
  shape.head = inputs_of_target(outer, shape, states);
  shape.head.wide_attention = true;
  shape.head.draft_vocabulary = outer.whole_or("draft_vocab_size", 0);
  shape.head.own_vocabulary = true;
  if (outer.flag("fc_norm", false)) {
    const std::int64_t width = shape.head.hidden_width > 0 ? shape.head.hidden_width : shape.d_model;
    add_further(shape, as_double(states) * as_double(width));
  }
}

void read_eagle3(FamilyReading& reading, const ConfigObject& outer) {
  ModelShape& shape = reading.shape;
  read_layers_of_head(reading, outer);
  if (shape.layers != 1) {
    reading.notes.push_back(
        fmt::format("num_hidden_layers is {}: read as 1, the layers of every EAGLE-3 head", shape.layers));
    shape.layers = 1;
  }
  read_wide_head(reading, outer);
}

void read_peagle(FamilyReading& reading, const ConfigObject& outer) {
  ModelShape& shape = reading.shape;
  read_layers_of_head(reading, outer);
  read_wide_head(reading, outer);
  constexpr std::int64_t default_drafts = 8;
  shape.head.block_size = outer.whole_or("block_size", 0);
  if (shape.head.block_size == 0) {
    reading.notes.push_back(
        fmt::format("P-EAGLE without block_size: at most {} drafts a pass are assumed", default_drafts));
    shape.head.block_size = default_drafts;
  }
  shape.head.anchor_drafts = true;
  // The learned hidden state for tokens that are not verified yet.
  const std::int64_t width = shape.head.hidden_width > 0 ? shape.head.hidden_width : shape.d_model;
  add_further(shape, as_double(shape.head.hidden_states) * as_double(width));
}

/// Reads a Markov head: a table and a projection of rank r from the previous token to the vocabulary, optionally with a
/// gate or a state, and a confidence per position.
void read_markov_head(ModelShape& shape, const ConfigObject& keys) {
  const double rank = as_double(keys.whole_or("markov_rank", 0));
  const double width = as_double(shape.d_model), vocabulary = as_double(shape.vocabulary);
  const std::string type = keys.text("markov_head_type").value_or("vanilla");
  double correction = rank * vocabulary;
  if (type == "gated") correction += (width + rank) * rank + rank;
  if (type == "rnn") correction += (2.0 * rank + width) * 3.0 * rank + 3.0 * rank;
  if (type != "vanilla" && type != "gated" && type != "rnn") {
    keys.reject("markov_head_type", fmt::format("\"{}\" is not known", type), "", "vanilla, gated or rnn");
  }
  shape.head.correction_parameters = static_cast<std::int64_t>(correction);
  add_further(shape, vocabulary * rank);
  if (!keys.flag("enable_confidence_head", false)) return;
  add_further(shape, width + (keys.flag("confidence_head_with_markov", true) ? rank : 0.0) + 1.0);
}

/// Reads a recurrent head: a GRU over the embeddings of the drafts; its state and the hidden state are projected
/// through emb_dim to the vocabulary.
void read_recurrent_head(ModelShape& shape, const ConfigObject& keys) {
  const double state = as_double(keys.required("gru_hidden_dim")), inner = as_double(keys.required("emb_dim"));
  const double width = as_double(shape.d_model);
  shape.head.correction_parameters = static_cast<std::int64_t>(3.0 * state * (width + state) + (width + state) * inner +
                                                               inner * as_double(shape.vocabulary));
}

/// Reads DFlash and its variants. A block begins with the last known token. In DFlash this position drafts nothing; in
/// DSpark, and in Domino with shift_label, each position drafts the next token.
void read_block_head(FamilyReading& reading, const ConfigObject& outer, HeadKind kind) {
  ModelShape& shape = reading.shape;
  read_layers_of_head(reading, outer);
  const std::optional<ConfigObject> nested = outer.object("dflash_config");
  const ConfigObject& keys = nested ? *nested : outer;
  std::optional<std::int64_t> states = count_of(nested, "target_layer_ids");
  for (const std::string_view key : {"target_layer_ids", "aux_hidden_state_layer_ids"}) {
    if (!states) states = count_of(outer, key);
  }
  shape.head = inputs_of_target(outer, shape, states.value_or(shape.layers));
  shape.head.draft_vocabulary = outer.whole_or("draft_vocab_size", 0);
  shape.head.own_vocabulary = shape.head.draft_vocabulary > 0;
  shape.head.block_size = outer.has("block_size") ? outer.required("block_size") : keys.required("block_size");
  const bool shifted = kind == HeadKind::dspark || (kind == HeadKind::domino && keys.flag("shift_label", false));
  shape.head.anchor_drafts = outer.flag("sample_from_anchor", shifted);
  if (kind == HeadKind::dspark) read_markov_head(shape, nested ? keys : outer);
  if (kind == HeadKind::domino) read_recurrent_head(shape, keys);
}

/// Sets a head with stages without attention.
void read_stages(ModelShape& shape, std::int64_t stages, std::int64_t width) {
  shape.architecture = Architecture::head;
  shape.d_model = width;
  shape.layers = 1;
  shape.attention_layers = shape.feed_forward_layers = 0;
  // Without attention, any number of heads is valid.
  shape.heads = shape.kv_heads = 1;
  shape.head_dim = 2;
  shape.head = {.own_vocabulary = true, .stages = stages};
}

/// Parallel heads on one hidden state, each with residual blocks and a vocabulary projection. [Cai2024]
void read_medusa(ModelShape& shape, const ConfigObject& config) {
  const auto key = [&config](std::string_view first, std::string_view second) {
    return config.has(first) ? first : second;
  };
  read_stages(shape, config.required(key("medusa_num_heads", "num_heads")), config.required("hidden_size"));
  shape.layers = config.whole_or(key("medusa_num_layers", "num_hidden_layers"), 1);
  shape.vocabulary = config.required("vocab_size");
  shape.bias = true;
  const double width = as_double(shape.d_model);
  const double stage = as_double(shape.layers) * (width + 1.0) * width + as_double(shape.vocabulary) * width;
  add_further(shape, (as_double(shape.head.stages) - 1.0) * stage);
}

/// Each stage embeds the previous token with its own table, adds the projected state, and normalizes.
/// [Wertheimer2024]
void read_mlp_speculator(ModelShape& shape, const ConfigObject& config) {
  const std::int64_t target = config.required("emb_dim");
  const std::int64_t inner = config.whole_or("inner_dim", 0);
  read_stages(shape, config.required("n_predict"), inner > 0 ? inner : target);
  shape.norm = Norm::layer;
  shape.vocabulary = config.required("vocab_size");
  shape.head.hidden_width = target == shape.d_model ? 0 : target;
  const double width = as_double(shape.d_model), table = as_double(shape.vocabulary) * width;
  const double later = as_double(shape.head.stages) - 1.0;
  // Tied: all stages share their weights, except for the projection of the first.
  add_further(shape, table + (config.flag("tie_weights", false) ? (later > 0.0 ? width * width : 0.0)
                                                                : later * (2.0 * table + width * width + 2.0 * width)));
}

}  // namespace

bool is_head(const ConfigObject& config) { return kind_of_head(config).has_value(); }

void read_head(FamilyReading& reading, const ConfigObject& outer) {
  const HeadKind kind = kind_of_head(outer).value_or(HeadKind::eagle);
  switch (kind) {
    case HeadKind::eagle:
      return read_eagle(reading, outer);
    case HeadKind::eagle3:
      return read_eagle3(reading, outer);
    case HeadKind::peagle:
      return read_peagle(reading, outer);
    case HeadKind::dflash:
    case HeadKind::dspark:
    case HeadKind::domino:
      return read_block_head(reading, outer, kind);
    case HeadKind::medusa:
      return read_medusa(reading.shape, outer);
    case HeadKind::stages:
      return read_mlp_speculator(reading.shape, outer);
  }
}

ModelShape mtp_head(const ModelShape& target) {
  if (target.drafting.layers == 0) {
    throw DomainError(target.name + ": has no layers for drafting (MTP)");
  }
  ModelShape head = target;
  head.name = "mtp-" + target.name;
  head.summary = "the MTP layer of " + target.name + " as a drafting head";
  head.architecture = Architecture::head;
  head.layers = 1;
  head.tied = false;
  head.drafting = {};
  head.linear = {};
  head.attention_layers.reset();
  head.feed_forward_layers.reset();
  // If all layers have a window, this layer has one too.
  const bool windowed = target.drafting.windowed || target.window.layers == attention_layers(target);
  if (!windowed) head.window = {};
  if (head.window.layers > 0) head.window.layers = 1;
  head.sparse.resize(windowed ? 0 : std::min<std::size_t>(head.sparse.size(), 1));
  for (SparseAttention& sparse : head.sparse) sparse.layers = 1;
  head.experts.dense_layers = 0;
  if (target.drafting.dense) head.experts = {};
  // Norms of embedding and hidden state. Other additional parameters of this layer are unknown.
  head.further_parameters = 2 * target.d_model;
  head.published_parameters.reset();
  head.published_rounding = 0.0;
  return head;
}

std::optional<ModelShape> standard_head(std::string_view kind, const ModelShape& target) {
  const bool dense = target.experts.count == 0 && target.latent.kv_rank == 0 && target.sparse.empty();
  if (!dense || target.architecture != Architecture::decoder) return std::nullopt;
  ModelShape head{.name = fmt::format("{}-{}", kind, target.name),
                  .summary = fmt::format("head of {} with the widths of its target", target.name),
                  .source = "sgl-project/SpecForge configs of other targets",
                  .architecture = Architecture::head,
                  .layers = 1,
                  .d_model = target.d_model,
                  .heads = target.heads,
                  .kv_heads = target.kv_heads,
                  .head_dim = target.head_dim,
                  .d_ff = target.d_ff,
                  .gated = true,
                  .vocabulary = target.vocabulary};
  if (kind == "eagle3") {
    head.head = {.hidden_states = 3, .wide_attention = true, .draft_vocabulary = 32000, .own_vocabulary = true};
    head.head.draft_vocabulary = std::min(head.head.draft_vocabulary, target.vocabulary);
  } else if (kind == "dflash") {
    head.layers = 5;
    head.query_key_norm = true;
    head.head = {.hidden_states = 5, .block_size = 16};
  }
  return head;
}

}  // namespace foredraft::latency
