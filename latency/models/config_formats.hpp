// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "latency/models/config_object.hpp"
#include "latency/models/deployment.hpp"

namespace foredraft::latency {

struct ConfigFormats {
  std::optional<NumberFormat> weights, kv_cache;
};

/// Formats of a `quantization_config`: fp8, awq, gptq, compressed-tensors, modelopt, mxfp4, bitsandbytes of 8 bits.
/// Another method is a problem.
[[nodiscard]] ConfigFormats read_quantization(const ConfigObject& quantization, std::vector<std::string>& notes);

}  // namespace foredraft::latency
