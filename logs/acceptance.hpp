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

/// Tokens per iteration of all counts together, 1 + accepted / steps, with its standard error. With at least ten
/// observations these are taken as independent; with fewer the steps are, which needs positions, else it is NaN.
/// Nullopt if no steps were counted.
[[nodiscard]] std::optional<Estimate> acceptance_length(std::span<const Observation> observations);

/// Fills counts, gamma and the order of steps from the record of one request that vLLM, TensorRT-LLM and aiperf write:
/// `num_spec_steps`, `num_draft_tokens`, `acceptance_histogram` (a list, or an object of counts by length),
/// `num_spec_tokens`, and in detailed records `per_step_accepted` and `per_step_drafted`. Throws RejectedRecord if it
/// contradicts itself.
void read_request_acceptance(const JsonFields& steps, Observation& observation, LogContents& contents);

/// A histogram as a list or as an object of counts by length; empty if absent.
[[nodiscard]] std::vector<std::int64_t> histogram_of(const JsonFields& record, std::string_view key);

// ---- Counts of verification steps from other numbers in logs: rates, histograms, lists of steps. And checks whether
// counts are possible.

/// Maximum number of draft tokens of one step: more than any drafter makes, and few enough to store.
inline constexpr std::int64_t max_positions = 4096;

/// Maximum difference between an acceptance length and its counts: it may be printed with two digits.
inline constexpr double two_digits = 0.006;

/// The sum; throws RejectedRecord beyond max_logged_count.
[[nodiscard]] std::int64_t sum_of_counts(std::span<const std::int64_t> counts, std::string_view key, std::int64_t line);

/// Counts from a histogram: [j] is the number of steps that accepted exactly j drafts. `gamma` is the number of
/// positions if it is known (at least the histogram's length minus 1). Throws RejectedRecord as sum_of_counts.
[[nodiscard]] AcceptanceCounts counts_of_histogram(std::span<const std::int64_t> histogram,
                                                   std::optional<std::int64_t> gamma, std::int64_t line);

/// Counts from single steps: accepted drafts of each, and drafted ones (empty: not logged). Throws RejectedRecord for
/// lists of different lengths and for a step that accepts more than it drafts.
[[nodiscard]] AcceptanceCounts counts_of_steps(std::span<const std::int64_t> accepted,
                                               std::span<const std::int64_t> drafted, std::int64_t line);

/// Sets `accepted_at` of counts whose `steps` are set, from rates: fractions of the steps, one per position. Ignores
/// rates beyond position `gamma`. `rounding`: maximum error of a printed rate; default: half of the last printed digit.
/// Exact if there are few enough steps that each rate determines its count. Throws RejectedRecord for a rate outside
/// [0, 1].
void set_positions(AcceptanceCounts& counts, std::span<const double> rates, std::optional<std::int64_t> gamma,
                   std::optional<double> rounding, std::int64_t line);

/// Makes positions from rounded rates add up to the accepted tokens if the remainder is within their rounding: it is
/// distributed over them.
void fit_to_total(AcceptanceCounts& counts);

/// Tokens per step, 1 + accepted / steps; nullopt if either is unknown or there are no steps.
[[nodiscard]] std::optional<double> tokens_per_step(const AcceptanceCounts& counts);

/// Tokens per iteration: as tokens_per_step(), but of all_steps().
[[nodiscard]] std::optional<double> tokens_per_iteration(const AcceptanceCounts& counts);

/// drafted / steps if that is an integer and not estimated; else nullopt.
[[nodiscard]] std::optional<std::int64_t> steady_gamma(const AcceptanceCounts& counts);

/// True if iterations drafted clearly fewer than `gamma` tokens on average: the draft length varies or differs from
/// `gamma`.
[[nodiscard]] bool drafts_vary(const AcceptanceCounts& counts, std::optional<std::int64_t> gamma);

/// Sets `generated_tokens`, without the first token of each request, if they clearly exceed what the counted steps
/// emit: other steps drafted nothing.
void set_generated_tokens(AcceptanceCounts& counts, std::optional<double> generated);

/// Throws RejectedRecord if more is accepted than drafted, if more steps reach a position than the one before it, or if
/// more is drafted than steps of at most `gamma` drafts can. Warns (W18) if positions do not add up to the accepted
/// tokens.
void check_counts(const AcceptanceCounts& counts, std::optional<std::int64_t> gamma, std::int64_t line,
                  LogContents& contents);

/// Warns (W18) if a printed acceptance length differs from that of `counts` by more than `tolerance`.
void check_printed_length(const AcceptanceCounts& counts, std::optional<double> printed, double tolerance,
                          std::int64_t line, LogContents& contents);

/// Warns (W10) if a printed mean of requests differs from the acceptance length of all steps.
void check_mean_length(const AcceptanceCounts& counts, std::optional<double> printed, std::int64_t line,
                       LogContents& contents);

}  // namespace foredraft::logs
