// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "logs/observation.hpp"

/// Functions for runs of load generators, used for their files and their consoles.
namespace foredraft::logs {

/// Warns (W01) if a server answered about as many requests per second as were sent: its capacity was not measured.
void warn_of_arrival_rate(std::optional<double> sent, std::optional<double> answered, std::int64_t line,
                          LogContents& contents);

/// Nullopt if one of the two is.
[[nodiscard]] std::optional<double> product(std::optional<double> a, std::optional<double> b);

/// Requests in the batch while tokens are generated: by Little's law.
[[nodiscard]] std::optional<double> decoding_requests(const ObservedTimes& times);

/// Everything is sent at once if neither a rate nor a concurrency limits it.
void set_offer(std::optional<std::int64_t> sent, Observation& run);

/// Tokens after the first of each request, which comes with its prompt.
[[nodiscard]] std::optional<double> later_tokens(std::optional<std::int64_t> output,
                                                 std::optional<std::int64_t> requests);

/// True if a client got as many tokens an iteration as the counts: the gaps between chunks of vLLM are iterations. Then
/// the counters include all steps.
[[nodiscard]] bool chunks_agree(const std::optional<double>& itl_ms, const std::optional<double>& tpot_ms,
                                const AcceptanceCounts& counts);

}  // namespace foredraft::logs
