// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "gpu_bench/profile/cell.hpp"
#include "gpu_bench/step/program.hpp"

namespace foredraft::gpu_bench {

/// The pass that a cell names, of a model of this shape. Throws DomainError where step/passes.hpp does.
[[nodiscard]] Program program_of(const ModelShape& shape, const Cell& cell);

/// "fp16", "bf16", "fp32"; throws DomainError for other words.
[[nodiscard]] DataType data_type_of(std::string_view name);

}  // namespace foredraft::gpu_bench
