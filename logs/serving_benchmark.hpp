// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "logs/record_fields.hpp"

/// Common parts of the load generators of vLLM and SGLang: one JSON object per run.
namespace foredraft::logs {

/// Whether an object has the keys that both write.
[[nodiscard]] bool is_serving_benchmark(const nlohmann::ordered_json& value);

/// A run with its load, throughput and mean times, without speculation and inter-token times. Warns (W01) if the output
/// throughput equals that of the arriving requests.
[[nodiscard]] Observation serving_run(const JsonFields& run, LogContents& contents);

/// Warns (W01) if a server answered about as many requests per second as were sent: its limit was not measured.
void warn_of_arrival_rate(std::optional<double> sent, std::optional<double> answered, std::int64_t line,
                          LogContents& contents);

}  // namespace foredraft::logs
