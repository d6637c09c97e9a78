// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "core/problems.hpp"
#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/record_fields.hpp"

/// A user's own table: one row per observation, columns in any order, all optional except `steps`, an empty cell for an
/// unknown value. Columns are described in docs/logs.md.
namespace foredraft::logs {
namespace {

constexpr std::string_view position_prefix = "accepted_at_";

const std::vector<std::string>& own_columns() {
  static const std::vector<std::string> all{
      "decoding",           "gamma",        "steps",   "drafted",      "accepted",
      "accepted_at_1",      "requests",     "waiting", "iteration_ms", "draft_ms",
      "verification_ms",    "tpot_ms",      "ttft_ms", "duration_s",   "output_tokens_per_s",
      "request_rate_per_s", "temperature",  "top_p",   "category",     "request",
      "context_tokens",     "output_tokens"};
  return all;
}

void check_own_columns(std::span<const std::string> columns) {
  std::vector<Problem> unknown;
  for (const std::string& column : columns) {
    const bool known = std::find(own_columns().begin(), own_columns().end(), column) != own_columns().end();
    if (known || column.starts_with(position_prefix)) continue;
    const std::string_view near = nearest(column, own_columns());
    unknown.push_back({.key = column,
                       .text = "unknown column",
                       .suggestion = near.empty() ? "see \"A table of your own\" in docs/logs.md"
                                                  : fmt::format("did you mean {}?", near)});
  }
  if (!unknown.empty()) throw RefusedRecord(std::move(unknown));
}

/// A table is recognized as a user's own by a column that no engine writes.
bool claims_own_csv(std::span<const std::string> columns) {
  constexpr std::array<std::string_view, 3> times{"iteration_ms", "tpot_ms", "output_tokens_per_s"};
  const auto has = [&](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  const bool timed = std::any_of(times.begin(), times.end(), has);
  if (!(has("gamma") && (has("steps") || timed)) && !(has("decoding") && timed)) return false;
  check_own_columns(columns);
  return true;
}

Decoding decoding_of(const CsvFields& row) {
  const auto word = row.text("decoding");
  if (word == "plain") return Decoding::plain;
  if (word == "speculative") return Decoding::speculative;
  if (word) row.refuse("decoding", *word, "must be plain or speculative");
  const auto gamma = row.count("gamma");
  if (!gamma) return Decoding::unknown;
  return *gamma == 0 ? Decoding::plain : Decoding::speculative;
}

std::vector<std::int64_t> positions_of_row(const CsvFields& row, std::size_t columns) {
  std::vector<std::int64_t> positions;
  for (std::size_t i = 1; i <= columns; ++i) {
    const auto count = row.count(fmt::format("{}{}", position_prefix, i));
    if (!count) break;
    positions.push_back(*count);
  }
  return positions;
}

void read_own_acceptance(const CsvFields& row, std::size_t columns, Observation& observation, LogContents& contents) {
  const auto steps = row.count("steps");
  if (!steps) return;
  AcceptanceCounts counts{.steps = *steps,
                          .drafted_tokens = row.count("drafted"),
                          .accepted_tokens = row.count("accepted"),
                          .accepted_at = positions_of_row(row, columns)};
  if (!counts.accepted_tokens && !counts.accepted_at.empty()) {
    counts.accepted_tokens = sum_of_counts(counts.accepted_at, "accepted_at_1", row.line());
  }
  if (observation.gamma && static_cast<std::int64_t>(counts.accepted_at.size()) > *observation.gamma) {
    row.refuse(fmt::format("{}{}", position_prefix, counts.accepted_at.size()), "beyond the draft length",
               fmt::format("gamma is {}", *observation.gamma));
  }
  check_counts(counts, observation.gamma, row.line(), contents);
  observation.acceptance = std::move(counts);
}

void read_own_row(std::span<const std::string> columns, std::span<const std::string> cells, std::int64_t line,
                  LogContents& contents) {
  const CsvFields row(columns, cells, line);
  Observation observation{.line = line,
                          .span = row.has("request") ? Span::request : Span::run,
                          .decoding = decoding_of(row),
                          .requests = row.real("requests"),
                          .waiting = row.real("waiting")};
  ObservedTimes& times = observation.times;
  times = {.duration_s = row.real("duration_s"),
           .output_tokens_per_s = row.real("output_tokens_per_s"),
           .iteration_ms = row.real("iteration_ms"),
           .draft_ms = row.real("draft_ms"),
           .verification_ms = row.real("verification_ms"),
           .tpot_ms = row.real("tpot_ms"),
           .ttft_ms = row.real("ttft_ms"),
           .request_rate_per_s = row.real("request_rate_per_s")};
  observation.stratum = {.temperature = row.real("temperature"),
                         .top_p = row.real("top_p"),
                         .category = row.text("category"),
                         .request = row.text("request"),
                         .context_tokens = row.real("context_tokens"),
                         .output_tokens = row.real("output_tokens")};
  if (observation.decoding == Decoding::speculative) {
    observation.gamma = row.count("gamma");
    read_own_acceptance(row, columns.size(), observation, contents);
  }
  contents.observations.push_back(std::move(observation));
}

}  // namespace

LogFormat own_csv_format() {
  return {.name = "csv",
          .summary = "a table of your own: gamma, steps, accepted_at_1, ..., iteration_ms",
          .engine = "",
          .gives = {"(yes)", "(yes)", "(yes)", "(all)", "(yes)"},
          .reads = CsvFormat{"gamma|decoding", claims_own_csv, read_own_row}};
}

}  // namespace foredraft::logs
