// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/problems.hpp"
#include "scenario/value.hpp"

namespace foredraft::inputs {

/// The problem of an unread key.
inline constexpr std::string_view unknown_key = "unknown key";

/// Reads a table key by key; unread keys become problems.
class TableReader {
 public:
  /// `path` precedes keys in messages ("axes"; empty at the top level).
  TableReader(const scenario::Mapping& table, std::string path, ProblemList& problems);

  /// The node of `key`, which is marked as read; null if absent.
  const scenario::Node* take(std::string_view key);
  /// The same, but adds a problem if absent. `what`: purpose of the key.
  const scenario::Node* require(std::string_view key, std::string_view what);

  /// Typed reads. A wrong type is a problem and reads as absent.
  const std::string* take_text(std::string_view key);
  std::optional<std::int64_t> take_integer(std::string_view key);

  /// Adds a problem for every unread key, with the nearest of `known`.
  void reject_unread(std::span<const std::string> known);

  [[nodiscard]] std::string full_key(std::string_view key) const;

 private:
  const scenario::Mapping* table_;
  std::string path_;
  ProblemList* problems_;
  std::vector<bool> read_;
};

/// Flattens nested tables to dotted keys. Ranges (with `from` or `to`) and empty tables are kept, so that no key is
/// lost unread.
[[nodiscard]] scenario::Mapping flatten(const scenario::Mapping& table);

/// Parses TOML, with keys in file order. `file`: name in messages. Throws InputError `file:line: ...` for invalid TOML
/// and text beyond the limits of core/documents.hpp.
[[nodiscard]] scenario::Mapping parse_toml(std::string_view text, const std::string& file);

/// The same for JSON, without lines; used for the resolved configuration in a manifest.
[[nodiscard]] scenario::Mapping parse_json_document(std::string_view text, const std::string& file);

}  // namespace foredraft::inputs
