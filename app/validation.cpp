// SPDX-License-Identifier: Apache-2.0
#include "app/validation.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "answers/profile_prediction.hpp"
#include "core/csv.hpp"
#include "core/digest.hpp"
#include "core/files.hpp"
#include "core/problems.hpp"
#include "core/table.hpp"
#include "experiments/results/manifest.hpp"
#include "foredraft/errors.hpp"
#include "latency/profile/measurement.hpp"
#include "latency/surfaces/pair_surface.hpp"

namespace foredraft::app {
namespace {

using gpu_bench::LoopCell;

std::vector<std::string> with_cell_columns(const std::vector<std::string>& further) {
  std::vector<std::string> columns{"target", "drafter", "drafting", "dtype", "gamma", "alpha", "batch", "context"};
  columns.insert(columns.end(), further.begin(), further.end());
  return columns;
}

void begin_cell_row(DataText& text, const LoopCell& cell) {
  text.row().cell(cell.target).cell(cell.drafter).cell(latency::drafter_word(cell.drafting)).cell(cell.dtype);
  text.cell(static_cast<double>(cell.gamma)).cell(cell.alpha);
  text.cell(static_cast<double>(cell.batch)).cell(static_cast<double>(cell.context));
}

/// A speedup and the bounds of its interval.
void add_speedup_cells(DataText& text, double speedup, const std::optional<Interval>& ci95) {
  text.cell(speedup).cell(ci95 ? std::optional(ci95->low) : std::nullopt);
  text.cell(ci95 ? std::optional(ci95->high) : std::nullopt);
}

const answers::CellPrediction& prediction_of(const std::vector<answers::CellPrediction>& predictions,
                                             const LoopCell& cell) {
  const auto found = std::ranges::find(predictions, cell, &answers::CellPrediction::cell);
  if (found == predictions.end()) throw std::logic_error("a cell was run without a prediction");
  return *found;
}

/// "3.1 % (median) and 9.8 % (worst)"
std::string middle_and_worst(std::vector<double> values) {
  std::ranges::sort(values);
  return fmt::format("{:.1f} % (median) and {:.1f} % (worst)", 100.0 * latency::percentile(values, 0.5),
                     100.0 * values.back());
}

std::string speedup_with(double speedup, const std::optional<Interval>& ci95) {
  if (!ci95) return fmt::format("{:.2f}", speedup);
  return fmt::format("{:.2f} +- {:.2f}", speedup, 0.5 * (ci95->high - ci95->low));
}

void check_folder_is_new(const std::string& folder) {
  if (names_in_folder(folder).empty()) return;
  throw InputError(
      fmt::format("{}: is there and not empty (a validation is never written over) - choose another --out", folder));
}

}  // namespace

std::string prediction_csv(const std::vector<answers::CellPrediction>& predictions) {
  DataText text(with_cell_columns({"plain_us", "drafting_us", "verify_us", "sampling_us", "tokens_per_iteration",
                                   "speedup", "speedup_low", "speedup_high", "origin"}));
  for (const answers::CellPrediction& one : predictions) {
    begin_cell_row(text, one.cell);
    text.cell(one.plain_us).cell(one.drafting_us).cell(one.verify_us).cell(one.sampling_us);
    text.cell(one.tokens_per_iteration);
    add_speedup_cells(text, one.speedup, one.speedup_ci95);
    text.cell(to_string(one.origin));
  }
  return text.csv();
}

std::string_view to_string(MeasuredBy by) { return by == MeasuredBy::loop ? "loop" : "user"; }

std::string validation_csv(const std::vector<answers::CellPrediction>& predictions,
                           const std::vector<answers::MeasuredCell>& measured) {
  DataText text(
      with_cell_columns({"predicted_plain_tokens_per_s", "measured_plain_tokens_per_s", "predicted_tokens_per_s",
                         "measured_tokens_per_s", "predicted_tokens_per_iteration", "measured_tokens_per_iteration",
                         "predicted_speedup", "predicted_low", "predicted_high", "measured_speedup", "measured_low",
                         "measured_high", "between_runs", "signed_error", "origin"}));
  for (const answers::MeasuredCell& one : measured) {
    const answers::CellPrediction& predicted = prediction_of(predictions, one.cell);
    const double plain_per_s = 1e6 * static_cast<double>(one.cell.batch) / predicted.plain_us;
    begin_cell_row(text, one.cell);
    text.cell(plain_per_s).cell(one.plain_tokens_per_s).cell(plain_per_s * predicted.speedup).cell(one.tokens_per_s);
    text.cell(predicted.tokens_per_iteration).cell(one.tokens_per_iteration);
    add_speedup_cells(text, predicted.speedup, predicted.speedup_ci95);
    add_speedup_cells(text, one.speedup, one.speedup_ci95);
    text.cell(one.between_runs).cell(answers::signed_error(predicted, one.speedup)).cell(to_string(predicted.origin));
  }
  return text.csv();
}

std::string validation_text(const std::vector<answers::CellPrediction>& predictions, const MeasuredCells& measurement,
                            MeasuredBy by, const std::string& device) {
  Table table;
  for (const char* title : {"target", "drafter", "drafts"}) table.columns.push_back({title, Table::Align::left});
  for (const char* title : {"gamma", "alpha", "batch", "context", "predicted", "measured", "error"}) {
    table.columns.push_back({title, Table::Align::right});
  }
  const bool own = by == MeasuredBy::loop;
  if (own) table.columns.push_back({"between runs", Table::Align::right});
  std::vector<double> errors;
  std::vector<double> spreads;
  for (const answers::MeasuredCell& one : measurement.cells) {
    const answers::CellPrediction& predicted = prediction_of(predictions, one.cell);
    const double error = answers::signed_error(predicted, one.speedup);
    errors.push_back(std::abs(error));
    if (one.between_runs) spreads.push_back(*one.between_runs);
    const LoopCell& cell = one.cell;
    std::vector<std::string> line{cell.target,
                                  cell.drafter,
                                  std::string(latency::drafter_word(cell.drafting)),
                                  fmt::format("{}", cell.gamma),
                                  fmt::format("{}", cell.alpha),
                                  fmt::format("{}", cell.batch),
                                  fmt::format("{}", cell.context),
                                  speedup_with(predicted.speedup, predicted.speedup_ci95),
                                  speedup_with(one.speedup, one.speedup_ci95),
                                  fmt::format("{:+.1f} %", 100.0 * error)};
    if (own) line.push_back(one.between_runs ? fmt::format("{:.1f} %", 100.0 * *one.between_runs) : "");
    table.rows.push_back(std::move(line));
  }
  std::string text =
      fmt::format("Speedups of {} {} were predicted to {}.\n\n{}\n", measurement.cells.size(),
                  own ? "decoding loops" : "cells of an engine", middle_and_worst(errors), to_text(table));
  text += fmt::format("device      {}\n", device);
  if (!spreads.empty()) text += fmt::format("noise       two runs of a cell differ by {}\n", middle_and_worst(spreads));
  for (const latency::Missing& missing : measurement.missing) {
    text += fmt::format("missing     {}: {}\n", missing.what, missing.why);
  }
  return text +
         (own ? "scope       how forward-pass timings compose, with forced acceptance and a constant context; not a "
                "serving\n            engine and its overheads\n"
              : "scope       how forward-pass timings compose, compared with speedups measured in an engine; its own "
                "overheads are\n            in the measurements and not in the predictions\n");
}

MeasuredCells run_validation(const std::string& folder, const ValidationInputs& inputs,
                             const std::vector<answers::CellPrediction>& predictions, const Measure& measure) {
  const WriteLock lock = WriteLock::of_folder(folder);
  check_folder_is_new(folder);
  const auto path = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  const std::string predicted = prediction_csv(predictions);
  const nlohmann::ordered_json program = experiments::program_json();
  nlohmann::ordered_json manifest{
      {"schema", validation_schema},
      {"version", program.at("version")},
      {"state", "running"},
      {"measured_by", to_string(inputs.measured_by)},
      {"valid", inputs.valid},
      {"inputs", experiments::files_json(inputs.files)},
      {"outputs", experiments::files_json({digest_text("prediction.csv", predicted)})},
      {"program", program},
      {"run", {{"command_line", inputs.command_line}, {"started", experiments::utc_now()}, {"ended", nullptr}}}};
  const auto write_manifest = [&] { replace_file(path("manifest.json"), experiments::document_text(manifest)); };
  try {
    replace_file(path("prediction.csv"), predicted);
  } catch (const RunError& error) {  // nothing was written: the error is in the folder that the user named
    throw InputError(error.what());
  }
  write_manifest();
  const auto keep = [&](const std::vector<answers::MeasuredCell>& cells) {
    replace_file(path("validation.csv"), validation_csv(predictions, cells));
  };
  MeasuredCells measured = measure(keep);
  keep(measured.cells);
  manifest["state"] = measured.end == gpu_bench::MeasureEnd::interrupted ? "interrupted" : "complete";
  manifest["outputs"] =
      experiments::files_json({digest_text("prediction.csv", predicted),
                               digest_text("validation.csv", validation_csv(predictions, measured.cells))});
  manifest["run"]["ended"] = experiments::utc_now();
  write_manifest();
  return measured;
}

}  // namespace foredraft::app
