// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/toml_source.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>
#include <algorithm>
#include <sstream>

#include "core/documents.hpp"
#include "core/problems.hpp"

namespace foredraft::experiments {
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

/// toml++ sorts keys by name; the order of the file decides the order of the axes.
scenario::Mapping convert(const toml::table& table) {
  struct Placed {
    toml::source_position position;
    scenario::Entry entry;
  };
  std::vector<Placed> placed;
  for (const auto& [key, value] : table) {
    placed.push_back({key.source().begin, {std::string(key.str()), convert(value)}});
    // A key's own line, not that of its value: a list may begin further down.
    placed.back().entry.node.line = static_cast<std::int64_t>(key.source().begin.line);
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return a.position < b.position; });
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
    problems.add({.line = static_cast<std::int64_t>(error.source().begin.line),
                  .key = "syntax",
                  .text = std::string(error.description())});
    throw InputError(problems.text());
  }
}

}  // namespace foredraft::experiments
