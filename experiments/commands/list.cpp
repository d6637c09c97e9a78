// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/readable.hpp"
#include "core/streams.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/models/read_model.hpp"
#include "experiments/reproduce/registry.hpp"
#include "experiments/results/manifest.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/counts.hpp"
#include "logs/log_format.hpp"
#include "scenario/family.hpp"
#include "scenario/metrics.hpp"
#include "scenario/parameters.hpp"
#include "sim/token/models/model_pair.hpp"

namespace foredraft::experiments {
namespace {

using Json = nlohmann::ordered_json;

// ---- What can be listed, as arrays of objects with a name and a summary.

Json parameter_entry(const scenario::Parameter& parameter) {
  return {{"name", parameter.name},
          {"summary", parameter.summary},
          {"legal_values", scenario::legal_values(parameter)},
          {"default", parameter.default_value ? Json(scenario::to_text(*parameter.default_value)) : Json()}};
}

template <class Family>
Json parameters_of(const std::vector<scenario::MemberParameter<Family>>& parameters) {
  Json list = Json::array();
  for (const auto& parameter : parameters) {
    scenario::Parameter own = *scenario::find_parameter(parameter.name);  // which others of the family may share
    own.summary = parameter.summary;
    own.range = parameter.range;
    own.default_value = parameter.default_value;
    list.push_back(parameter_entry(own));
  }
  return list;
}

template <class Entry>
Json member(const Entry& entry) {
  return {{"name", entry.name},
          {"summary", entry.summary},
          {"source", entry.source},
          {"parameters", parameters_of(entry.parameters)}};
}

template <class Registry>
Json members(const Registry& registry) {
  Json list = Json::array();
  for (const auto& entry : registry) list.push_back(member(entry));
  return list;
}

Json drafters() {
  Json list = Json::array();
  for (const scenario::DrafterMember& drafter : scenario::drafters()) {
    Json entry = member(drafter);
    entry["fidelities"] = Json::array();
    if (drafter.process) entry["fidelities"].push_back("process");
    if (drafter.token) entry["fidelities"].push_back("token");
    list.push_back(std::move(entry));
  }
  return list;
}

Json rules() {
  Json list = Json::array();
  for (const scenario::RuleMember& rule : scenario::rules()) {
    Json entry = member(rule);
    entry["lossless"] = rule.lossless;
    list.push_back(std::move(entry));
  }
  return list;
}

template <class Registry>
Json names_and_summaries(const Registry& registry) {
  Json list = Json::array();
  for (const auto& entry : registry) list.push_back({{"name", entry.name}, {"summary", entry.summary}});
  return list;
}

Json formats() {
  Json list = Json::array();
  for (const logs::LogFormat& format : logs::formats()) {
    list.push_back({{"name", format.name},
                    {"summary", format.summary},
                    {"gamma", format.gives.gamma},
                    {"length", format.gives.length},
                    {"positions", format.gives.positions},
                    {"times", format.gives.times},
                    {"batch", format.gives.batch}});
  }
  return list;
}

Json experiments() {
  Json list = Json::array();
  for (const ExperimentEntry& entry : experiment_registry()) {
    list.push_back({{"name", entry.id}, {"summary", entry.summary}});
  }
  return list;
}

Json parameters() {
  Json list = Json::array();
  for (const scenario::Parameter& parameter : scenario::parameters()) list.push_back(parameter_entry(parameter));
  return list;
}

Json metrics() {
  Json list = Json::array();
  for (const scenario::ResultColumn& column : scenario::result_columns()) {
    list.push_back(
        {{"name", column.name}, {"summary", column.meaning}, {"unit", column.unit}, {"estimated", column.estimated}});
  }
  return list;
}

Json devices() {
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json list = Json::array();
  for (const latency::DeviceSheet& sheet : latency::device_registry()) {
    const latency::Limits& limits = sheet.profile.limits;
    list.push_back({{"name", sheet.name},
                    {"summary", sheet.profile.device.name},
                    {"aliases", sheet.aliases},
                    {"memory_bytes", number(latency::capacity_bytes(sheet.profile.device))},
                    {"memory_bandwidth_bytes_per_s", number(limits.memory_bandwidth_bytes_per_s.value)},
                    {"matrix_peak_fp16_flop_per_s", number(limits.matrix_peak_fp16_flop_per_s.value)},
                    {"matrix_peak_fp8_flop_per_s", number(limits.matrix_peak_fp8_flop_per_s.value)},
                    {"matrix_peak_int8_flop_per_s", number(limits.matrix_peak_int8_flop_per_s.value)},
                    {"matrix_peak_fp4_flop_per_s", number(limits.matrix_peak_fp4_flop_per_s.value)},
                    {"link_bandwidth_bytes_per_s", number(limits.link_bandwidth_bytes_per_s.value)}});
  }
  return list;
}

Json profiles() {
  Json list = Json::array();
  for (const std::vector<std::string>& row : operators_rows()) {
    list.push_back({{"name", row[0]},
                    {"summary", fmt::format("{} and {} on {} under {}", row[3], row[4], row[1], row[2])},
                    {"device", row[1]},
                    {"engine", row[2]},
                    {"target", row[3]},
                    {"draft", row[4]}});
  }
  return list;
}

Json models() {
  Json list = Json::array();
  for (const latency::ModelShape& shape : latency::model_registry()) {
    list.push_back({{"name", shape.name},
                    {"summary", shape.summary},
                    {"source", shape.source},
                    {"encoder_layers", shape.encoder_layers},
                    {"layers", shape.layers},
                    {"d_model", shape.d_model},
                    {"heads", shape.heads},
                    {"kv_heads", shape.kv_heads},
                    {"experts", shape.experts.count},
                    {"experts_per_token", shape.experts.per_token},
                    {"vocabulary", shape.vocabulary},
                    {"parameters", latency::parameters(shape)},
                    {"published_parameters", shape.published_parameters ? Json(*shape.published_parameters) : Json()},
                    {"fp16_step_bytes", latency::step_weight_bytes(shape, latency::DataType::fp16)}});
  }
  return list;
}

// ---- As text.

std::string definition(std::string_view name, std::string_view text) {
  constexpr std::size_t name_columns = 22;
  return wrapped(fmt::format("{:<{}} {}\n", name, name_columns, text), name_columns + 1);
}

std::string parameter_text(const Json& parameter) {
  std::string text =
      fmt::format("{} ({}", parameter["summary"].get<std::string>(), parameter["legal_values"].get<std::string>());
  if (!parameter["default"].is_null()) text += fmt::format("; default {}", parameter["default"].get<std::string>());
  return text + ")";
}

/// An entry with what its family tells beside the summary, and its parameters.
std::string entry_text(const Json& entry) {
  std::string text = entry["summary"];
  if (entry.contains("lossless")) text += entry["lossless"].get<bool>() ? "; lossless" : "; not lossless";
  if (entry.contains("fidelities")) {
    text += fmt::format(" ({})", fmt::join(entry["fidelities"].get<std::vector<std::string>>(), ", "));
  }
  if (entry.contains("unit") && entry["unit"] != "") {
    text += fmt::format(" ({})", entry["unit"].get<std::string>());
  }
  if (entry.contains("legal_values")) text = parameter_text(entry);
  if (entry.contains("source")) text += fmt::format(" [{}]", entry["source"].get<std::string>());
  std::string lines = definition(entry["name"].get<std::string>(), text);
  if (!entry.contains("parameters")) return lines;
  for (const Json& parameter : entry["parameters"]) {
    lines += definition("  " + parameter["name"].get<std::string>(), parameter_text(parameter));
  }
  return lines;
}

std::string entries_text(const Json& entries) {
  std::string text;
  for (const Json& entry : entries) text += entry_text(entry);
  return text;
}

std::string devices_text() {
  Table engines;  // device and engine are parts of a profile's name
  for (const char* title : {"profile", "target", "draft"}) engines.columns.push_back({title, Table::Align::left});
  for (const std::vector<std::string>& row : operators_rows()) engines.rows.push_back({row[0], row[3], row[4]});
  return to_text(device_table()) +
         "\nPeaks are dense, links one way. Case and separators do not matter; other names: docs/devices.md\n\n" +
         to_text(engines) + "\nStep times under an engine, sums of operators measured in it: docs/step-times.md\n";
}

std::string models_text() {
  return entries_text(names_and_summaries(sim::model_registry())) +
         fmt::format("\nShapes of models, for step times:\n\n{}", to_text(model_table()));
}

// ---- As Markdown.

/// The keys of entries that are columns, each with its title. The name is code.
using Columns = std::vector<std::pair<std::string_view, std::string_view>>;

std::string entries_markdown(const Json& entries, const Columns& columns) {
  std::string head, rule, rows;
  for (const auto& [key, title] : columns) {
    head += fmt::format("| {} ", title);
    rule += "|---";
  }
  for (const Json& entry : entries) {
    for (const auto& [key, title] : columns) {
      std::string cell = entry[key].is_null() ? "" : entry[key].get<std::string>();
      for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, 1, '\\');
      rows += key == "name" ? fmt::format("| `{}` ", cell) : fmt::format("| {} ", cell);
    }
    rows += "|\n";
  }
  return fmt::format("{}|\n{}|\n{}", head, rule, rows);
}

struct Inventory {
  std::string_view name;
  std::string_view summary;
  Json (*entries)();
  Columns columns = {{"name", "name"}, {"summary", "what it is"}};
  std::string (*text)() = nullptr;      ///< in place of the entries
  std::string (*markdown)() = nullptr;  ///< in place of `columns`
  /// A second list of the document, with its key.
  std::pair<std::string_view, Json (*)()> more = {};
};

const std::vector<Inventory>& inventories() {
  static const std::vector<Inventory> all{
      {"drafters", "what drafts tokens", drafters},
      {"rules", "verification rules", rules},
      {"policies", "draft-length policies", [] { return members(scenario::policies()); }},
      {"processes", "acceptance processes", [] { return members(scenario::processes()); }},
      {"costs", "cost models", [] { return members(scenario::costs()); }},
      {.name = "models",
       .summary = "pairs of token models, and shapes of models for step times",
       .entries = models,
       .text = models_text,
       .markdown = [] { return to_markdown(model_table()) + "\n" + to_markdown(model_source_table()); },
       .more = {"pairs", [] { return names_and_summaries(sim::model_registry()); }}},
      {.name = "devices",
       .summary = "data sheets, and step times of engines",
       .entries = devices,
       .text = devices_text,
       .markdown = devices_markdown,
       .more = {"profiles", profiles}},
      {"experiments", "tables and figures that reproduce computes", experiments},
      {"formats",
       "logs and results that advise, import and compare read",
       formats,
       {{"name", "format"},
        {"summary", "reads"},
        {"gamma", "gamma"},
        {"length", "length"},
        {"positions", "positions"},
        {"times", "times"},
        {"batch", "batch"}}},
      {"parameters",
       "keys of configurations, of which many are options too",
       parameters,
       {{"name", "parameter"}, {"legal_values", "legal values"}, {"default", "default"}, {"summary", "meaning"}}},
      {"metrics",
       "columns of points.csv",
       metrics,
       {{"name", "column"}, {"unit", "unit"}, {"summary", "meaning"}, {"estimated", "how it is estimated"}}},
  };
  return all;
}

std::vector<std::string> inventory_names() {
  std::vector<std::string> names;
  for (const Inventory& inventory : inventories()) names.emplace_back(inventory.name);
  return names;
}

Json document(const Inventory& inventory) {
  Json json{{"schema", "foredraft.list/1"}, {inventory.name, inventory.entries()}};
  if (inventory.more.second != nullptr) json[inventory.more.first] = inventory.more.second();
  return json;
}

std::string overview() {
  std::string text = "foredraft list NAME prints one of these:\n\n";
  for (const Inventory& inventory : inventories())
    text += fmt::format("  {:<12} {}\n", inventory.name, inventory.summary);
  return text;
}

}  // namespace

