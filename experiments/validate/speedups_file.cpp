// SPDX-License-Identifier: Apache-2.0
#include "experiments/validate/speedups_file.hpp"

#include <fmt/format.h>
#include <set>

#include "experiments/text/user_table.hpp"
#include "foredraft/errors.hpp"
#include "latency/surfaces/cost_surface.hpp"
#include "latency/surfaces/drafter_words.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::int64_t longest_measured_draft = 1023;

latency::Role read_drafting(UserTable& table) {
  const std::string word = table.cell("drafter");
  if (word.empty()) return latency::Role::autoregressive_drafting;
  const auto role = latency::role_of_drafter(word);
  if (role) return *role;
  table.refuse("drafter", fmt::format("unknown drafter \"{}\"", word), suggestion_for(word, latency::drafter_words()));
  return latency::Role::autoregressive_drafting;
}

gpu_bench::LoopCell read_cell(UserTable& table, const latency::Profile& profile) {
  gpu_bench::LoopCell cell;
  cell.target = table.name("target");
  cell.drafting = read_drafting(table);
  const std::string draft = table.cell("draft");
  if (cell.drafting != latency::Role::head_drafting) {
    cell.drafter = table.name("draft");
  } else if (draft.empty() || draft == cell.target) {
    cell.drafter = cell.target;
  } else {
    table.refuse("draft", fmt::format("invalid draft=\"{}\"", draft), "heads stand on the target: leave it empty");
  }
  const latency::Setting setting = latency::setting_for(profile, cell.target);
  cell.dtype = setting.dtype;
  cell.launch = setting.launch;
  cell.gamma = table.count("gamma", 1, longest_measured_draft);
  cell.alpha = table.probability("alpha");
  cell.batch = table.count("batch", 1);
  cell.context = table.count("context", 0);
  return cell;
}

}  // namespace

PredictedSpeedups predict_speedups(std::string_view text, const std::string& file, const latency::Profile& profile) {
  PredictedSpeedups found;
  std::set<gpu_bench::LoopCell> seen;
  UserTable table(text, file, {"target", "draft", "gamma", "alpha", "batch", "context", "speedup"}, {"drafter"});
  while (table.next()) {
    MeasuredCell measured{.cell = read_cell(table, profile)};
    measured.speedup = table.positive("speedup");
    if (table.row_refused()) continue;
    if (!seen.insert(measured.cell).second) {
      table.refuse("", to_text(measured.cell) + ": given twice", "a cell has one speedup");
      continue;
    }
    try {
      found.predictions.push_back(predict_cell(measured.cell, profile));
      found.measured.push_back(std::move(measured));
    } catch (const DomainError& error) {
      table.refuse("", error.what(), "");
    }
  }
  table.done("holds no speedup");
  return found;
}

}  // namespace foredraft::experiments
