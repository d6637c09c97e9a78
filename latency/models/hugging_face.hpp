// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "latency/models/model_shape.hpp"

namespace foredraft::latency {

/// What the config.json of a checkpoint says.
struct HuggingFaceModel {
  ModelShape shape;                      ///< named `name`; an EAGLE or EAGLE-3 head is an Architecture::head
  std::optional<NumberFormat> weights;   ///< of quantization_config, else of dtype; nothing where it says neither
  std::optional<NumberFormat> kv_cache;  ///< where quantization_config says one
  std::vector<std::string> notes;        ///< what was left out or assumed, one sentence each
};

/// The model of a config.json. `name` names it and stands in messages. Throws DomainError with one line a problem,
/// `name: key: problem (why) - suggestion`, all at once: an architecture that hugging_face_architectures() lacks, a
/// quantization, an activation or a layer that a shape cannot express, missing and impossible numbers. Keys that nobody
/// needs are passed over.
[[nodiscard]] HuggingFaceModel parse_hugging_face(std::string_view json, const std::string& name);

/// The formats of a hf_quant_config.json, which older checkpoints of modelopt have beside a config.json that says
/// nothing of them, take the place of the model's. Throws as parse_hugging_face.
void add_quantization(HuggingFaceModel& model, std::string_view json, const std::string& name);

/// Each model_type that can be read, sorted.
[[nodiscard]] std::vector<std::string> hugging_face_architectures();

}  // namespace foredraft::latency