CommandSpec list_spec() {
  return {
      .name = "list",
      .arguments = "[NAME] [--json | --markdown]",
      .summary = "Prints what can be named in a configuration or on the command line.",
      .options = {{"json", "", "one JSON document, schema foredraft.list/1"}, {"markdown", "", "the tables of docs/"}},
      .min_positional = 0,
      .max_positional = 1,
      .examples = {"foredraft list rules", "foredraft list devices --json"},
      .words = inventory_names};
}

int run_list(const std::vector<std::string>& arguments) {
  CommandLine line(list_spec(), arguments);
  if (line.has("json"))
    line.refuse_any({"markdown"}, "mutually exclusive with --json", "one form is printed", "remove one");
  const bool one = !line.positional().empty();
  if (!one) line.refuse_any({"json", "markdown"}, "without a list", "one list is printed", "e.g. foredraft list rules");
  line.done();
  if (!one) {
    print_result(overview());
    return exit_done;
  }
  const std::string& wanted = line.positional().front();
  const auto found = std::find_if(inventories().begin(), inventories().end(),
                                  [&](const Inventory& inventory) { return inventory.name == wanted; });
  if (found == inventories().end()) {
    throw InputError(fmt::format("foredraft list: {}: unknown list - {}", readable(wanted),
                                 suggestion_for(wanted, inventory_names())));
  }
  if (line.has("json")) {
    print_result(document_text(document(*found)));
  } else if (line.has("markdown")) {
    print_result(found->markdown != nullptr ? found->markdown() : entries_markdown(found->entries(), found->columns));
  } else {
    print_result(found->text != nullptr ? found->text() : entries_text(found->entries()));
  }
  return exit_done;
}

}  // namespace foredraft::experiments
