// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "latency/operations/passes.hpp"

namespace foredraft::latency {

/// Throws DomainError for counts that no pass of the shape can have. `last_position`: the tokens of context and pass.
void check_request(const ModelShape& shape, const PassRequest& request, std::int64_t last_position);

/// The same for drafting gamma tokens.
void check_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma);

/// Positions of the encoder's output; 0 without an encoder.
[[nodiscard]] std::int64_t source_length(const ModelShape& shape, const PassRequest& request);

}  // namespace foredraft::latency
