// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"

/// Which shipped model the name of a checkpoint means.
namespace foredraft::inputs {

/// True for "OWNER/NAME" that is not another kind of path.
[[nodiscard]] bool is_hub_id(std::string_view name);

[[nodiscard]] bool is_gguf_file(const std::string& name);

/// A checkpoint's name without owner and training variants, to compare shapes: "llama3.1.8b". The kind of a head comes
/// first.
[[nodiscard]] std::string plain_checkpoint_name(const std::string& name);

/// True if the shape has this name, as plain_checkpoint_name() writes it.
[[nodiscard]] bool has_shape_name(const latency::ModelShape& shape, const std::string& wanted);

/// The shipped shape of a checkpoint on the Hugging Face hub, with or without owner; null if there is none.
[[nodiscard]] const latency::ModelShape* shape_of_checkpoint(const std::string& name);

/// A checkpoint with a format, or words about one, at the end of its name.
struct QuantizedCheckpoint {
  const latency::ModelShape* shape;
  std::optional<latency::WeightFormats> weights;  ///< nullopt: the shape's own
};

/// Reads names such as Qwen3-8B-FP8-dynamic, Llama-3.1-8B-Instruct-AWQ-INT4, Qwen3-8B-quantized.w4a16, Qwen3-8B-4bit,
/// Qwen3-8B-UD-Q4_K_XL.gguf and Qwen3-8B-GGUF:Q8_0. A GGUF repository without a format means that of the checkpoint, if
/// it is quantized already, else Q4_K_M, which llama.cpp downloads. The last format counts.
[[nodiscard]] std::optional<QuantizedCheckpoint> quantized_checkpoint(const std::string& what);

}  // namespace foredraft::inputs
