// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/inventories.hpp"
#include "app/texts/inventory_texts.hpp"
#include "core/names.hpp"
#include "core/progress.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "experiments/results/manifest.hpp"

namespace foredraft::app {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> inventory_names() { return texts_of(inventories(), &Inventory::name); }

/// The entries of an inventory: all, or those that match a search.
struct Found {
  Json entries, more;
};

/// Whether every word is in the name, an alias, the summary or the source of an entry.
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
      names.push_back(entry["name"]);
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

/// Throws InputError for an unknown name.
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
