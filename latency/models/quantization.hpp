// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "latency/models/config_object.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"

/// Reads the formats of a model's parts from its quantization_config.
namespace foredraft::latency {

struct ConfigFormats {
  std::optional<WeightFormats> weights;
  std::optional<WeightFormats> drafting;  ///< of MTP layers, which lists often exclude
  std::optional<NumberFormat> kv_cache;
};

/// Reads a `quantization_config`, or the "quantization" of a hf_quant_config.json: fp8, fbgemm_fp8, awq, gptq,
/// compressed-tensors, modelopt, mxfp4, bitsandbytes, quark, auto-round, torchao. Any other method is a problem.
///
/// Lists of modules (exact names, globs, regular expressions, classes) are matched with the modules' names in
/// checkpoints. A part with different formats gets the format of most weights and the mean bits per weight. Modules
/// that no list names have the general format, except embedding and vocabulary projection, which have 16 bits. Scales
/// of blocks of 1024 or more weights are below 0.1 % and are ignored.
///
/// `experts`: format of routed experts, if stated separately (`expert_dtype` of DeepSeek-V4).
[[nodiscard]] ConfigFormats read_quantization(const ConfigObject& quantization, const ModelShape& shape,
                                              const std::optional<WeightFormat>& experts,
                                              std::vector<std::string>& notes);

}  // namespace foredraft::latency
