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

/// Reads a table so that every key is read exactly once and every other one becomes a problem.
class TableReader {
 public:
  /// `path` is put in front of keys in messages ("axes", or empty at the top).
  TableReader(const scenario::Mapping& table, std::string path, ProblemList& problems);

  /// The node of `key`, marked as read; null where absent.
  const scenario::Node* take(std::string_view key);
  /// The same; absent is a problem that says what the key is for.
  const scenario::Node* require(std::string_view key, std::string_view what);

  /// Typed reads; a wrong type is a problem and reads as absent.
  const std::string* take_text(std::string_view key);
  std::optional<std::int64_t> take_integer(std::string_view key);

  /// Every unread key is a problem, with the nearest of `known`.
  void reject_unread(std::span<const std::string> known);

  [[nodiscard]] std::string full_key(std::string_view key) const;

 private:
  const scenario::Mapping* table_;
  std::string path_;
  ProblemList* problems_;
  std::vector<bool> read_;
};

/// A table with nested tables flattened to dotted keys. A range (with `from` or `to`) stays whole, and so does an empty
/// table: nothing that was written may vanish unread.
[[nodiscard]] scenario::Mapping flatten(const scenario::Mapping& table);

/// The tables of a TOML text, keys in the order of the file. `file` is for messages. Throws InputError `file:line: ...`
/// for a text that is not TOML or exceeds the limits of core/documents.hpp.
[[nodiscard]] scenario::Mapping parse_toml(std::string_view text, const std::string& file);

/// The same from JSON, for the resolved configuration inside a manifest, without lines.
[[nodiscard]] scenario::Mapping parse_json_document(std::string_view text, const std::string& file);

}  // namespace foredraft::inputs
