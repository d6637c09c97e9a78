// SPDX-License-Identifier: Apache-2.0
#include "inputs/table_reader.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/documents.hpp"
#include "core/problems.hpp"

namespace foredraft::inputs {
namespace {

bool is_range(const scenario::Mapping& table) {
  return std::ranges::any_of(table,
                             [](const scenario::Entry& entry) { return entry.key == "from" || entry.key == "to"; });
}

void flatten_into(const scenario::Mapping& table, const std::string& prefix, scenario::Mapping& result) {
  for (const scenario::Entry& entry : table) {
    const std::string key = prefix + entry.key;
    const auto* nested = std::get_if<scenario::Mapping>(&entry.node.value);
    if (nested != nullptr && !nested->empty() && !is_range(*nested)) {
      flatten_into(*nested, key + ".", result);
    } else {
      result.push_back({key, entry.node});
    }
  }
}

}  // namespace

TableReader::TableReader(const scenario::Mapping& table, std::string path, ProblemList& problems)
    : table_(&table), path_(std::move(path)), problems_(&problems), read_(table.size(), false) {}

const scenario::Node* TableReader::take(std::string_view key) {
  const auto found = std::ranges::find(*table_, key, &scenario::Entry::key);
  if (found == table_->end()) return nullptr;
  read_[static_cast<std::size_t>(found - table_->begin())] = true;
  return &found->node;
}

const scenario::Node* TableReader::require(std::string_view key, std::string_view what) {
  const scenario::Node* node = take(key);
  if (node == nullptr) problems_->add({.key = full_key(key), .text = "missing", .why = std::string(what)});
  return node;
}

const std::string* TableReader::take_text(std::string_view key) {
  const scenario::Node* node = take(key);
  if (node == nullptr) return nullptr;
  const auto* text = std::get_if<std::string>(&node->value);
  if (text == nullptr) {
    problems_->add(
        {node->line, full_key(key), "wrong type", fmt::format("must be a string, is {}", scenario::kind_of(*node))});
  }
  return text;
}

std::optional<std::int64_t> TableReader::take_integer(std::string_view key) {
  const scenario::Node* node = take(key);
  if (node == nullptr) return std::nullopt;
  const auto integer = scenario::whole_number(*node);
  if (!integer) {
    problems_->add({node->line, full_key(key), "wrong type",
                    fmt::format("must be a whole number, is {}", scenario::kind_of(*node))});
  }
  return integer;
}

void TableReader::reject_unread(std::span<const std::string> known) {
  for (std::size_t i = 0; i < table_->size(); ++i) {
    if (read_[i]) continue;
    const scenario::Entry& entry = (*table_)[i];
    problems_->add(
        {entry.node.line, full_key(entry.key), std::string(unknown_key), "", suggestion_for(entry.key, known)});
  }
}

std::string TableReader::full_key(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

scenario::Mapping flatten(const scenario::Mapping& table) {
  scenario::Mapping result;
  flatten_into(table, "", result);
  return result;
}

namespace {

scenario::Mapping convert(const toml::table& table);

scenario::Node convert(const toml::node& node) {
  scenario::Node result{static_cast<std::int64_t>(node.source().begin.line), false};
  if (const auto* boolean = node.as_boolean()) {
    result.value = boolean->get();
  } else if (const auto* integer = node.as_integer()) {
    result.value = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    result.value = real->get();
  } else if (const auto* text = node.as_string()) {
    result.value = text->get();
  } else if (const auto* array = node.as_array()) {
    scenario::Array values;
    for (const toml::node& value : *array) values.push_back(convert(value));
    result.value = std::move(values);
  } else if (const auto* table = node.as_table()) {
    result.value = convert(*table);
  } else {
    std::ostringstream kind;
    kind << "a " << node.type();
    result.value = scenario::Unsupported{kind.str()};
  }
  return result;
}

/// Restores file order, because toml++ sorts keys by name and file order determines the order of axes.
scenario::Mapping convert(const toml::table& table) {
  struct Placed {
    toml::source_position position;
    scenario::Entry entry;
  };
  std::vector<Placed> placed;
  for (const auto& [key, value] : table) {
    placed.push_back({key.source().begin, {std::string(key.str()), convert(value)}});
    // The line of the key, not of its value: a list may begin further down.
    placed.back().entry.node.line = static_cast<std::int64_t>(key.source().begin.line);
  }
  std::ranges::stable_sort(placed, [](const Placed& a, const Placed& b) { return a.position < b.position; });
  scenario::Mapping result;
  for (Placed& item : placed) result.push_back(std::move(item.entry));
  return result;
}

}  // namespace

scenario::Mapping parse_toml(std::string_view text, const std::string& file) {
  ProblemList problems(file);
  if (!check_toml_limits(text, problems)) problems.raise();
  try {
    return convert(toml::parse(text, file));
  } catch (const toml::parse_error& error) {
    problems.add({static_cast<std::int64_t>(error.source().begin.line), "syntax", std::string(error.description())});
    throw InputError(problems.text());
  }
}

namespace {

using Json = nlohmann::ordered_json;

scenario::Node convert(const Json& json) {
  scenario::Node node{0, false};
  if (json.is_boolean()) {
    node.value = json.get<bool>();
  } else if (const auto whole = whole_number<std::int64_t>(json)) {
    node.value = *whole;
  } else if (json.is_number()) {
    node.value = json.get<double>();
  } else if (json.is_string()) {
    node.value = json.get<std::string>();
  } else if (json.is_array()) {
    scenario::Array values;
    for (const Json& value : json) values.push_back(convert(value));
    node.value = std::move(values);
  } else if (json.is_object()) {
    scenario::Mapping table;
    for (const auto& [key, value] : json.items()) table.push_back({key, convert(value)});
    node.value = std::move(table);
  } else {
    node.value = scenario::Unsupported{"null"};
  }
  return node;
}

}  // namespace

scenario::Mapping parse_json_document(std::string_view text, const std::string& file) {
  ProblemList problems(file);
  const Json json = parse_json(text, problems);
  problems.raise();
  if (!json.is_object()) throw InputError(fmt::format("{}: syntax: not a JSON object", file));
  return std::get<scenario::Mapping>(convert(json).value);
}

}  // namespace foredraft::inputs
