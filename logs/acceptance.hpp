// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "foredraft/quantities.hpp"
#include "logs/log_format.hpp"
#include "logs/observation.hpp"
#include "logs/record_fields.hpp"

namespace foredraft::logs {

/// Tokens per iteration of all counts together, 1 + accepted / steps, with its standard error: observations are taken
/// for independent where there are ten at least; below, steps are, which needs positions, and without those it is NaN.
/// Nothing where no steps were counted.
[[nodiscard]] std::optional<Estimate> acceptance_length(std::span<const Observation> observations);

/// Fills counts, gamma and the order of steps from the record that vLLM, TensorRT-LLM and aiperf write of one request:
/// `num_spec_steps`, `num_draft_tokens`, `acceptance_histogram` (a list, or an object of counts by length),
/// `num_spec_tokens`, in detail `per_step_accepted` and `per_step_drafted`. Throws RefusedRecord where it contradicts
/// itself.
void read_request_acceptance(const JsonFields& steps, Observation& observation, LogContents& contents);

/// A histogram as a list or as an object of counts by length; empty where absent.
[[nodiscard]] std::vector<std::int64_t> histogram_of(const JsonFields& record, std::string_view key);

// ---- Counts of verification steps from what logs hold instead: rates, histograms, lists of steps. And whether counts
// can be true.

/// Draft tokens of one step: beyond any drafter, and few enough to be held.
inline constexpr std::int64_t max_positions = 4096;

/// By which an acceptance length may differ from its counts: written in full, and with two digits or as a float.
inline constexpr double full_digits = 1e-6;
inline constexpr double two_digits = 0.006;

/// The sum; throws RefusedRecord beyond max_logged_count.
[[nodiscard]] std::int64_t sum_of_counts(std::span<const std::int64_t> counts, std::string_view key, std::int64_t line);

/// Of a histogram: [j] is the number of steps that accepted exactly j drafts. `gamma` (at least the histogram's length
/// less 1) is how many positions there are, where it is known. Throws RefusedRecord as sum_of_counts.
[[nodiscard]] AcceptanceCounts counts_of_histogram(std::span<const std::int64_t> histogram,
                                                   std::optional<std::int64_t> gamma, std::int64_t line);

/// Of single steps: accepted drafts of each, and drafted ones (empty: not logged). Throws RefusedRecord on lists of
/// different lengths and on a step that accepts more than it drafts.
[[nodiscard]] AcceptanceCounts counts_of_steps(std::span<const std::int64_t> accepted,
                                               std::span<const std::int64_t> drafted, std::int64_t line);

/// Sets `accepted_at` of counts whose `steps` are set from rates, shares of the steps, one a position. Rates beyond
/// position `gamma` are left out. `rounding`: how far a printed rate may be off; without it, half of the last digit
/// that was printed. Nothing is lost where the steps are few enough for each rate to have one count. Throws
/// RefusedRecord on a rate outside [0, 1].
void set_positions(AcceptanceCounts& counts, std::span<const double> rates, std::optional<std::int64_t> gamma,
                   std::optional<double> rounding, std::int64_t line);

/// Tokens that a step emits, 1 + accepted / steps; nothing where one of the two is unknown or there are no steps.
[[nodiscard]] std::optional<double> tokens_per_step(const AcceptanceCounts& counts);

/// drafted / steps where that is a whole number and no estimate; nothing else.
[[nodiscard]] std::optional<std::int64_t> steady_gamma(const AcceptanceCounts& counts);

/// Throws RefusedRecord where more is accepted than drafted, more steps reach a position than the one before it, or
/// more is drafted than steps of at most `gamma` drafts can. Warns (W18) where positions do not add up to the accepted
/// tokens.
void check_counts(const AcceptanceCounts& counts, std::optional<std::int64_t> gamma, std::int64_t line,
                  LogContents& contents);

/// Warns (W18) where a printed acceptance length is none of `counts` within `tolerance`.
void check_printed_length(const AcceptanceCounts& counts, std::optional<double> printed, double tolerance,
                          std::int64_t line, LogContents& contents);

/// Warns (W10) where a printed mean of requests is not the acceptance length of all steps.
void check_mean_length(const AcceptanceCounts& counts, std::optional<double> printed, std::int64_t line,
                       LogContents& contents);

}  // namespace foredraft::logs
