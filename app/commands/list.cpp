// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "app/commands/commands.hpp"
#include "core/json_values.hpp"
#include "core/names.hpp"
#include "core/progress.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "experiments/reproduce/registry.hpp"
#include "experiments/results/manifest.hpp"
#include "inputs/devices.hpp"
#include "inputs/read_model.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/engines/engines.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/model_bytes.hpp"
#include "logs/log_format.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/methods.hpp"
#include "scenario/metrics.hpp"
#include "scenario/parameters.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "scenario/rules.hpp"
#include "sim/token/models/model_pair.hpp"

namespace foredraft::app {
namespace {

using Json = nlohmann::ordered_json;

// ---- What can be listed, as arrays of objects with a name and a summary.

Json array_of(const auto& registry, const auto& entry_of) {
  Json list = Json::array();
  for (const auto& entry : registry) list.push_back(entry_of(entry));
  return list;
}

Json parameter_entry(const scenario::Parameter& parameter) {
  return {{"name", parameter.name},
          {"summary", parameter.summary},
          {"legal_values", scenario::legal_values(parameter)},
          {"default", parameter.default_value ? Json(scenario::to_text(*parameter.default_value)) : Json()}};
}

Json member(const auto& entry) {
  Json parameters = array_of(entry.parameters, [](const auto& parameter) {
    scenario::Parameter own = *scenario::find_parameter(parameter.name);  // which others of the family may share
    own.summary = parameter.summary;
    own.range = parameter.range;
    own.default_value = parameter.default_value();
    return parameter_entry(own);
  });
  return {{"name", entry.name}, {"summary", entry.summary}, {"source", entry.source}, {"parameters", parameters}};
}

Json members(const auto& registry) {
  return array_of(registry, [](const auto& entry) { return member(entry); });
}

Json drafters() {
  return array_of(scenario::drafters(), [](const scenario::DrafterMember& drafter) {
    Json entry = member(drafter);
    entry["fidelities"] = Json::array();
    if (drafter.process) entry["fidelities"].push_back("process");
    if (drafter.token) entry["fidelities"].push_back("token");
    return entry;
  });
}

Json rules() {
  return array_of(scenario::rules(), [](const scenario::RuleMember& rule) {
    Json entry = member(rule);
    entry["lossless"] = rule.lossless;
    return entry;
  });
}

Json methods() {
  return array_of(scenario::methods(), [](const scenario::Method& method) {
    return Json{{"name", method.name},
                {"summary", method.summary},
                {"aliases", method.aliases},
                {"wins", method.wins},
                {"source", method.source},
                {"exact", method.exact},
                {"request", word_or_null(std::string(method.request))},
                {"reason", word_or_null(std::string(method.reason))},
                {"members", method.members},
                {"compared", !std::holds_alternative<std::monostate>(method.compared)},
                {"needs_text", scenario::needs_text(method)},
                {"not_compared", word_or_null(std::string(method.not_compared))},
                {"if_named", word_or_null(std::string(method.if_named))}};
  });
}

Json named(const auto& name, const auto& summary) { return {{"name", name}, {"summary", summary}}; }

Json formats() {
  return array_of(logs::formats(), [](const logs::LogFormat& format) {
    Json entry = named(format.name, format.summary);
    entry.update({{"gamma", format.gives.gamma},
                  {"length", format.gives.length},
                  {"positions", format.gives.positions},
                  {"times", format.gives.times},
                  {"batch", format.gives.batch}});
    return entry;
  });
}

Json metrics() {
  return array_of(scenario::result_columns(), [](const scenario::ResultColumn& column) {
    return Json{
        {"name", column.name}, {"summary", column.meaning}, {"unit", column.unit}, {"estimated", column.estimated}};
  });
}

Json devices() {
  return array_of(latency::device_registry(), [](const latency::DeviceSheet& sheet) {
    const latency::Limits& limits = sheet.profile.limits;
    return Json{{"name", sheet.name},
                {"summary", sheet.profile.device.name},
                {"aliases", sheet.aliases},
                {"memory_bytes", value_or_null(latency::capacity_bytes(sheet.profile.device))},
                {"memory_bandwidth_bytes_per_s", value_or_null(limits.memory_bandwidth_bytes_per_s.value)},
                {"matrix_peak_fp16_flop_per_s", value_or_null(limits.matrix_peak_fp16_flop_per_s.value)},
                {"matrix_peak_fp8_flop_per_s", value_or_null(limits.matrix_peak_fp8_flop_per_s.value)},
                {"matrix_peak_int8_flop_per_s", value_or_null(limits.matrix_peak_int8_flop_per_s.value)},
                {"matrix_peak_fp4_flop_per_s", value_or_null(limits.matrix_peak_fp4_flop_per_s.value)},
                {"link_bandwidth_bytes_per_s", value_or_null(limits.link_bandwidth_bytes_per_s.value)}};
  });
}

Json profiles() {
  return array_of(inputs::operators_rows(), [](const inputs::OperatorsRow& row) {
    return Json{{"name", row.name},
                {"summary", fmt::format("{} and {} on {} under {}", row.target, row.draft, row.device, row.engine)},
                {"device", row.device},
                {"engine", row.engine},
                {"target", row.target},
                {"draft", row.draft},
                {"batches", row.batches},
                {"contexts", row.contexts}};
  });
}

Json range_json(const latency::Range& range) {
  return {{"low", range.low}, {"value", range.value}, {"high", range.high}};
}

Json engines() {
  return array_of(latency::engine_registry(), [](const latency::Engine& engine) {
    return Json{{"name", engine.name},
                {"summary", engine.summary},
                {"aliases", engine.aliases},
                {"asynchronous", engine.asynchronous},
                {"slot_by_slot", engine.slot_by_slot},
                {"prefill", latency::to_string(engine.prefill)},
                {"pass_tokens", engine.pass_tokens},
                {"graph_tokens", engine.graph_tokens},
                {"max_requests", engine.max_requests},
                {"host_us", range_json(engine.host_us)},
                {"host_request_us", range_json(engine.host_request_us)},
                {"draft_host_us", range_json(engine.draft_host_us)},
                {"draft_host_request_us", range_json(engine.draft_host_request_us)},
                {"eager_operator_us", range_json(engine.eager_operator_us)},
                {"source", engine.source}};
  });
}

Json model_pairs() {
  return array_of(sim::model_registry(), [](const auto& pair) { return named(pair.name, pair.summary); });
}

Json models() {
  return array_of(latency::model_registry(), [](const latency::ModelShape& shape) {
    return Json{{"name", shape.name},
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
                {"published_parameters", value_or_null(shape.published_parameters)},
                {"fp16_step_bytes", 2.0 * latency::step_parameters(shape)}};
  });
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

std::string name_of_entry(const Json& entry) { return entry["name"]; }

/// An entry with the further fields of its family and its parameters.
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

/// The rows of a table that begin with the name of an entry.
std::string rows_text(Table table, const Json& entries) {
  const std::vector<std::string> names = texts_of(entries, name_of_entry);
  std::erase_if(table.rows, [&](const auto& row) { return std::ranges::find(names, row.front()) == names.end(); });
  return to_text(table);
}

std::string profiles_text(const Json& profiles) {
  Table engines;  // device and engine are parts of a profile's name
  for (const char* title : {"profile", "target", "draft"}) engines.columns.push_back({title, Table::Align::left});
  std::map<std::string, std::vector<std::string>> covered;
  for (const Json& profile : profiles) {
    engines.rows.push_back({profile["name"], profile["target"], profile["draft"]});
    covered[fmt::format("batch {}; context {}", fmt::join(profile["batches"].get<std::vector<std::int64_t>>(), ", "),
                        fmt::join(profile["contexts"].get<std::vector<std::int64_t>>(), ", "))]
        .push_back(profile["name"]);
  }
  std::string text =
      to_text(engines) + "\nStep times under an engine, sums of operators measured in it: docs/step-times.md\n";
  for (const auto& [where, names] : covered) {
    text += wrapped(covered.size() == 1 ? fmt::format("Each covers {}\n", where)
                                        : fmt::format("{}: {}\n", where, fmt::join(names, ", ")));
  }
  return text;
}

std::string devices_text(const Json& sheets, const Json& profiles) {
  std::string text;
  if (!sheets.empty()) {
    text = rows_text(inputs::device_table(), sheets) +
           "\nPeaks are dense, links one way. Case and the order of words do not matter; names: docs/devices.md\n";
  }
  if (profiles.empty()) return text;
  return text + (text.empty() ? "" : "\n") + profiles_text(profiles);
}

std::string methods_text(const Json& methods, const Json& /*more*/) {
  std::string text;
  for (const Json& method : methods) {
    const auto word = [&](const char* key) { return method[key].get<std::string>(); };
    std::string how =
        method["request"].is_null() ? "not modeled: " + word("reason") : "asked for by " + word("request");
    if (!method["not_compared"].is_null()) how += "; not compared: " + word("not_compared");
    if (!method["if_named"].is_null()) how += "; compared if named: " + word("if_named");
    text +=
        definition(word("name"), fmt::format("{}; pays {}; {}; {} [{}]", word("summary"), word("wins"),
                                             method["exact"].get<bool>() ? "exact" : "not exact", how, word("source")));
  }
  return text;
}

/// "1.5 (0.5-4)" of {500, 1500, 4000} us in ms, with the factor 1e-3; empty: nothing.
std::string range_text(const Json& range_us, double factor) {
  const auto at = [&](const char* end) { return factor * range_us[end].get<double>(); };
  return at("high") == 0.0 ? "" : fmt::format("{:.3g} ({:.3g}-{:.3g})", at("value"), at("low"), at("high"));
}

std::string engines_text(const Json& engines, const Json& /*more*/) {
  const auto count_text = [](const Json& count) {
    return count == 0 ? std::string() : std::to_string(count.get<std::int64_t>());
  };
  Table terms;
  terms.columns = {{"engine", Table::Align::left},        {"host ms", Table::Align::right},
                   {"us a request", Table::Align::right}, {"drafting ms", Table::Align::right},
                   {"us a request", Table::Align::right}, {"async", Table::Align::left},
                   {"chunk", Table::Align::right},        {"graph", Table::Align::right}};
  std::string summaries;
  for (const Json& engine : engines) {
    terms.rows.push_back({engine["name"], range_text(engine["host_us"], 1e-3),
                          range_text(engine["host_request_us"], 1.0), range_text(engine["draft_host_us"], 1e-3),
                          range_text(engine["draft_host_request_us"], 1.0),
                          engine["asynchronous"].get<bool>() ? "yes" : "no", count_text(engine["pass_tokens"]),
                          count_text(engine["graph_tokens"])});
    summaries += definition(engine["name"].get<std::string>(), engine["summary"].get<std::string>());
  }
  return to_text(terms) + "\n" +
         wrapped(
             "Host time of an iteration and what drafting adds; async: hidden while the device runs. chunk: tokens of "
             "the passes that prompts share with decoding; empty: prompts have passes of their own. graph: tokens of "
             "the largest captured pass.\n\n") +
         summaries;
}

std::string models_text(const Json& shapes, const Json& pairs) {
  std::string text = entries_text(pairs);
  if (shapes.empty()) return text;
  return text + (text.empty() ? "" : "\n") + "Shapes of models, for step times:\n\n" +
         rows_text(inputs::model_table(), shapes);
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

/// Those that are modeled, then the others.
std::string methods_markdown() {
  using enum Table::Align;
  Table modeled{"",
                {{"method", left},
                 {"what it is", left},
                 {"it pays", left},
                 {"exact", left},
                 {"asked for by", left},
                 {"compared", left},
                 {"source", left}},
                {}};
  Table others{"",
               {{"not modeled", left},
                {"what it is", left},
                {"it pays", left},
                {"exact", left},
                {"why not", left},
                {"source", left}},
               {}};
  for (const scenario::Method& method : scenario::methods()) {
    const bool is_modeled = !method.request.empty();
    const std::string_view how = is_modeled ? method.request : method.reason;
    std::string names(method.name);
    if (!method.aliases.empty()) names += fmt::format(" ({})", fmt::join(method.aliases, ", "));
    std::vector<std::string> cells{std::move(names), std::string(method.summary), std::string(method.wins),
                                   method.exact ? "yes" : "no", std::string(how)};
    if (is_modeled) {
      cells.push_back(needs_text(method)            ? "on n-gram models"
                      : !method.if_named.empty()    ? fmt::format("if named: {}", method.if_named)
                      : method.not_compared.empty() ? "yes"
                                                    : fmt::format("no: {}", method.not_compared));
    }
    cells.emplace_back(method.source);
    (is_modeled ? modeled : others).rows.push_back(std::move(cells));
  }
  return to_markdown(modeled) + "\n" + to_markdown(others);
}

struct Inventory {
  std::string_view name;
  std::string_view summary;
  Json (*entries)();
  Columns columns = {{"name", "name"}, {"summary", "what it is"}};
  std::string (*text)(const Json& entries, const Json& more) = nullptr;  ///< in place of the entries
  std::string (*markdown)() = nullptr;                                   ///< in place of `columns`
  /// A second list of the document, with its key.
  std::pair<std::string_view, Json (*)()> more = {};
};

const std::vector<Inventory>& inventories() {
  static const std::vector<Inventory> all{
      {"drafters", "what drafts tokens", drafters},
      {"rules", "verification rules", rules},
      {"policies", "draft-length policies", [] { return members(scenario::policies()); }},
      {.name = "methods",
       .summary = "methods of the field: how each is asked for, or why not",
       .entries = methods,
       .text = methods_text,
       .markdown = methods_markdown},
      {"processes", "acceptance processes", [] { return members(scenario::processes()); }},
      {"costs", "cost models", [] { return members(scenario::costs()); }},
      {.name = "models",
       .summary = "pairs of token models, and shapes of models for step times",
       .entries = models,
       .text = models_text,
       .markdown = [] { return to_markdown(inputs::model_table()) + "\n" + to_markdown(inputs::model_source_table()); },
       .more = {"pairs", model_pairs}},
      {.name = "devices",
       .summary = "data sheets, and step times of engines",
       .entries = devices,
       .text = devices_text,
       .markdown = inputs::devices_markdown,
       .more = {"profiles", profiles}},
      {.name = "engines",
       .summary = "serving engines, with what they add to forward passes",
       .entries = engines,
       .columns = {{"name", "engine"}, {"summary", "what it is"}, {"source", "source of its times"}},
       .text = engines_text},
      {"experiments", "tables and figures that reproduce computes",
       [] {
         return array_of(experiments::experiment_registry(),
                         [](const auto& entry) { return named(entry.id, entry.summary); });
       }},
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
       [] { return array_of(scenario::parameters(), parameter_entry); },
       {{"name", "parameter"}, {"legal_values", "legal values"}, {"default", "default"}, {"summary", "meaning"}}},
      {"metrics",
       "columns of points.csv",
       metrics,
       {{"name", "column"}, {"unit", "unit"}, {"summary", "meaning"}, {"estimated", "how it is estimated"}}},
  };
  return all;
}

std::vector<std::string> inventory_names() { return texts_of(inventories(), &Inventory::name); }

/// The entries of an inventory: all, or those that match a search.
struct Found {
  Json entries, more;
};

/// Whether every word is in its name, an alias, its summary or its source.
bool has_all(const Json& entry, const std::vector<std::string>& words) {
  std::vector<std::string> texts;
  for (const char* key : {"name", "summary", "source"}) {
    if (entry.contains(key)) texts.push_back(entry[key]);
  }
  if (entry.contains("aliases")) texts.insert(texts.end(), entry["aliases"].begin(), entry["aliases"].end());
  return std::ranges::all_of(words, [&](const std::string& word) {
    return std::ranges::any_of(texts, [&](const std::string& text) { return mentions(text, word); });
  });
}

Json with_all(const Json& entries, const std::vector<std::string>& words) {
  Json kept = Json::array();
  for (const Json& entry : entries) {
    if (has_all(entry, words)) kept.push_back(entry);
  }
  return kept;
}

std::string nothing_found(const Inventory& inventory, const Found& all, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const Json* entries : {&all.entries, &all.more}) {
    for (const Json& entry : *entries) {
      names.push_back(name_of_entry(entry));
      if (entry.contains("aliases")) names.insert(names.end(), entry["aliases"].begin(), entry["aliases"].end());
    }
  }
  const std::string_view near = closest_match(words, names);
  return wrapped(fmt::format("None of the {} has {} in its name, summary or source; {}.\n", inventory.name,
                             readable(fmt::format("\"{}\"", fmt::join(words, "\" and \""))),
                             near.empty() ? fmt::format("foredraft list {} shows all", inventory.name)
                                          : fmt::format("the nearest is {}", near)));
}

Json document(const Inventory& inventory, const Found& found) {
  Json json{{"schema", "foredraft.list/1"}, {inventory.name, found.entries}};
  if (inventory.more.second != nullptr) json[inventory.more.first] = found.more;
  return json;
}

std::string found_text(const Inventory& inventory, const Found& found) {
  return inventory.text != nullptr ? inventory.text(found.entries, found.more) : entries_text(found.entries);
}

/// Throws InputError for an unknown one.
const Inventory& inventory_named(const std::string& wanted) {
  const auto found = std::ranges::find(inventories(), wanted, &Inventory::name);
  if (found != inventories().end()) return *found;
  throw InputError(fmt::format("foredraft list: {}: unknown list - {}", readable(wanted),
                               suggestion_for(wanted, inventory_names())));
}

Found everything(const Inventory& inventory) {
  return {inventory.entries(), inventory.more.second != nullptr ? inventory.more.second() : Json::array()};
}

int run_list(CommandLine& line) {
  if (line.has("json"))
    line.reject_any({"markdown"}, "mutually exclusive with --json", "one form is printed", "remove one");
  const bool overview = line.positional().empty();
  std::vector<std::string> words = line.positional();
  if (!overview) words.erase(words.begin());
  if (!words.empty()) {
    line.reject_any({"markdown"}, "mutually exclusive with words to search", "it prints whole tables", "remove one");
  }
  if (overview)
    line.reject_any({"json", "markdown"}, "without a list", "one list is printed", "e.g. foredraft list rules");
  line.done();
  if (overview) {
    std::string text = "foredraft list NAME prints one of these, foredraft list NAME WORD searches it:\n\n";
    for (const Inventory& one : inventories()) text += fmt::format("  {:<12} {}\n", one.name, one.summary);
    print_result(text);
    return exit_done;
  }
  const Inventory& inventory = inventory_named(line.positional().front());
  const Found all = everything(inventory);
  const Found searched{with_all(all.entries, words), with_all(all.more, words)};
  if (line.has("json")) {
    print_result(experiments::document_text(document(inventory, searched)));
  } else if (line.has("markdown")) {
    print_result(inventory.markdown != nullptr ? inventory.markdown()
                                               : entries_markdown(all.entries, inventory.columns));
  } else if (searched.entries.empty() && searched.more.empty()) {
    print_result(nothing_found(inventory, all, words));
  } else {
    print_result(found_text(inventory, searched));
  }
  return exit_done;
}

}  // namespace

Json list_document(const std::string& name) {
  const Inventory& inventory = inventory_named(name);
  return document(inventory, everything(inventory));
}

Command list_command() {
  return {
      {.name = "list",
       .arguments = "[NAME [WORD ...]] [--json | --markdown]",
       .summary = "Prints what can be named in a configuration or on the command line, or searches it.",
       .options = {{"json", "", "one JSON document, schema foredraft.list/1"}, {"markdown", "", "the tables of docs/"}},
       .min_positional = 0,
       .max_positional = std::numeric_limits<std::size_t>::max(),
       .examples = {"foredraft list rules", "foredraft list models qwen 8b", "foredraft list devices --json"},
       .notes = "WORDs keep the entries that have all of them in name, alias, summary or source; case and separators\n"
                "do not matter.\n",
       .words = inventory_names},
      run_list};
}

}  // namespace foredraft::app
