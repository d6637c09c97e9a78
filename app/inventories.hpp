// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/texts/inventory_texts.hpp"

/// The lists of `foredraft list`: what can be named in a configuration or on the command line.
namespace foredraft::app {

struct Inventory {
  std::string_view name;
  std::string_view summary;
  nlohmann::ordered_json (*entries)();  ///< an array of objects, each with a name and a summary
  InventoryColumns columns = {{"name", "name"}, {"summary", "what it is"}};
  /// The text of entries and of the second list, instead of that of entries_text().
  std::string (*text)(const nlohmann::ordered_json& entries, const nlohmann::ordered_json& more) = nullptr;
  std::string (*markdown)() = nullptr;  ///< instead of a table of `columns`
  /// A second list of the document, with its key.
  std::pair<std::string_view, nlohmann::ordered_json (*)()> more = {};
};

[[nodiscard]] const std::vector<Inventory>& inventories();

}  // namespace foredraft::app
