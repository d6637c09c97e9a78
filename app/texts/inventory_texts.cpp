// SPDX-License-Identifier: Apache-2.0
#include "app/texts/inventory_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "core/readable.hpp"
#include "core/table.hpp"
#include "inputs/devices.hpp"
#include "inputs/read_model.hpp"
#include "scenario/methods.hpp"

namespace foredraft::app {
namespace {

using Json = nlohmann::ordered_json;

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

/// The rows of a table that begin with the name of an entry.
std::string rows_text(Table table, const Json& entries) {
  const std::vector<std::string> names =
      texts_of(entries, [](const Json& entry) { return entry["name"].get<std::string>(); });
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

/// "1.5 (0.5-4)" of {500, 1500, 4000} us in ms, with the factor 1e-3; empty: nothing.
std::string range_text(const Json& range_us, double factor) {
  const auto at = [&](const char* end) { return factor * range_us[end].get<double>(); };
  return at("high") == 0.0 ? "" : fmt::format("{:.3g} ({:.3g}-{:.3g})", at("value"), at("low"), at("high"));
}

}  // namespace

std::string entries_text(const Json& entries) {
  std::string text;
  for (const Json& entry : entries) text += entry_text(entry);
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

std::string entries_markdown(const Json& entries, const InventoryColumns& columns) {
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

}  // namespace foredraft::app
