// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>
#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/documents.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"

/// Files of TOML that hold a table for each of their things.
namespace foredraft::latency {

inline std::int64_t line_of(const toml::source_region& region) { return static_cast<std::int64_t>(region.begin.line); }

/// A table that is read key by key, which records the keys that are known. Problems go to a list.
class TomlTable {
 public:
  TomlTable(const toml::table& table, std::string name, std::int64_t line, ProblemList& problems)
      : table_(&table), name_(std::move(name)), line_(line), problems_(&problems) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Whether there was no problem so far.
  [[nodiscard]] bool sound() const { return sound_; }

  [[nodiscard]] bool has(std::string_view key) const { return table_->get(key) != nullptr; }
  /// Null if the key is missing.
  const toml::node* take(std::string_view key) {
    known_.emplace_back(key);
    return table_->get(key);
  }

  /// The line of a key, or of a key of a nested table, "experts.count"; that of the table if it is missing.
  [[nodiscard]] std::int64_t line_at(std::string_view key) const {
    const std::size_t dot = key.find('.');
    const toml::node* node = table_->get(key.substr(0, dot));
    if (node == nullptr) return line_;
    const toml::node* inner =
        dot != std::string_view::npos && node->is_table() ? node->as_table()->get(key.substr(dot + 1)) : nullptr;
    return line_of((inner == nullptr ? node : inner)->source());
  }

  void reject(std::int64_t line, std::string_view key, std::string text, std::string why = "",
              std::string suggestion = "") {
    problems_->add({line, fmt::format("{}.{}", name_, key), std::move(text), std::move(why), std::move(suggestion)});
    sound_ = false;
  }

  void reject_type(std::string_view key, const toml::node& node, std::string_view kind) {
    std::ostringstream is;
    is << node.type();
    reject(line_of(node.source()), key, "wrong type", fmt::format("must be {}, is {}", kind, is.str()));
  }

  void reject_missing(std::string_view key, std::string why = "", std::string suggestion = "") {
    reject(line_, key, "missing", std::move(why), std::move(suggestion));
  }

  /// `elsewhere(key, line)` says whether it has rejected a key itself.
  void reject_unknown_keys(const auto& elsewhere) {
    for (const auto& [key, node] : *table_) {
      const std::int64_t line = line_of(key.source());
      if (std::ranges::find(known_, key.str()) != known_.end() || elsewhere(key.str(), line)) continue;
      reject(line, key.str(), "unknown key", "", suggestion_for(key.str(), known_));
    }
  }

 private:
  const toml::table* table_;
  std::string name_;
  std::int64_t line_;
  ProblemList* problems_;
  bool sound_ = true;
  std::vector<std::string> known_;
};

/// What `read(table, problems)` makes of each table of a file, called `name` in messages; `kind` is what a table stands
/// for, and `hint`, with {} for the key, how to write one. Throws DomainError with every problem.
template <class Thing>
std::vector<Thing> parse_tables(std::string_view text, const std::string& name, std::string_view kind,
                                std::string_view hint, const auto& read) {
  ProblemList problems(name);
  std::vector<Thing> things;
  if (!check_toml_limits(text, problems)) throw DomainError(problems.text());
  try {
    for (const auto& [key, node] : toml::parse(text, name)) {
      const std::int64_t line = line_of(key.source());
      const std::string thing(key.str());
      if (const toml::table* table = node.as_table()) {
        things.push_back(read(TomlTable(*table, thing, line, problems), problems));
      } else {
        problems.add({line, thing, "unknown key", fmt::format("each {} is a table", kind),
                      fmt::format(fmt::runtime(hint), thing)});
      }
    }
    if (things.empty() && problems.empty()) {
      problems.add({.text = fmt::format("no {}s", kind), .why = fmt::format("each {} is a table", kind)});
    }
  } catch (const toml::parse_error& error) {
    problems.add({line_of(error.source()), "syntax", std::string(error.description())});
  }
  if (!problems.empty()) throw DomainError(problems.text());
  return things;
}

}  // namespace foredraft::latency
