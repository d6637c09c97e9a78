// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"

namespace foredraft::latency {

/// A model as described by the config.json of a checkpoint.
struct HuggingFaceModel {
  ModelShape shape;                      ///< named `name`; a drafter's config (heads.hpp) is an Architecture::head
  std::optional<WeightFormats> weights;  ///< of quantization_config, else of dtype; empty if it has neither
  std::optional<WeightFormats> drafting_weights;  ///< of its layers for drafting (MTP), where a quantization says them
  std::optional<NumberFormat> kv_cache;           ///< of quantization_config, if it states one
  bool quantized = false;                         ///< `weights` are those of a quantization_config
  std::vector<std::string> notes;                 ///< what was omitted or assumed, one sentence each
};

/// The model of a config.json. `name` is its name, also in messages; `assume` the architecture (model_type) to read it
/// as, empty: its own. Throws DomainError with one line per problem,
/// `name: key: problem (why) - suggestion`, all at once: an architecture that hugging_face_architectures() lacks, a
/// quantization, an activation or a layer that a shape cannot express, missing and impossible numbers. Keys that are
/// not needed are ignored.
[[nodiscard]] HuggingFaceModel parse_hugging_face(std::string_view json, const std::string& name,
                                                  std::string_view assume = {});

/// Takes the formats of a hf_quant_config.json, which older checkpoints of modelopt have beside a config.json without a
/// quantization; of weights if that is so. Throws as parse_hugging_face.
void add_quantization(HuggingFaceModel& model, std::string_view json, const std::string& name);

/// The supported values of model_type, sorted.
[[nodiscard]] std::vector<std::string> hugging_face_architectures();

}  // namespace foredraft::latency
