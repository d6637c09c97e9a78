// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/documents.hpp"
#include "core/problems.hpp"
#include "core/type_kinds.hpp"
#include "foredraft/errors.hpp"
#include "latency/words.hpp"

/// TOML files with one table per item.
namespace foredraft::latency {

inline std::int64_t line_of(const toml::source_region& region) { return static_cast<std::int64_t>(region.begin.line); }

/// Also converts integers that a double cannot represent exactly, for which value<double>() is empty.
inline std::optional<double> number_of(const toml::node& node) {
  if (const auto* whole = node.as_integer()) return static_cast<double>(whole->get());
  if (const auto* real = node.as_floating_point()) return real->get();
  return std::nullopt;
}

/// The minimum and maximum valid number.
struct NumberLimits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

enum class Presence { required, optional };

/// A key of a table and the member that it sets.
template <typename Owner, typename Value>
struct Key {
  std::string_view key;
  Value Owner::*member;
  Presence presence = Presence::optional;
  NumberLimits limits = {};
  std::string_view why = {};  ///< not empty: required
};
template <typename Owner, typename Value>
Key(std::string_view, Value Owner::*, Presence = Presence::optional, NumberLimits = {}, std::string_view = {})
    -> Key<Owner, Value>;

/// Reads a table key by key and records the known keys. Adds problems to a list.
class TomlTable {
 public:
  TomlTable(const toml::table& table, std::string name, std::int64_t line, ProblemList& problems)
      : table_(&table), name_(std::move(name)), line_(line), problems_(&problems) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  /// True if there was no problem so far.
  [[nodiscard]] bool sound() const { return sound_; }

  [[nodiscard]] bool has(std::string_view key) const { return table_->get(key) != nullptr; }
  /// Null if the key is missing.
  const toml::node* take(std::string_view key) {
    known_.emplace_back(key);
    return table_->get(key);
  }

  /// The value of a key. Adds a problem and returns nullopt for another type.
  template <typename Value>
  std::optional<Value> value_at(std::string_view key, const toml::node& node, const NumberLimits& limits = {}) {
    std::string_view kind = "a whole number";
    if constexpr (Worded<Value>) {
      kind = "a string";
      if (const auto text = node.value_exact<std::string_view>()) {
        const auto member = value_of<Value>(*text);
        const std::vector<std::string> known(WordsOf<Value>::list.begin(), WordsOf<Value>::list.end());
        if (!member) {
          reject(line_of(node.source()), key, fmt::format("unknown {} \"{}\"", key, *text), "",
                 suggestion_for(*text, known));
        }
        return member;
      }
    } else if constexpr (std::same_as<Value, std::vector<std::string>>) {
      kind = "a list of strings";
      Value texts;
      const toml::array* array = node.as_array();
      if (array != nullptr) {
        for (const toml::node& entry : *array) {
          if (auto text = entry.value_exact<std::string>()) texts.push_back(*std::move(text));
        }
        if (texts.size() == array->size()) return texts;
      }
    } else if constexpr (std::same_as<Value, std::string>) {
      kind = "a nonempty string";
      if (auto text = node.value_exact<std::string>(); text && !text->empty()) return text;
    } else if constexpr (std::same_as<Value, bool>) {
      kind = "true or false";
      if (const auto flag = node.value_exact<bool>()) return flag;
    } else if constexpr (std::same_as<Value, double>) {
      kind = "a number";  // a count may be written 1.3e9
      if (const auto number = number_of(node)) return within(key, node, *number, limits);
    } else {
      if (const auto whole = node.value_exact<Value>()) return within(key, node, *whole, limits);
    }
    reject_type(key, node, kind);
    return std::nullopt;
  }
  /// The same; also nullopt if the key is missing.
  template <typename Value>
  std::optional<Value> value(std::string_view key) {
    const toml::node* node = take(key);
    return node == nullptr ? std::nullopt : value_at<Value>(key, *node);
  }

  /// The number. Adds a problem and returns nullopt beyond its limits.
  template <typename Number>
  std::optional<Number> within(std::string_view key, const toml::node& node, Number number,
                               const NumberLimits& limits) {
    const auto value = static_cast<double>(number);
    if (value >= limits.low && value <= limits.high) return number;
    reject(line_of(node.source()), key, fmt::format("{} is out of range", number),
           fmt::format("must be {} to {}", limits.low, limits.high));
    return std::nullopt;
  }

  /// Sets members of `owner` from a tuple of keys, in order, with `reader`.value_at(), which is like this class's.
  template <typename Owner, typename Reader>
  void read_keys(Owner& owner, const auto& keys, Reader& reader) {
    const auto read = [&]<typename Value>(const Key<Owner, Value>& key) {
      const toml::node* node = take(key.key);
      if (node == nullptr) {
        if (key.presence == Presence::required) reject_missing(key.key, std::string(key.why));
      } else if (auto value = reader.template value_at<without_optional<Value>>(key.key, *node, key.limits)) {
        owner.*key.member = *std::move(value);
      }
    };
    std::apply([&read](const auto&... key) { (read(key), ...); }, keys);
  }

  /// The line of a key or of a key of a nested table ("experts.count"); the line of the table if it is missing.
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

  void reject_unknown_keys() {
    reject_unknown_keys([](std::string_view /*key*/, std::int64_t /*line*/) { return false; });
  }
  /// `elsewhere(key, line)` returns true if it has rejected the key.
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

/// Parses a file by calling `read(table, problems)` for each table. `name`: file in messages; `kind`: what a table
/// describes; `hint`: how to write one, with {} for the key. Throws DomainError, which lists all problems.
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
