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

/// a * b; nullopt if one is missing.
[[nodiscard]] std::optional<double> product(std::optional<double> a, std::optional<double> b);

/// Requests in the batch while tokens are generated, by Little's law: output tokens/s times TPOT.
[[nodiscard]] std::optional<double> decoding_requests(const ObservedTimes& times);

/// A load computed from throughput and latency (decoding_requests) gives way to the limit of the load generator if it
/// is near: the rest waits for the first token.
void prefer_limit(Observation& run);

/// Sets the concurrency that a command line or a heading states, if it is not known and a rate does not limit requests:
/// of more requests that were sent at once, only that many ran. Then as prefer_limit().
void set_limit(std::optional<double> most, Observation& run);

/// Sets `offered_requests` if neither a rate nor a concurrency limits them: to `sent`, or to completed and failed ones.
void set_offer(std::optional<std::int64_t> sent, Observation& run);

/// Output tokens after the first of each request, which comes from its prefill.
[[nodiscard]] std::optional<double> later_tokens(std::optional<std::int64_t> output,
                                                 std::optional<std::int64_t> requests);

/// True if a chunk (of vLLM: an iteration) holds ITL / TPOT tokens, as many as a counted step emits: then the counters
/// include all steps.
[[nodiscard]] bool chunks_agree(const std::optional<double>& itl_ms, const std::optional<double>& tpot_ms,
                                const AcceptanceCounts& counts);

/// Chunks longer than a token by this factor hold several tokens each.
inline constexpr double speculative_chunk = 1.3;

/// Sets a run that counts no drafts to speculative, with ITL / TPOT, the tokens of its chunks, as its acceptance length
/// (W10): those of another run hold one.
void speculate_by_chunks(double tokens, Observation& run, LogContents& contents);

/// Warns (W09) of a run that does not say whether it speculates, and whose chunks hold several tokens.
void warn_of_chunks(std::int64_t line, LogContents& contents);

}  // namespace foredraft::logs
