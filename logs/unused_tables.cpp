// SPDX-License-Identifier: Apache-2.0
#include "logs/unused_tables.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cstddef>

#include "core/readable.hpp"
#include "logs/arms.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"
#include "logs/table_cells.hpp"
#include "logs/table_shapes.hpp"

namespace foredraft::logs {
namespace {

bool has_arm(const LogContents& contents, Decoding decoding) {
  return std::ranges::any_of(contents.observations, [&](const Observation& one) { return one.decoding == decoding; });
}

}  // namespace

UnusedTable unused_table(const WrittenTable& table) {
  constexpr std::size_t longest = 60, compared_rows = 256;  // characters; rows
  UnusedTable unused{.line = table.rows.front().line};
  bool speeds = !measure_in_caption(table.caption).empty(), numbers = false, plain = false, drafts = false;
  const auto look_at = [&](const std::string& cell) {
    const auto arm = arm_in_text(cell);
    plain = plain || (arm && arm->plain);
    drafts = drafts || (arm && !arm->plain);
  };
  static const RE2 acceptance(R"((?i).*\b(?:accept\w*|a\.?len|AL|acc\w*[ _.]len\w*)\b.*)");
  for (const std::string& heading : table.headings) {
    speeds = speeds || !measure_in_caption(heading).empty() || RE2::FullMatch(heading, acceptance);
    look_at(heading);
    unused.headings += (unused.headings.empty() ? "" : " | ") + bare_cell(heading);
  }
  unused.headings = readable(unused.headings, longest);
  for (const TableRow& row : table.rows.first(std::min(table.rows.size(), compared_rows))) {
    for (const std::string& cell : row.cells) {
      speeds = speeds || in_tokens_per_s(bare_cell(cell));
      numbers = numbers || number_of_cell(cell).value;
    }
    look_at(row.cells.front());
  }
  unused.both_arms = plain && drafts;
  unused.has_speeds = speeds && numbers;
  return unused;
}

void tell_unused_tables(std::span<const UnusedTable> tables, LogContents& contents, ProblemList& problems) {
  const bool both = has_arm(contents, Decoding::plain) && has_arm(contents, Decoding::speculative);
  const bool nothing = contents.observations.empty();
  for (const UnusedTable& table : tables) {
    const Problem& why = table.problem;
    const bool rejected = !why.text.empty();
    const bool only = nothing && contents.format.empty() && problems.empty();
    if (nothing ? rejected || only : table.both_arms && !both) {
      problems.add(rejected ? why
                   : only   ? Problem{.line = table.line,
                                      .key = table.headings,
                                      .text = "this table is not read",
                                      .why = "which runs are without speculation, and which column is their speed?",
                                      .suggestion = "call its columns \"config\" and \"tok/s\" or \"TPOT (ms)\", "
                                                    "its runs \"baseline\" and \"MTP\""}
                            : Problem{.line = table.line,
                                      .key = table.headings,
                                      .text = "the only table with both arms is not read",
                                      .suggestion = "call its columns \"config\", \"tok/s\" or \"TPOT (ms)\""});
    } else if (!nothing && rejected) {
      warn_once(contents, "W18", why.line, fmt::format("ignored a table: {}: {}", why.key, why.text));
    } else if (!nothing) {
      contents.warnings.push_back(
          {.code = "W18",
           .line = table.line,
           .message = fmt::format("the table at line {} is not used ({}): {}", table.line, table.headings,
                                  table.claimed ? "no row has a speed of a known run" : "its headings are not known")});
    }
  }
}

}  // namespace foredraft::logs
