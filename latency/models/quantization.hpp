// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "latency/models/config_object.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"

/// What a quantization_config says of each part of a model.
namespace foredraft::latency {

struct ConfigFormats {
  std::optional<WeightFormats> weights;
  std::optional<WeightFormats> drafting;  ///< of the layers for multi-token prediction, which lists often leave out
  std::optional<NumberFormat> kv_cache;
};

/// The formats of a `quantization_config`, or of the "quantization" of a hf_quant_config.json: fp8, fbgemm_fp8, awq,
/// gptq, compressed-tensors, modelopt, mxfp4, bitsandbytes, quark, auto-round, torchao. Any other method is a problem.
///
/// Lists of modules (exact names, globs, regular expressions, classes) are tested against the names that each layer's
/// modules have in checkpoints. A part whose modules differ has the mean of their bits, weighted by their weights, and
/// the format of most of them. What no list names has the format of the whole, but embedding and vocabulary projection
/// stay in 16 bits unless they are named. Scales of blocks of 1024 and more weights are below 0.1 % and do not count.
///
/// `experts`: format of the routed experts where the config states one besides (`expert_dtype` of DeepSeek-V4).
[[nodiscard]] ConfigFormats read_quantization(const ConfigObject& quantization, const ModelShape& shape,
                                              const std::optional<WeightFormat>& experts,
                                              std::vector<std::string>& notes);

}  // namespace foredraft::latency
