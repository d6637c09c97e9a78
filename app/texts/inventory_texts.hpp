// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The lists of `foredraft list` for a terminal, and as the Markdown of docs/.
namespace foredraft::app {

/// The keys of entries that are columns, each with its title.
using InventoryColumns = std::vector<std::pair<std::string_view, std::string_view>>;

/// A paragraph for each entry, with the fields of its family and its parameters.
[[nodiscard]] std::string entries_text(const nlohmann::ordered_json& entries);
/// The names are code.
[[nodiscard]] std::string entries_markdown(const nlohmann::ordered_json& entries, const InventoryColumns& columns);

[[nodiscard]] std::string devices_text(const nlohmann::ordered_json& sheets, const nlohmann::ordered_json& profiles);
[[nodiscard]] std::string methods_text(const nlohmann::ordered_json& methods, const nlohmann::ordered_json& more);
[[nodiscard]] std::string engines_text(const nlohmann::ordered_json& engines, const nlohmann::ordered_json& more);
[[nodiscard]] std::string models_text(const nlohmann::ordered_json& shapes, const nlohmann::ordered_json& pairs);

/// A table of the methods that are modeled, and one of the others.
[[nodiscard]] std::string methods_markdown();

}  // namespace foredraft::app
