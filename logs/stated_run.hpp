// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/observation.hpp"
#include "logs/record_fields.hpp"

/// The data of a run or a request in a summary: a JSON object, a row of a table.
namespace foredraft::logs {

/// W20 of an acceptance length that follows from a rate.
inline constexpr const char* length_of_rate = "acceptance length = 1 + rate x K: as if every draft had K tokens";

/// Everything that summaries state, in the units of an Observation; empty: not stated.
struct StatedRun {
  std::int64_t line = 0;
  std::optional<double> gamma = {};
  std::optional<double> steps = {}, drafted = {}, accepted = {};
  std::optional<double> rejections = {};         ///< rounds that ended with a rejected draft: others accepted all
  std::optional<double> rate = {};               ///< accepted / drafted, a fraction
  std::optional<double> drafted_share = {};      ///< of the output tokens, those that were drafted
  std::optional<double> length = {};             ///< tokens an iteration, with the bonus or replacement token
  std::optional<double> accepted_per_step = {};  ///< the same without it
  std::vector<double> positions = {};            ///< fractions of the steps by draft position
  std::optional<double> concurrency = {}, requests = {};
  std::optional<double> iteration_ms = {}, tpot_ms = {}, ttft_ms = {};
  std::optional<double> output_tokens_per_s = {};   ///< all requests together
  std::optional<double> request_tokens_per_s = {};  ///< of one request
  bool with_prompt = false;                         ///< its time is that of the prompt, too
  std::optional<double> duration_s = {}, request_rate_per_s = {}, served_requests_per_s = {};
  std::optional<double> prompt_tokens = {}, output_tokens = {};
  std::optional<double> completed = {}, failed = {};
  std::optional<double> chunks = {}, chunk_tokens = {};  ///< streamed chunks of an answer, tokens of each
  std::optional<double> temperature = {};
  bool adaptive = false;  ///< drafts end early, where the drafter is unsure: `gamma` is the most
};

/// The draft length implied by an acceptance length and a rate of accepted drafts; nullopt unless nearly whole.
[[nodiscard]] std::optional<double> gamma_of_rate(double length, double rate);

/// The observation of a run. If `decoding` is unknown, drafts or an acceptance length above 1 mean speculation;
/// a draft length or a number of drafts of 0, or an acceptance length of 1, mean none. Missing counts are computed from
/// others if these determine them; a draft length follows from a length and a rate if it is whole. Throws
/// RejectedRecord for contradictions.
[[nodiscard]] Observation observation_of(const StatedRun& run, Decoding decoding, LogContents& contents);

/// Streamed chunks of several tokens may each be an iteration: their tokens are the acceptance length (W10) if the run
/// turns out to speculate. Not those of answers that were not streamed, whose tokens are all in one chunk.
void set_chunk_length(const StatedRun& run, Observation& observation, LogContents& contents);

/// Sets the time of an iteration from that of a token, unless it is known.
void set_iteration(Observation& observation);

/// Sets the acceptance length of a run, and the time of its iterations if that of a token is known.
void set_acceptance_length(Observation& observation, double length);

/// Computes the acceptance lengths of runs of which only a rate was stated, from their draft lengths, which other
/// places of the log may state; warns of those without one, or with one that is the most (W23).
void tell_rates(LogContents& contents);

/// Warns (W12) of speeds of which nothing says whether they are those of one request.
void warn_of_totals(std::int64_t line, LogContents& contents);

/// Warns (W20) that the middle of a range stands in the place of an acceptance.
void warn_of_range(std::string_view range, std::int64_t line, LogContents& contents);

/// A key of a summary, its meaning, and the factor to the meaning's unit.
struct StatedKey {
  std::string_view key;
  std::optional<double> StatedRun::*field;
  double unit = 1.0;
};

/// Sets the values of the keys; if several mean the same, the first is used. Keeps what is already set. Ignores texts
/// that are no numbers, and negative numbers, which mean "no limit".
void read_stated(const JsonFields& record, std::span<const StatedKey> keys, StatedRun& run);

/// The number of `keys` that an object has; 0 for other values.
[[nodiscard]] std::ptrdiff_t stated_keys_of(const JsonValue& value, std::span<const StatedKey> keys);

}  // namespace foredraft::logs
