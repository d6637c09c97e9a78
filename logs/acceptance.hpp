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

/// Acceptance length of all observations together, 1 + accepted / steps, with its standard error. Ten or more
/// observations are taken as independent; of fewer, the steps are, and the error is NaN if positions were not logged.
/// Nullopt if no observation has steps and accepted tokens.
[[nodiscard]] std::optional<Estimate> acceptance_length(std::span<const Observation> observations);

/// Whether a run is plain only because nothing of its acceptance is printed: SGLang's client prints none of another
/// version's server, and the lines of a server's log with its drafts may be left out of a post.
[[nodiscard]] bool lacks_acceptance(const Observation& run, const LogContents& contents);

/// Makes a run one that drafts, with an unknown acceptance. What a window has as the time of an iteration was that of a
/// token each.
void draft_uncounted(Observation& run);

/// Sets acceptance, gamma and trace from the record of one request that vLLM, TensorRT-LLM and aiperf write:
/// `num_spec_steps`, `num_draft_tokens`, `num_accepted_draft_tokens`, `acceptance_histogram`, `num_spec_tokens`, and in
/// detailed records `per_step_accepted` and `per_step_drafted`. Throws RejectedRecord if it contradicts itself.
void read_request_acceptance(const JsonFields& steps, Observation& observation, LogContents& contents);

/// [j]: steps that accepted exactly j drafts, from a list or from an object {"j": steps}; empty if absent. Throws
/// RejectedRecord for a key above max_positions.
[[nodiscard]] std::vector<std::int64_t> histogram_of(const JsonFields& record, std::string_view key);

// ---- Counts of verification steps from other numbers in logs: rates, histograms, lists of steps. Checks whether
// counts are possible.

/// Maximum number of draft tokens of one step: more than any drafter makes, and few enough to store.
inline constexpr std::int64_t max_positions = 4096;

/// Maximum difference between a printed acceptance length and that of its counts: it may have only two decimals.
inline constexpr double two_digits = 0.006;

/// Lengths below this, printed with two digits, are 1.
inline constexpr double length_without_draft = 1.005;
/// Iterations or chunks of more tokens than this are speculative, even if the log does not say so.
inline constexpr double plain_tokens = 1.25;
/// An inter-token latency is that of iterations if chunks hold at least this fraction of the acceptance length.
inline constexpr double per_chunk = 0.6;

/// The sum; throws RejectedRecord for a negative count or a sum above max_logged_count.
[[nodiscard]] std::int64_t sum_of_counts(std::span<const std::int64_t> counts, std::string_view key, std::int64_t line);

/// Counts from a histogram: [j] is the number of steps that accepted exactly j drafts. There are `gamma` positions, or
/// more if the histogram has more. Throws RejectedRecord above max_positions, and as sum_of_counts().
[[nodiscard]] AcceptanceCounts counts_of_histogram(std::span<const std::int64_t> histogram,
                                                   std::optional<std::int64_t> gamma, std::int64_t line);

/// Counts from single steps: accepted drafts of each, and drafted ones (empty: not logged). Throws RejectedRecord for
/// lists of different lengths, a step that accepts more than it drafts, and one of more than max_positions drafts.
[[nodiscard]] AcceptanceCounts counts_of_steps(std::span<const std::int64_t> accepted,
                                               std::span<const std::int64_t> drafted, std::int64_t line);

/// Sets `accepted_at` of counts whose `steps` are set, from rates: fractions of the steps, one per position. Ignores
/// rates beyond position `gamma`. `rounding`: maximum error of a printed rate; default: half of the last printed digit.
/// Exact if there are few enough steps that each rate determines its count. Then calls fit_to_total(). Throws
/// RejectedRecord for a rate outside [0, 1] and for more than max_positions.
void set_positions(AcceptanceCounts& counts, std::span<const double> rates, std::optional<std::int64_t> gamma,
                   std::optional<double> rounding, std::int64_t line);

/// Makes positions from rounded rates add up to the accepted tokens: spreads the difference over them if it is within
/// their rounding. Changes nothing if they would rise, or leave [0, steps].
void fit_to_total(AcceptanceCounts& counts);

/// Tokens per step, 1 + accepted / steps; nullopt if the accepted tokens are unknown or there are no steps.
[[nodiscard]] std::optional<double> tokens_per_step(const AcceptanceCounts& counts);

/// Tokens per iteration: as tokens_per_step(), but of all_steps().
[[nodiscard]] std::optional<double> tokens_per_iteration(const AcceptanceCounts& counts);

/// The draft length of every step, drafted / steps, if that is a positive integer and steps were counted; else nullopt.
[[nodiscard]] std::optional<std::int64_t> steady_gamma(const AcceptanceCounts& counts);

/// True if steps drafted clearly fewer than `gamma` tokens on average: the draft length varies or is not `gamma`.
[[nodiscard]] bool drafts_vary(const AcceptanceCounts& counts, std::optional<std::int64_t> gamma);

/// Fits estimated steps, and the time of an iteration, to the drafts at `gamma`: they are the drafts of this length if
/// these are whole and one step off (some engines count the first token of an answer as that of a step), and no fewer
/// than could draft all tokens.
void fit_steps(Observation& run, std::int64_t gamma);

/// Sets `generated_tokens` to `generated` (without the first token of each request) if that clearly exceeds what the
/// counted steps emit: other steps drafted nothing.
void set_generated_tokens(AcceptanceCounts& counts, std::optional<double> generated);

/// Throws RejectedRecord if more is accepted than drafted, if more steps accept a position than the one before it, or
/// if more is drafted than counted steps of at most `gamma` drafts can. Warns (W18) if positions do not add up to the
/// accepted tokens. Positions may be off by their rounding and one step.
void check_counts(const AcceptanceCounts& counts, std::optional<std::int64_t> gamma, std::int64_t line,
                  LogContents& contents);

/// Warns (W18) if a printed acceptance length differs from that of `counts` by more than `tolerance`.
void check_printed_length(const AcceptanceCounts& counts, std::optional<double> printed, double tolerance,
                          std::int64_t line, LogContents& contents);

/// Warns (W10) if a printed acceptance length differs from that of all steps by over 0.5 %: it is a mean of requests.
void check_mean_length(const AcceptanceCounts& counts, std::optional<double> printed, std::int64_t line,
                       LogContents& contents);

}  // namespace foredraft::logs
