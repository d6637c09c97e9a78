// SPDX-License-Identifier: Apache-2.0
#include "answers/validation.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "answers/profile_prediction.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::answers {

using gpu_bench::LoopCell;
using gpu_bench::LoopRow;

CellPrediction predict_cell(const LoopCell& cell, const latency::Profile& profile) {
  const ProfileQuestion question{.target = cell.target,
                                 .draft = cell.drafter,
                                 .drafting = cell.drafting,
                                 .acceptance = Iid{cell.alpha},
                                 .gamma = cell.gamma,
                                 .batches = {cell.batch},
                                 .contexts = {cell.context}};
  const ProfilePrediction prediction = predict(question, profile);
  const AtDraftLength& length = prediction.cells.front().at(cell.gamma);
  const latency::IterationTimes& times = length.times;
  for (const latency::Latency* latency : {&times.plain, &times.drafting, &times.verify}) {
    if (latency->inside) continue;
    throw DomainError(fmt::format("{}: outside of the domain in which the profile answers (it has times of {})",
                                  to_text(cell), prediction.covered));
  }
  CellPrediction predicted{.cell = cell,
                           .plain_us = times.plain.time_us + latency::charged_us(times.plain_sampling),
                           .drafting_us = times.drafting.time_us + latency::charged_us(times.catch_up),
                           .verify_us = times.verify.time_us,
                           .sampling_us = latency::charged_us(times.sampling),
                           .tokens_per_iteration = length.tokens,
                           .speedup = length.speedup,
                           .speedup_ci95 = {},
                           .origin = std::max({times.plain.origin, times.drafting.origin, times.verify.origin})};
  if (length.spread) {
    predicted.speedup_ci95 = Interval{length.speedup * (1.0 - *length.spread), length.speedup * (1.0 + *length.spread)};
  }
  return predicted;
}

std::vector<CellPrediction> predict_cells(const std::vector<LoopCell>& cells, const latency::Profile& profile,
                                          const std::string& name) {
  std::vector<CellPrediction> predictions;
  std::set<std::string> reasons;  // cells may share a reason
  for (const LoopCell& cell : cells) {
    try {
      predictions.push_back(predict_cell(cell, profile));
    } catch (const DomainError& error) {
      reasons.insert(error.what());
    }
  }
  ProblemList problems(name);
  for (const std::string& reason : reasons) problems.add({.text = reason});
  problems.raise();
  return predictions;
}

std::vector<MeasuredCell> measured_cells(const std::vector<LoopRow>& rows) {
  std::vector<MeasuredCell> cells;
  for (const LoopRow& row : rows) {
    cells.push_back({.cell = row.cell,
                     .plain_tokens_per_s = plain_tokens_per_s(row),
                     .tokens_per_s = tokens_per_s(row),
                     .tokens_per_iteration = row.tokens_per_iteration,
                     .speedup = speedup(row),
                     .speedup_ci95 = speedup_ci95(row),
                     .between_runs = row.between_runs});
  }
  return cells;
}

double signed_error(const CellPrediction& prediction, double measured_speedup) {
  return prediction.speedup / measured_speedup - 1.0;
}

}  // namespace foredraft::answers
