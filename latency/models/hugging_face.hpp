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
  ModelShape shape;                      ///< a drafter's config (heads.hpp) gives an Architecture::head
  std::optional<WeightFormats> weights;  ///< from quantization_config, else from dtype; empty if there is neither
  std::optional<WeightFormats> drafting_weights;  ///< of MTP layers, if a quantization states them
  std::optional<NumberFormat> kv_cache;           ///< from quantization_config; empty if not stated
  bool quantized = false;                         ///< `weights` come from a quantization_config
  std::vector<std::string> notes;                 ///< omissions and assumptions, one sentence each
};

/// Parses a config.json. `name`: name of the model, also in messages. `assume`: architecture (model_type) to read it
/// as; empty: its own. Unknown keys are ignored. Throws DomainError, which lists all problems, one per line, `name:
/// key: problem (why) - suggestion`: an unsupported architecture, a quantization, activation or layer that ModelShape
/// cannot express, missing and invalid numbers.
[[nodiscard]] HuggingFaceModel parse_hugging_face(std::string_view json, const std::string& name,
                                                  std::string_view assume = {});

/// Adds the formats of a hf_quant_config.json, which older modelopt checkpoints have in addition to a config.json.
/// Formats of weights are used only if the config.json has no quantization. Throws as parse_hugging_face.
void add_quantization(HuggingFaceModel& model, std::string_view json, const std::string& name);

/// The supported values of model_type, sorted.
[[nodiscard]] std::vector<std::string> hugging_face_architectures();

}  // namespace foredraft::latency
