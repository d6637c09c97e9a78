// SPDX-License-Identifier: Apache-2.0
#include "app/calibration_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <set>

#include "core/table.hpp"

namespace foredraft::app {
namespace {

constexpr std::array shown_gammas{1, 3, 5, 7};

std::string limits_line(const latency::Profile& profile) {
  const latency::Limits& limits = profile.limits;
  std::vector<std::string> known;
  const auto add = [&](const latency::Figure& figure, std::string_view format, double size) {
    if (figure.value) known.push_back(fmt::format(fmt::runtime(format), *figure.value / size));
  };
  add(limits.read_bandwidth_bytes_per_s, "reads {:.1f} GB/s", 1e9);
  add(limits.copy_bandwidth_bytes_per_s, "copies {:.1f} GB/s", 1e9);
  add(limits.matrix_peak_fp32_flop_per_s, "fp32 products {:.3g} Gflop/s", 1e9);
  add(limits.matrix_peak_fp16_flop_per_s, "fp16 products {:.3g} Tflop/s", 1e12);
  add(limits.stream_launch_us, "launch {:.2g} us", 1.0);
  add(limits.grid_sync_us, "barrier {:.2g} us", 1.0);
  return fmt::format("{}{}{}\n", profile.device.name, known.empty() ? "" : ": ", fmt::join(known, ", "));
}

/// The measured row with this model, role and number of tokens, otherwise as `cell`; null if there is none.
const latency::StepRow* row_at(const latency::Profile& profile, latency::Cell cell,
                               const gpu_bench::PlannedModel& model, latency::Role role, std::int64_t tokens) {
  cell.model = model.name;
  cell.source_length = model.source_length;
  cell.role = role;
  cell.tokens = tokens;
  const latency::StepRow* row = latency::find_step(profile, cell);
  return row == nullptr || row->timing.summary.samples == 0 ? nullptr : row;
}

void add_growth_columns(Table& table) {
  for (const int gamma : shown_gammas) table.columns.push_back({fmt::format("v({})", gamma), Table::Align::right});
}

/// Times of the verifications of a model, divided by that of its decode step.
void add_growth(const latency::Profile& profile, const latency::StepRow& plain, std::vector<std::string>& row) {
  for (const int gamma : shown_gammas) {
    latency::Cell cell = plain.cell;
    cell.tokens = gamma + 1;
    const latency::StepRow* pass = latency::find_step(profile, cell);
    const bool measured = pass != nullptr && pass->timing.summary.samples > 0;
    row.push_back(measured ? fmt::format("{:.2f}", pass->timing.summary.median_us / plain.timing.summary.median_us)
                           : "");
  }
}

double median_ms(const latency::StepRow& row) { return 1e-3 * row.timing.summary.median_us; }

std::string ms_text(const latency::StepRow* row) {
  if (row == nullptr) return "";
  const Interval ci95 = row->timing.summary.median_ci95_us;
  return fmt::format("{:.3f} +- {:.3f}", median_ms(*row), 0.5e-3 * (ci95.high - ci95.low));
}

/// The drafts of one step: a token, or a block of four.
const latency::StepRow* draft_row(const latency::Profile& profile, const gpu_bench::PlannedPair& pair,
                                  const latency::Cell& plain) {
  constexpr std::int64_t block = 4;
  const bool one_by_one = pair.drafting == latency::Role::autoregressive_drafting;
  return row_at(profile, plain, pair.drafter, one_by_one ? latency::Role::decoder_pass : pair.drafting,
                one_by_one ? 1 : block);
}

std::vector<std::string> table_row(const latency::Profile& profile, const gpu_bench::PlannedPair& pair,
                                   const latency::StepRow& plain) {
  const latency::StepRow* draft = draft_row(profile, pair, plain.cell);
  const auto ceiling = latency::fraction_of_ceiling(profile.limits, plain.cell.dtype, plain.timing);
  std::vector<std::string> row{pair.target.name,
                               pair.drafter.name,
                               pair.drafting == latency::Role::block_drafting  ? "block of 4"
                               : pair.drafting == latency::Role::head_drafting ? "4 heads"
                                                                               : "token",
                               plain.cell.dtype,
                               fmt::format("{}", plain.cell.batch),
                               fmt::format("{}", plain.cell.context),
                               ms_text(&plain),
                               ceiling ? fmt::format("{:.0f} %", 100.0 * *ceiling) : "",
                               ms_text(draft),
                               draft == nullptr ? "" : fmt::format("{:.3f}", median_ms(*draft) / median_ms(plain))};
  add_growth(profile, plain, row);
  return row;
}

std::string pairs_table(const latency::Profile& profile, const std::vector<gpu_bench::PlannedPair>& pairs) {
  Table table;
  for (const char* title : {"target", "drafter", "drafts", "dtype"}) {
    table.columns.push_back({title, Table::Align::left});
  }
  for (const char* title : {"batch", "context", "plain ms", "of ceiling", "draft ms", "c"}) {
    table.columns.push_back({title, Table::Align::right});
  }
  add_growth_columns(table);
  for (const gpu_bench::PlannedPair& pair : pairs) {
    for (const latency::StepRow& row : profile.steps) {
      const latency::Cell& cell = row.cell;
      const bool plain = cell.model == pair.target.name && cell.role == latency::Role::decoder_pass &&
                         cell.tokens == 1 && cell.cache == latency::Cache::cold &&
                         cell.launch == profile.steps.front().cell.launch;
      if (plain && row.timing.summary.samples > 0) table.rows.push_back(table_row(profile, pair, row));
    }
  }
  if (table.rows.empty()) return "no decode step was measured\n";
  return to_text(table) +
         "\nc: draft step over decode step; v(gamma): a forward pass over gamma + 1 tokens over a decode step; +-: "
         "half the 95 % interval "
         "of the median;\nof ceiling: the minimum time that memory and arithmetic of this device allow, over the time "
         "measured\n";
}

/// Time of sampling for each vocabulary at the first measured batch size; empty without such rows.
std::string sampling_lines(const latency::Profile& profile) {
  constexpr std::int64_t shown_gamma = 4;
  std::string text;
  for (const latency::VerificationRow& draw : profile.verifications) {
    latency::VerificationCell cell = draw.cell;
    if (cell.gamma != 0 || cell.batch != profile.verifications.front().cell.batch) continue;
    cell.gamma = shown_gamma;
    const latency::VerificationRow* verification = latency::find_verification(profile, cell);
    text += fmt::format("sampling  vocabulary {}, batch {}: a token drawn in {:.0f} us", cell.vocabulary, cell.batch,
                        draw.timing.summary.median_us);
    if (verification != nullptr) {
      text += fmt::format(", {} drafts verified in {:.0f} us", shown_gamma, verification->timing.summary.median_us);
    }
    text += "\n";
  }
  return text;
}

/// The batch sizes and context lengths for which a profile can predict; empty if it has fits, which extend them.
std::string serves_line(const latency::Profile& profile) {
  std::set<std::int64_t> batches;
  std::set<std::int64_t> contexts;
  for (const latency::StepRow& row : profile.steps) {
    if (row.timing.summary.samples == 0 || row.cell.role != latency::Role::decoder_pass) continue;
    batches.insert(row.cell.batch);
    contexts.insert(row.cell.context);
  }
  if (batches.empty()) return "serves    no prediction yet: no pass of a model was measured - give it more --minutes\n";
  if (!profile.fits.empty()) return "";
  return fmt::format(
      "serves    foredraft predict with --batch {} and --context {}, and what lies between: too little "
      "was measured to\n          reach further - calibrate into another file, with the --batch and "
      "--context that you ask for\n",
      fmt::join(batches, ","), fmt::join(contexts, ","));
}

}  // namespace

std::string operators_text(const latency::Profile& profile) {
  Table table;
  table.columns = {{"target", Table::Align::left}};
  for (const char* title : {"batch", "context", "plain ms", "draft ms"}) {
    table.columns.push_back({title, Table::Align::right});
  }
  add_growth_columns(table);
  for (const latency::StepRow& plain : profile.steps) {
    const latency::Cell& cell = plain.cell;
    if (cell.role != latency::Role::decoder_pass || cell.tokens != 1) continue;
    const auto draft = std::ranges::find_if(profile.steps, [&](const latency::StepRow& row) {
      return row.cell.role == latency::Role::autoregressive_drafting && row.cell.tokens == 1 &&
             row.cell.batch == cell.batch && row.cell.context == cell.context;
    });
    std::vector<std::string> row{cell.model, fmt::format("{}", cell.batch), fmt::format("{}", cell.context),
                                 fmt::format("{:.3f}", median_ms(plain)),
                                 draft == profile.steps.end() ? "" : fmt::format("{:.3f}", median_ms(*draft))};
    add_growth(profile, plain, row);
    table.rows.push_back(std::move(row));
  }
  std::string text = to_text(table) + "\nv(gamma): a forward pass over gamma + 1 tokens over a decode step\n";
  for (const latency::Note& note : profile.notes) text += fmt::format("{}: {}\n", note.name, note.text);
  return text;
}

std::string noise_text(const latency::Profile& profile) {
  if (!profile.aa_test) return "";
  const latency::AgainstItself& repeat = *profile.aa_test;
  return fmt::format(
      "{} rows measured twice differ by {:.1f} % (median; at most 2 %) and {:.1f} % (95th percentile; at "
      "most 5 %)",
      repeat.pairs, 100.0 * repeat.median_difference, 100.0 * repeat.p95_difference);
}

std::string noise_message(std::string_view problem, std::string_view advice, bool accepted) {
  if (accepted) return std::string(problem);
  return fmt::format("{} - {}, or accept it with --accept-noise", problem, advice);
}

std::string calibration_text(const latency::Profile& profile, const std::vector<gpu_bench::PlannedPair>& pairs) {
  std::string text = limits_line(profile) + "\n" + pairs_table(profile, pairs) + "\n";
  const std::string noise = noise_text(profile);
  text += sampling_lines(profile);
  text += "noise     " + (noise.empty() ? "not known: nothing was measured twice" : noise) + "\n";
  text += "cells     " + fmt::format("{} measured", profile.steps.size());
  if (!profile.verifications.empty()) text += fmt::format(", {} verifications", profile.verifications.size());
  if (!profile.complete())
    text += fmt::format(", {} parts missing; the same command continues", profile.missing.size());
  return text + "\n" + serves_line(profile);
}

}  // namespace foredraft::app
