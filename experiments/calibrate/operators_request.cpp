// SPDX-License-Identifier: Apache-2.0
#include "experiments/calibrate/operators_request.hpp"

#include <fmt/format.h>
#include <array>
#include <nlohmann/json.hpp>

#include "experiments/text/table.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::array shown_verifications{1, 3, 5, 7};

/// The row of the same batch and context; null where there is none.
const latency::StepRow* row_like(const latency::Profile& profile, const latency::Cell& plain, latency::Role role,
                                 std::int64_t tokens) {
  for (const latency::StepRow& row : profile.steps) {
    const latency::Cell& cell = row.cell;
    if (cell.role == role && cell.tokens == tokens && cell.batch == plain.batch && cell.context == plain.context &&
        (role != latency::Role::decoder_pass || cell.model == plain.model)) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace

std::string to_json(const OperatorsRequest& request) {
  nlohmann::ordered_json json{{"device", request.device}, {"target", request.target}};
  const auto add = [&json](const char* key, const auto& value) {
    if (value) json[key] = *value;
  };
  add("engine", request.engine);
  add("engine_version", request.engine_version);
  add("draft", request.draft);
  add("target_format", request.target_format);
  add("draft_format", request.draft_format);
  add("kv_format", request.kv_format);
  add("target_tp", request.target_tp);
  add("draft_tp", request.draft_tp);
  add("target_ep", request.target_ep);
  add("attention_dp", request.attention_dp);
  add("batches", request.batches);
  add("contexts", request.contexts);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string operators_text(const latency::Profile& profile) {
  Table table;
  table.columns = {{"target", Table::Align::left},
                   {"batch", Table::Align::right},
                   {"context", Table::Align::right},
                   {"plain ms", Table::Align::right},
                   {"draft ms", Table::Align::right}};
  for (const int gamma : shown_verifications)
    table.columns.push_back({fmt::format("v({})", gamma), Table::Align::right});
  for (const latency::StepRow& plain : profile.steps) {
    const latency::Cell& cell = plain.cell;
    if (cell.role != latency::Role::decoder_pass || cell.tokens != 1) continue;
    const latency::StepRow* draft = row_like(profile, cell, latency::Role::autoregressive_drafting, 1);
    std::vector<std::string> row{cell.model, fmt::format("{}", cell.batch), fmt::format("{}", cell.context),
                                 fmt::format("{:.3f}", 1e-3 * plain.timing.summary.median_us),
                                 draft == nullptr ? "" : fmt::format("{:.3f}", 1e-3 * draft->timing.summary.median_us)};
    for (const int gamma : shown_verifications) {
      const latency::StepRow* pass = row_like(profile, cell, latency::Role::decoder_pass, gamma + 1);
      row.push_back(pass == nullptr
                        ? ""
                        : fmt::format("{:.2f}", pass->timing.summary.median_us / plain.timing.summary.median_us));
    }
    table.rows.push_back(std::move(row));
  }
  std::string text = to_text(table) + "\nv(gamma): a pass over gamma + 1 tokens over a plain one\n";
  for (const latency::Note& note : profile.notes) text += fmt::format("{}: {}\n", note.name, note.text);
  return text;
}

}  // namespace foredraft::experiments
