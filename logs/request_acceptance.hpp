// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "logs/record_fields.hpp"

namespace foredraft::logs {

/// Fills counts, gamma and the order of steps from the record that vLLM, TensorRT-LLM and aiperf write of one request:
/// `num_spec_steps`, `num_draft_tokens`, `acceptance_histogram` (a list, or an object of counts by length),
/// `num_spec_tokens`, in detail `per_step_accepted` and `per_step_drafted`. Throws RefusedRecord where it contradicts
/// itself.
void read_request_acceptance(const JsonFields& steps, Observation& observation, LogContents& contents);

/// A histogram as a list or as an object of counts by length; empty where absent.
[[nodiscard]] std::vector<std::int64_t> histogram_of(const JsonFields& record, std::string_view key);

}  // namespace foredraft::logs
