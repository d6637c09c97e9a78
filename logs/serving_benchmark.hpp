// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "logs/record_fields.hpp"

/// What the load generators of vLLM and SGLang have in common: one JSON object a run.
namespace foredraft::logs {

/// Whether an object has the keys of both.
[[nodiscard]] bool is_serving_benchmark(const nlohmann::ordered_json& value);

/// A run with its load, throughput and mean times, without what they say of speculation and of time between tokens.
/// Warns (W01) where the output throughput is that of the requests that arrived.
[[nodiscard]] Observation serving_run(const JsonFields& run, LogContents& contents);

/// Warns (W01) where a server answered about as many requests a second as were sent: nothing was measured of its limit.
void warn_of_arrival_rate(std::optional<double> sent, std::optional<double> answered, std::int64_t line,
                          LogContents& contents);

}  // namespace foredraft::logs
