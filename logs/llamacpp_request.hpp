// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "logs/record_fields.hpp"

namespace foredraft::logs {

/// Whether an object has the times of one request in llama-server's format.
[[nodiscard]] bool is_llamacpp_request(const nlohmann::ordered_json& value);

/// One request from llama-server's `predicted_n`, `predicted_ms`, `draft_n`, `draft_n_accepted`. Steps follow from the
/// tokens: each emits one that was not drafted, except that the first token comes from the prompt. Without `draft_n`
/// the request drafted nothing (`undrafted`); with 0 it is a speculative one. Throws RefusedRecord.
[[nodiscard]] Observation llamacpp_request(const JsonFields& timings, Decoding undrafted, LogContents& contents);

}  // namespace foredraft::logs
