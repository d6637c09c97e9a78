// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/arms.hpp"
#include "logs/log_format.hpp"
#include "logs/shaped_table.hpp"

/// Tables in other shapes than a run a row.
namespace foredraft::logs {

/// What the line above a table says that its cells measure: "TPOT (ms)", "tok/s"; empty if it does not, or says more
/// than one thing.
[[nodiscard]] std::string measure_in_caption(std::string_view caption);

/// What bare numbers of arms by batch size measure, if they tell: from a small batch to the next larger one, tokens per
/// second of all requests nearly multiply with it, but times hardly rise. Empty if they do not tell.
[[nodiscard]] std::string_view measure_by_batch(std::span<const std::string> headings, std::span<const TableRow> rows);

/// The number of concurrent requests that the line above a table states: "### GSM8K, concurrency = 64".
[[nodiscard]] std::optional<std::string> load_in_caption(std::string_view caption);

/// Turns a column whose cells all state a load in words, "C=1 (chat)" or "8 users", into that of the concurrency, if
/// the table has none.
void tell_loads(ShapedTable& table);

/// The name of an arm, which arm_named() reads: "baseline", "mtp K=3".
[[nodiscard]] std::string name_of(const Arm& arm);

/// Rows as they are meant: empty cells of first columns that name rows are those of the row above; "22.7 -> 40.6" is a
/// row without speculation and one with it, where the row names an arm; so is "22.7 / 40.6" beside "off / on".
[[nodiscard]] std::vector<TableRow> meant_rows(std::span<const std::string> headings, std::span<const TableRow> rows);

/// A table whose columns are loads ("concurrency 1", "concurrency 16") with a row for each; nullopt for others.
/// `measure`: what cells without a unit measure. Throws RejectedRecord if neither tells.
[[nodiscard]] std::optional<ShapedTable> table_by_load(std::span<const std::string> headings,
                                                       std::span<const TableRow> rows, std::string_view measure);

/// A table whose rows are arms and whose columns are kinds of prompts, with speeds in their cells, or numbers that the
/// line above calls `measure`: with a row for each kind, or only for the column of all kinds, if there is one; nullopt
/// for others.
[[nodiscard]] std::optional<ShapedTable> table_by_kind(std::span<const std::string> headings,
                                                       std::span<const TableRow> rows, std::string_view measure);

/// Of a table whose rows are kinds of prompts, and one the run without speculation: that run for each kind, without the
/// rows of other loads.
[[nodiscard]] std::optional<ShapedTable> table_with_plain_kind(std::span<const std::string> headings,
                                                               std::span<const TableRow> rows);

/// Makes draft lengths of a column "block", if names of drafters, or lengths and rates, of all rows say that a block
/// holds the known token, too: 1 + rate * (block - 1) tokens an iteration.
void tell_blocks(ShapedTable& table);

/// Whether a head row is that of loads: "concurrency", "1", "4", "32".
[[nodiscard]] bool is_head_of_loads(std::span<const std::string> headings);

/// Whether headings are loads, a run without speculation and rising numbers: "bs", "0" or "off", "2", "4".
[[nodiscard]] bool may_be_lengths(std::span<const std::string> headings);

/// Calls the numbers of such headings draft lengths, "K=2": beside a word for the run without, they are nothing else.
/// Rejects the table if that is "0": nothing says what they are.
void tell_lengths(ShapedTable& table);

/// The table below a head row of loads, whose rows are arms or metrics, as one with a row for each load.
[[nodiscard]] ShapedTable table_below_loads(std::span<const std::string> headings, std::span<const TableRow> rows);

/// Whether headings are those of table_by_load.
[[nodiscard]] bool names_loads(std::span<const std::string> headings);

/// Whether a heading beside that of output tokens is of the time that they took: "decode_s", "Wall time (s)",
/// "latency".
[[nodiscard]] bool names_time_of_tokens(std::string_view heading);

/// Whether a heading is that of the time of a whole answer: "Avg Time (s)", "latency".
[[nodiscard]] bool names_answer_time(std::string_view heading);

/// Whether a heading is that of the time of an answer or of its tokens, if a column of speedups agrees: "Decode (ms)".
[[nodiscard]] bool names_phase_time(std::string_view heading);

/// Whether headings may be those of table_by_kind.
[[nodiscard]] bool may_name_kinds(std::span<const std::string> headings);

}  // namespace foredraft::logs
