// SPDX-License-Identifier: Apache-2.0
#include "inputs/read_model.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <filesystem>

#include "core/names.hpp"
#include "core/problems.hpp"
#include "core/readable.hpp"
#include "foredraft/errors.hpp"
#include "inputs/checkpoint_names.hpp"
#include "latency/models/heads.hpp"
#include "latency/models/hugging_face.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/model_bytes.hpp"
#include "latency/surfaces/verification_surface.hpp"
#include "scenario/methods.hpp"

namespace foredraft::inputs {
namespace {

namespace fs = std::filesystem;
using latency::NumberFormat;

const latency::ModelShape* shipped_model(const std::string& name) {
  const std::vector<latency::ModelShape>& shapes = latency::model_registry();
  const auto found = std::ranges::find(shapes, lower_case(name), &latency::ModelShape::name);
  return found == shapes.end() ? nullptr : &*found;
}

std::string taken_for(const std::string& checkpoint) { return fmt::format("taken for {}", readable(checkpoint)); }

[[noreturn]] void throw_unknown(const std::string& what, const std::string& why) {
  std::string what_to_do;
  if (is_hub_id(what)) {
    const std::string name = what.substr(what.find('/') + 1);
    what_to_do =
        fmt::format("download its config.json, e.g. hf download {} config.json --local-dir {}, and name {}/config.json",
                    what, name, name);
  } else {
    const std::vector<std::string> known = texts_of(latency::model_registry(), &latency::ModelShape::name);
    what_to_do = scenario::method_suggestion(what);
    const bool is_method = !what_to_do.empty();
    if (!is_method) what_to_do = suggestion_for(lower_case(what), known, "models");
    if (!is_method && nearest(lower_case(what), known).empty()) {
      what_to_do += "; or name a FILE.toml, a config.json or a folder that holds one";
    }
  }
  throw InputError(fmt::format("{}: {} - {}", readable(what), why, what_to_do));
}

/// The name of the folder of a config.json; the name of any other file, without its extension.
std::string checkpoint_name(const fs::path& file) {
  if (file.filename() != "config.json") return file.stem().string();
  std::error_code unknown;
  const fs::path folder = fs::absolute(file, unknown).lexically_normal().parent_path();
  return folder.filename().empty() ? "config" : folder.filename().string();
}

[[noreturn]] void throw_not_assumed(const std::string& what) {
  throw InputError(
      fmt::format("{}: is no config.json (--assume says how to read one) - remove --assume", readable(what)));
}

ReadModel read_config(const fs::path& file, const std::string& assume, FileTexts& texts) {
  std::vector<FileDigest> digests;
  const std::string& text = read_input_once(file.string(), texts, digests);
  latency::HuggingFaceModel model = latency::parse_hugging_face(text, file.string(), assume);
  std::error_code unknown;
  const fs::path beside = file.parent_path() / "hf_quant_config.json";
  if (file.filename() == "config.json" && fs::exists(beside, unknown)) {
    latency::add_quantization(model, read_input_once(beside.string(), texts, digests), beside.string());
  }
  model.shape.name = checkpoint_name(file);
  return {std::move(model.shape), model.weights,          model.drafting_weights,
          model.kv_cache,         std::move(model.notes), std::move(digests)};
}

/// The named model of a file, or its only one.
ReadModel read_file_of_models(const std::string& path, const std::string& name, FileTexts& texts) {
  std::vector<FileDigest> digests;
  const std::string& text = read_input_once(path, texts, digests);
  std::vector<latency::ModelShape> models = latency::parse_models(text, path);
  if (name.empty() && models.size() == 1) {
    return {.shape = std::move(models.front()), .digests = std::move(digests)};
  }
  std::vector<std::string> known;
  for (latency::ModelShape& model : models) {
    if (model.name == name) return {.shape = std::move(model), .digests = std::move(digests)};
    known.push_back(model.name);
  }
  if (name.empty()) {
    throw InputError(fmt::format("{}: holds {} models - name one: {}:{}", readable(path), models.size(), readable(path),
                                 readable(known.front())));
  }
  throw InputError(
      fmt::format("{}: no model \"{}\" - {}", readable(path), readable(name), suggestion_for(name, known)));
}

ReadModel read_path(const std::string& what, const std::string& assume, FileTexts& texts) {
  std::error_code unknown;
  const fs::file_status status = fs::status(what, unknown);
  const std::size_t colon = what.rfind(".toml:");
  constexpr std::size_t toml = 5;
  if (status.type() == fs::file_type::not_found && colon != std::string::npos) {
    if (!assume.empty()) throw_not_assumed(what);
    return read_file_of_models(what.substr(0, colon + toml), what.substr(colon + toml + 1), texts);
  }
  if (status.type() == fs::file_type::not_found || what.empty() || is_gguf_file(what)) {
    if (const latency::ModelShape* shape = shape_of_checkpoint(what)) {
      if (!assume.empty()) throw_not_assumed(what);
      return {.shape = *shape, .notes = {taken_for(what)}};
    }
    if (const auto quantized = quantized_checkpoint(what); quantized && assume.empty()) {
      std::string note = taken_for(what);
      if (quantized->weights) {
        note += fmt::format(", all matrices of its layers in {}; its config.json says which are",
                            to_text(*quantized->weights));
      }
      return {.shape = *quantized->shape, .weights = quantized->weights, .notes = {note}};
    }
    throw_unknown(what, is_gguf_file(what) ? "no shipped model of this name; GGUF files are not read"
                                           : "neither a shipped model nor a file");
  }
  if (fs::is_directory(status)) {
    const fs::path config = fs::path(what) / "config.json";
    if (!fs::exists(config, unknown)) throw_unknown(what, "a folder without a config.json");
    return read_config(config, assume, texts);
  }
  if (fs::path(what).extension() != ".toml") return read_config(what, assume, texts);
  if (!assume.empty()) throw_not_assumed(what);
  return read_file_of_models(what, "", texts);
}

/// Maximum padding of a vocabulary, as a fraction of its size.
constexpr double max_padding = 0.01;

bool other_tokens(const latency::ModelShape& target, const latency::ModelShape& draft) {
  const auto [fewer, more] = std::minmax(target.vocabulary, draft.vocabulary);
  return static_cast<double>(more - fewer) / static_cast<double>(more) >= max_padding;
}

// ---- a pair

bool has_steps(const latency::Profile& profile, const std::string& model) {
  return std::ranges::any_of(profile.steps, [&](const latency::StepRow& row) { return row.cell.model == model; });
}

std::optional<ReadModel> read_named(const latency::Profile& profile, std::string& name, DeployedPair& pair,
                                    FileTexts* texts, const std::string& assume = {}) {
  const bool known = std::ranges::find(pair.models, name, &latency::ModelShape::name) != pair.models.end();
  if (latency::holds_steps_alone(profile.source) || (!known && has_steps(profile, name))) {
    if (const latency::ModelShape* shape = has_steps(profile, name) ? nullptr : shape_of_checkpoint(name);
        shape != nullptr && has_steps(profile, shape->name)) {
      if (lower_case(name) != shape->name) pair.notes.push_back(fmt::format("{}: {}", shape->name, taken_for(name)));
      name = shape->name;
    }
    return std::nullopt;
  }
  ReadModel read = read_model(name, assume, texts);
  name = read.shape.name;
  for (const std::string& note : read.notes) pair.notes.push_back(fmt::format("{}: {}", name, note));
  if (!read.digests.empty()) {
    pair.files.insert(pair.files.end(), read.digests.begin(), read.digests.end());
    std::erase_if(pair.models, [&](const latency::ModelShape& shape) { return shape.name == name; });
    pair.models.push_back(read.shape);
  }
  return read;
}

/// Drafters without a model.
constexpr std::array<std::string_view, 2> host_drafters{"ngram", "suffix"};

/// True for "mtp" and the names that engines have for it: "nextn", "deepseek_mtp", "qwen3_next_mtp".
bool means_own_layers(const std::string& name) {
  const std::string lower = lower_case(name);
  return lower == "mtp" || lower == "nextn" || lower.ends_with("_mtp");
}

/// The target's MTP layers as a draft. Sets a problem and returns nullopt if the target has none.
std::optional<ReadModel> read_own_layers(const std::optional<ReadModel>& target, DeployedPair& pair) {
  if (!target || target->shape.drafting.layers == 0) {
    pair.head_problem = fmt::format(
        "{} has no layers for drafting (MTP) - name a head or a draft model, or a config.json that states "
        "such layers as the target",
        readable(pair.target));
    return std::nullopt;
  }
  ReadModel read{.shape = latency::mtp_head(target->shape),
                 .weights = target->drafting_weights ? target->drafting_weights : target->weights,
                 .kv_cache = target->kv_cache};
  pair.draft = read.shape.name;
  std::erase_if(pair.models, [&](const latency::ModelShape& shape) { return shape.name == pair.draft; });
  pair.models.push_back(read.shape);
  return read;
}

/// The head that a method means, alone ("eagle3") or beside the target's name ("Qwen3-14B_eagle3"): a shipped one, or a
/// head of the standard design. nullopt if `pair.draft` is something else. Throws InputError for the method alone if
/// the head's widths do not follow from the target's.
std::optional<ReadModel> read_standard_head(const std::optional<ReadModel>& target, DeployedPair& pair) {
  std::error_code unknown;
  if (!target || shape_of_checkpoint(pair.draft) != nullptr || fs::exists(pair.draft, unknown)) return std::nullopt;
  const std::string asked = plain_checkpoint_name(pair.draft);
  const auto* const kind = std::ranges::find_if(latency::head_kinds, [&](auto one) { return asked.starts_with(one); });
  if (kind == latency::head_kinds.end()) return std::nullopt;
  const std::string of = asked.substr(kind->size());
  if (!of.empty() && !has_shape_name(target->shape, of)) return std::nullopt;
  const std::string name = fmt::format("{}-{}", *kind, target->shape.name);
  if (const latency::ModelShape* shipped = shape_of_checkpoint(name)) {
    pair.draft = shipped->name;
    return ReadModel{.shape = *shipped, .weights = shipped->native_formats};
  }
  const auto head = latency::standard_head(*kind, target->shape);
  if (!head && of.empty()) {
    throw InputError(fmt::format(
        "{}: no such head of {} ships, and its widths do not follow from the target's - name its config.json",
        readable(pair.draft), readable(target->shape.name)));
  }
  if (!head) return std::nullopt;
  pair.notes.push_back(fmt::format("{}: taken for a head with the widths of {}; --draft config.json names yours",
                                   readable(pair.draft), readable(target->shape.name)));
  pair.draft = head->name;
  std::erase_if(pair.models, [&](const latency::ModelShape& shape) { return shape.name == pair.draft; });
  pair.models.push_back(*head);
  return ReadModel{.shape = *head};
}

void note_limits(const latency::ModelShape& draft, DeployedPair& pair) {
  pair.max_drafts = latency::max_drafts(draft);
  pair.at_once = draft.head.block_size > 0;
  if (!pair.at_once) return;
  pair.notes.push_back(fmt::format("{}: one pass drafts a block of up to {} tokens (drafter block)",
                                   readable(draft.name), pair.max_drafts));
}

/// True if the host drafts without a model.
bool read_host_drafter(const AskedPair& asked, const latency::Profile& profile, DeployedPair& pair) {
  const bool host = std::ranges::find(host_drafters, asked.draft) != host_drafters.end();
  if (!host || asked.heads || has_steps(profile, asked.draft)) return false;
  pair.at_once = true;
  pair.host = latency::default_host_drafter();
  if (asked.deployment.draft_host_us) pair.host = latency::HostDrafter{.request_us = *asked.deployment.draft_host_us};
  pair.notes.push_back(fmt::format(
      "{}: drafts are looked up on the host, {}; verification is costed at the full draft length", asked.draft,
      asked.deployment.draft_host_us ? "as stated" : "1.06 ns a token of context (vllm-project/vllm#56732)"));
  return true;
}

/// Split over devices, and routing of experts.
struct AskedSplit {
  std::optional<std::int64_t> tensor, pipeline;
  std::optional<double> skew;
};

latency::Deployment deployment_of(const std::optional<ReadModel>& model,
                                  const std::optional<latency::WeightFormats>& weights,
                                  std::optional<NumberFormat> cache, const AskedSplit& split) {
  latency::Deployment deployment{.tensor_parallel = split.tensor.value_or(1),
                                 .pipeline_parallel = split.pipeline.value_or(1),
                                 .expert_skew = split.skew};
  deployment.weights =
      weights ? *weights : (model ? model->weights : std::nullopt).value_or(latency::WeightFormats(NumberFormat::fp16));
  deployment.kv_cache = cache ? *cache
                              : (model ? model->kv_cache : std::nullopt)
                                    .value_or(latency::default_cache_format(deployment.weights.layers()));
  return deployment;
}

/// Adds notes about formats.
void note_formats(const ReadModel& model, const std::optional<latency::WeightFormats>& stated, DeployedPair& pair) {
  if (stated && stated->name().starts_with("ud-")) {
    pair.notes.push_back(
        fmt::format("{}: Unsloth chooses types by layer and model; counted as the file of llama.cpp of "
                    "that size",
                    stated->name()));
  }
  if (!stated && model.weights && model.weights == model.shape.native_formats) {
    pair.notes.push_back(
        fmt::format("{}: in the formats of its checkpoint, {}", model.shape.name, to_text(*model.weights)));
  }
}

/// A head without its own vocabulary projection reads the target's.
void share_vocabulary(const latency::ModelShape& draft, DeployedPair& pair) {
  if (draft.architecture != latency::Architecture::head || draft.head.own_vocabulary) return;
  latency::WeightFormats& formats = pair.draft_deployment.weights;
  const latency::WeightFormat& shared = pair.target_deployment.weights.of(latency::ModelPart::vocabulary);
  if (formats.of(latency::ModelPart::vocabulary).bits != shared.bits) {
    formats.set(latency::ModelPart::vocabulary, shared);
  }
}

// ---- tables

std::string layers_text(const latency::ModelShape& shape) {
  return shape.encoder_layers > 0 ? fmt::format("{}+{}", shape.encoder_layers, shape.layers)
                                  : fmt::format("{}", shape.layers);
}

std::string heads_text(const latency::ModelShape& shape) {
  return shape.heads == shape.kv_heads ? fmt::format("{}", shape.heads)
                                       : fmt::format("{}/{}", shape.heads, shape.kv_heads);
}

std::string experts_text(const latency::ModelShape& shape) {
  return shape.experts.count == 0 ? "" : fmt::format("{}/{}", shape.experts.per_token, shape.experts.count);
}

/// Active parameters in millions; empty if all are active.
std::string active_text(const latency::ModelShape& shape) {
  return shape.experts.count == 0 ? "" : fmt::format("{:.1f}", latency::active_parameters(shape) / 1e6);
}

/// Bytes in the published formats, else in 16 bits.
double file_bytes(const latency::ModelShape& shape) {
  if (!shape.native_formats) return 2.0 * latency::parameters(shape);
  return latency::weight_bytes(shape, {.weights = *shape.native_formats});
}

/// In millions.
std::string published_text(const latency::ModelShape& shape) {
  if (!shape.published_parameters) return "";
  const double millions = *shape.published_parameters / 1e6;
  return shape.published_rounding == 0.0 ? fmt::format("{:.1f}", millions) : fmt::format("{}", millions);
}

std::string rounding_text(const latency::ModelShape& shape) {
  if (!shape.published_parameters || shape.published_rounding == 0.0) return "";
  return fmt::format("{}", shape.published_rounding / 1e6);
}

}  // namespace

ReadModel read_model(const std::string& what, const std::string& assume, FileTexts* texts) {
  if (const latency::ModelShape* shape = shipped_model(what)) {
    if (!assume.empty()) throw_not_assumed(what);
    return {.shape = *shape, .weights = shape->native_formats};
  }
  try {
    FileTexts own;
    ReadModel model = read_path(what, assume, texts == nullptr ? own : *texts);
    if (!model.weights) model.weights = model.shape.native_formats;
    return model;
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
}

std::optional<std::string> vocabulary_problem(const latency::ModelShape& target, const latency::ModelShape& draft) {
  if (!other_tokens(target, draft)) return std::nullopt;
  return fmt::format(
      "{} has {} tokens and {} has {}: they have different tokenizers, so a draft of one is no token of the other",
      readable(target.name), target.vocabulary, readable(draft.name), draft.vocabulary);
}

std::optional<std::string> vocabulary_note(const latency::ModelShape& target, const latency::ModelShape& draft) {
  if (target.vocabulary == draft.vocabulary || other_tokens(target, draft)) return std::nullopt;
  return fmt::format("{} has {} tokens and {} has {}: assumed to share a tokenizer, with tables padded differently",
                     readable(target.name), target.vocabulary, readable(draft.name), draft.vocabulary);
}

std::optional<std::string> head_problem(const latency::ModelShape& target, const latency::ModelShape& draft) {
  if (draft.architecture != latency::Architecture::head) return std::nullopt;
  const std::int64_t width = draft.head.hidden_width > 0 ? draft.head.hidden_width : draft.d_model;
  if (width == target.d_model) return std::nullopt;
  return fmt::format("{} reads hidden states of width {}, those of {} have {} - use a head of this target",
                     readable(draft.name), width, readable(target.name), target.d_model);
}

DeployedPair read_pair(const AskedPair& asked, const latency::Profile& profile, FileTexts* texts) {
  DeployedPair pair{.target = asked.target, .draft = asked.draft, .models = latency::model_registry()};
  const std::optional<ReadModel> target = read_named(profile, pair.target, pair, texts, asked.deployment.assume);
  if (auto ignored = latency::ignored_verifications(profile)) pair.notes.push_back(*std::move(ignored));
  const bool own_layers = !asked.heads && means_own_layers(asked.draft) && !has_steps(profile, asked.draft);
  if (asked.heads) pair.draft = pair.target;
  const bool host = read_host_drafter(asked, profile, pair);
  std::optional<ReadModel> draft;
  if (asked.heads) {
    draft = target;
  } else if (own_layers) {
    draft = read_own_layers(target, pair);
  } else if (!host) {
    draft = read_standard_head(target, pair);
    if (!draft) draft = read_named(profile, pair.draft, pair, texts);
  }
  if (draft) note_limits(draft->shape, pair);
  if (target && draft && !asked.heads) {
    pair.head_problem = head_problem(target->shape, draft->shape);
    pair.vocabulary_problem = vocabulary_problem(target->shape, draft->shape);
    if (auto note = vocabulary_note(target->shape, draft->shape)) pair.notes.push_back(*std::move(note));
  }
  const AskedDeployment& on = asked.deployment;
  pair.target_deployment =
      deployment_of(target, on.target_format, on.kv_format, {on.target_tp, on.target_pp, on.expert_skew});
  pair.draft_deployment =
      deployment_of(draft, own_layers && !on.draft_format ? on.target_format : on.draft_format, on.kv_format,
                    {own_layers && !on.draft_tp ? on.target_tp : on.draft_tp, {}, on.expert_skew});
  if (target) note_formats(*target, on.target_format, pair);
  if (draft && !asked.heads) {
    if (!own_layers) note_formats(*draft, on.draft_format, pair);
    share_vocabulary(draft->shape, pair);
  }
  return pair;
}

std::string format_suggestion(std::string_view word) {
  const std::vector<std::string>& known = latency::weight_format_words();
  if (!nearest(word, known).empty()) return suggestion_for(word, known);
  std::string plain;
  for (const NumberFormat one : latency::number_formats()) {
    if (one < NumberFormat::q8_0) plain += fmt::format("{}, ", to_string(one));
  }
  return fmt::format("known: {}files of llama.cpp such as q4_k_m and q8_0, and others (docs/models.md)", plain);
}

Table model_table() {
  Table table;
  table.columns = {
      {"model", Table::Align::left},     {"layers", Table::Align::right},  {"d_model", Table::Align::right},
      {"experts", Table::Align::right},  {"tokens", Table::Align::right},  {"params M", Table::Align::right},
      {"active M", Table::Align::right}, {"file GB", Table::Align::right}, {"step GB", Table::Align::right}};
  for (const latency::ModelShape& shape : latency::model_registry()) {
    table.rows.push_back({shape.name, layers_text(shape), fmt::format("{}", shape.d_model), experts_text(shape),
                          fmt::format("{}", shape.vocabulary), fmt::format("{:.1f}", latency::parameters(shape) / 1e6),
                          active_text(shape), fmt::format("{:.3f}", file_bytes(shape) / 1e9),
                          fmt::format("{:.3f}", 2.0 * latency::step_parameters(shape) / 1e9)});
  }
  return table;
}

Table model_source_table() {
  Table table;
  table.columns = {{"model", Table::Align::left},        {"what", Table::Align::left},
                   {"heads/kv", Table::Align::right},    {"formats", Table::Align::left},
                   {"published M", Table::Align::right}, {"to +- M", Table::Align::right},
                   {"source", Table::Align::left}};
  for (const latency::ModelShape& shape : latency::model_registry()) {
    table.rows.push_back({shape.name, shape.summary, heads_text(shape),
                          shape.native_formats ? to_text(*shape.native_formats) : "", published_text(shape),
                          rounding_text(shape), shape.source});
  }
  return table;
}

}  // namespace foredraft::inputs
