// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "latency/operations/program.hpp"
#include "latency/profile/cell.hpp"

namespace foredraft::latency {

/// The pass that a cell names, of a model of this shape. Throws DomainError where operations/passes.hpp does.
[[nodiscard]] Program program_of(const ModelShape& shape, const Cell& cell);

/// "fp16", "bf16", "fp32"; throws DomainError for other words.
[[nodiscard]] DataType data_type_of(std::string_view name);

}  // namespace foredraft::latency
