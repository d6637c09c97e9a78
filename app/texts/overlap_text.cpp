// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <cmath>
#include <span>
#include <string>

#include "app/texts/texts.hpp"
#include "core/intervals.hpp"
#include "core/numbers.hpp"
#include "core/table.hpp"

namespace foredraft::app {
namespace {

std::string schedule_words(const answers::OverlapRow& row) {
  if (row.drafting.schedule == Overlap::none) return "drafts, then verification";
  const std::string name = row.drafting.schedule == Overlap::pearl ? "PEARL" : "DSI";
  if (row.drafting.shared) return name + ", one shared device";
  if (!row.target_servers) return name + ", two devices";
  return std::isinf(*row.target_servers)
             ? name + ", targets without limit"
             : fmt::format("{}, a drafter and {} targets", name, decimal_text(*row.target_servers, 0));
}

std::string speedup_words(double speedup) { return std::isinf(speedup) ? "unbounded" : decimal_text(speedup, 4) + "x"; }

}  // namespace

std::string overlap_text(std::span<const answers::OverlapRow> rows) {
  Table table;
  table.columns = {{"drafting while the target verifies", Table::Align::left},
                   {"speedup", Table::Align::right},
                   {"simulated, 95 %", Table::Align::right},
                   {"best gamma", Table::Align::right},
                   {"best speedup", Table::Align::right}};
  for (const answers::OverlapRow& row : rows) {
    std::string simulated = "-";
    if (row.simulated) {
      const Interval interval = normal_interval(*row.simulated);
      simulated = fmt::format("{} to {}", decimal_text(interval.low, 3), decimal_text(interval.high, 3));
    }
    table.rows.push_back({schedule_words(row), speedup_words(row.speedup), simulated, fmt::format("{}", row.best_gamma),
                          speedup_words(row.best_speedup)});
  }
  return answer_lines(
      "\n" + to_text(table) + "\n" +
      "shared      one device runs one forward pass at a time: nothing overlaps, drafting and verification add up. "
      "PEARL then verifies first drafts at the cost of a forward pass each, and DSI is drafting and verification in "
      "turn\n");
}

}  // namespace foredraft::app
