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

/// What a summary says of a run or a request: an object of JSON, a row of a table.
namespace foredraft::logs {

/// Everything that summaries state, in the units of an Observation; empty: not stated.
struct StatedRun {
  std::int64_t line = 0;
  std::optional<double> gamma = {};
  std::optional<double> steps = {}, drafted = {}, accepted = {};
  std::optional<double> rate = {};               ///< accepted / drafted, a fraction
  std::optional<double> length = {};             ///< tokens an iteration, with the one that is not drafted
  std::optional<double> accepted_per_step = {};  ///< the same without it
  std::vector<double> positions = {};            ///< fractions of the steps by draft position
  std::optional<double> concurrency = {}, requests = {};
  std::optional<double> iteration_ms = {}, tpot_ms = {}, ttft_ms = {};
  std::optional<double> output_tokens_per_s = {};   ///< all requests together
  std::optional<double> request_tokens_per_s = {};  ///< of one request
  std::optional<double> duration_s = {}, request_rate_per_s = {}, served_requests_per_s = {};
  std::optional<double> prompt_tokens = {}, output_tokens = {};
  std::optional<double> completed = {}, failed = {};
  std::optional<double> temperature = {};
};

/// The draft length that an acceptance length and a rate of accepted drafts state, if it is a whole number.
[[nodiscard]] std::optional<double> gamma_of_rate(double length, double rate);

/// The observation of a run. Whether it speculates follows from what it states, if `decoding` is unknown: a draft
/// length or a length above 1 says so, a draft length of 0 or a length of 1 the contrary. Counts are taken as they are,
/// else computed from others if these determine them; a draft length follows from a length and a rate if it is whole.
/// Throws RejectedRecord for what contradicts itself.
[[nodiscard]] Observation observation_of(const StatedRun& run, Decoding decoding, LogContents& contents);

/// A key of a summary, its meaning, and how many of the meaning's unit its own is.
struct StatedKey {
  std::string_view key;
  std::optional<double> StatedRun::*field;
  double unit = 1.0;
};

/// Sets what the keys state; the first of several that mean the same wins. Ignores texts and negative numbers, which
/// stand for "without a limit".
void read_stated(const JsonFields& record, std::span<const StatedKey> keys, StatedRun& run);

/// How many of `keys` an object has; 0 if it is none.
[[nodiscard]] std::ptrdiff_t stated_keys_of(const JsonValue& value, std::span<const StatedKey> keys);

}  // namespace foredraft::logs
