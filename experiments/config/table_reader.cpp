// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/table_reader.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace foredraft::experiments {
namespace {

bool is_range(const scenario::Mapping& table) {
  return std::any_of(table.begin(), table.end(),
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
  for (std::size_t i = 0; i < table_->size(); ++i) {
    if ((*table_)[i].key == key) {
      read_[i] = true;
      return &(*table_)[i].node;
    }
  }
  return nullptr;
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
    problems_->add({.line = node->line,
                    .key = full_key(key),
                    .text = "wrong type",
                    .why = fmt::format("must be a string, is {}", scenario::kind_of(*node))});
  }
  return text;
}

const std::int64_t* TableReader::take_integer(std::string_view key) {
  const scenario::Node* node = take(key);
  if (node == nullptr) return nullptr;
  const auto* integer = std::get_if<std::int64_t>(&node->value);
  if (integer == nullptr) {
    problems_->add({.line = node->line,
                    .key = full_key(key),
                    .text = "wrong type",
                    .why = fmt::format("must be a whole number, is {}", scenario::kind_of(*node))});
  }
  return integer;
}

void TableReader::refuse_unread(std::span<const std::string> known) {
  for (std::size_t i = 0; i < table_->size(); ++i) {
    if (read_[i]) continue;
    const scenario::Entry& entry = (*table_)[i];
    problems_->add({.line = entry.node.line,
                    .key = full_key(entry.key),
                    .text = "unknown key",
                    .suggestion = suggestion_for(entry.key, known)});
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

}  // namespace foredraft::experiments
