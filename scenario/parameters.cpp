// SPDX-License-Identifier: Apache-2.0
#include "scenario/parameters.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numbers.hpp"

namespace foredraft::scenario {
namespace {

std::string_view wanted(ValueType type) {
  switch (type) {
    case ValueType::real:
      return "a number";
    case ValueType::integer:
      return "a whole number";
    case ValueType::choice:
    case ValueType::text:
      return "a string";
    case ValueType::reals:
      return "a list of numbers";
    case ValueType::texts:
      return "a string or a list of strings";
    case ValueType::schedule:
      return "rows [first batch, last batch, gamma]";
  }
  throw std::logic_error("unknown value type");
}

/// Reads one value of a parameter and reports what is wrong with it.
class ValueReader {
 public:
  ValueReader(const Parameter& parameter, const std::string& key, ProblemList& problems)
      : parameter_(parameter), key_(key), problems_(problems) {}

  std::optional<Value> read(const Node& node) {
    switch (parameter_.type) {
      case ValueType::real:
        if (const auto number = real(node, parameter_.name)) return *number;
        return std::nullopt;
      case ValueType::integer:
        return integer(node);
      case ValueType::choice:
        return choice(node);
      case ValueType::text:
        if (const auto* text = std::get_if<std::string>(&node.value)) return *text;
        return wrong_type(node);
      case ValueType::reals:
        return reals(node);
      case ValueType::texts:
        return texts(node);
      case ValueType::schedule:
        return schedule(node);
    }
    throw std::logic_error("unknown value type");
  }

 private:
  std::nullopt_t wrong_type(const Node& node) {
    problems_.add({.line = node.line,
                   .key = key_,
                   .text = "wrong type",
                   .why = fmt::format("must be {}, is {}", wanted(parameter_.type), kind_of(node))});
    return std::nullopt;
  }

  bool legal(const Node& node, std::string name, double number) {
    const std::string why = refusal(parameter_, number);
    if (why.empty()) return true;
    if (key_.starts_with("--")) name = key_.substr(2) + name.substr(parameter_.name.size());  // an option
    problems_.add(
        {.line = node.line, .key = key_, .text = fmt::format("invalid {}={}", name, number_text(number)), .why = why});
    return false;
  }

  std::optional<double> real(const Node& node, const std::string& name) {
    double number = 0.0;
    if (const auto* as_real = std::get_if<double>(&node.value)) {
      number = *as_real;
    } else if (const auto* as_integer = std::get_if<std::int64_t>(&node.value)) {
      number = static_cast<double>(*as_integer);
    } else {
      return wrong_type(node);
    }
    if (!legal(node, name, number)) return std::nullopt;
    return number == 0.0 ? 0.0 : number;  // -0.0 is 0
  }

  std::optional<Value> integer(const Node& node) {
    const auto* number = std::get_if<std::int64_t>(&node.value);
    if (number == nullptr) return wrong_type(node);
    if (!legal(node, parameter_.name, static_cast<double>(*number))) return std::nullopt;
    return *number;
  }

  std::optional<Value> choice(const Node& node) {
    const auto* word = std::get_if<std::string>(&node.value);
    if (word == nullptr) return wrong_type(node);
    if (const auto alias = parameter_.aliases.find(*word); alias != parameter_.aliases.end()) return alias->second;
    if (std::find(parameter_.choices.begin(), parameter_.choices.end(), *word) != parameter_.choices.end()) {
      return *word;
    }
    problems_.add({.line = node.line,
                   .key = key_,
                   .text = fmt::format("unknown {} \"{}\"", parameter_.name, *word),
                   .suggestion = suggestion_for(*word, parameter_.choices)});
    return std::nullopt;
  }

  std::optional<Value> reals(const Node& node) {
    const auto* list = std::get_if<Array>(&node.value);
    if (list == nullptr) return wrong_type(node);
    if (list->empty()) {
      problems_.add({.line = node.line, .key = key_, .text = "empty list", .why = "must have at least one entry"});
      return std::nullopt;
    }
    std::vector<double> values;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const auto number = real((*list)[i], fmt::format("{}[{}]", parameter_.name, i));
      if (!number) return std::nullopt;
      values.push_back(*number);
    }
    return values;
  }

  std::optional<Value> texts(const Node& node) {
    if (const auto* single = std::get_if<std::string>(&node.value)) return std::vector<std::string>{*single};
    const auto* list = std::get_if<Array>(&node.value);
    if (list == nullptr) return wrong_type(node);
    std::vector<std::string> values;
    for (const Node& entry : *list) {
      const auto* text = std::get_if<std::string>(&entry.value);
      if (text == nullptr) return wrong_type(entry);
      values.push_back(*text);
    }
    if (!values.empty()) return values;
    problems_.add({.line = node.line, .key = key_, .text = "empty list", .why = "must name at least one"});
    return std::nullopt;
  }

  /// Rows of three whole numbers; whether they fit together is for the simulation to say.
  std::optional<Value> schedule(const Node& node) {
    const auto* list = std::get_if<Array>(&node.value);
    if (list == nullptr) return wrong_type(node);
    Schedule rows;
    for (const Node& entry : *list) {
      const auto* row = std::get_if<Array>(&entry.value);
      if (row == nullptr || row->size() != 3) return wrong_type(entry);
      auto& numbers = rows.emplace_back();
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto* number = std::get_if<std::int64_t>(&(*row)[i].value);
        if (number == nullptr) return wrong_type(entry);
        numbers[i] = *number;
      }
    }
    return rows;
  }

  const Parameter& parameter_;
  const std::string& key_;
  ProblemList& problems_;
};

std::string range_text(const Parameter& parameter) {
  switch (parameter.type) {
    case ValueType::choice:
      return fmt::format("{}", fmt::join(parameter.choices, ", "));
    case ValueType::text:
    case ValueType::texts:
    case ValueType::schedule:
      return std::string(wanted(parameter.type));
    default:
      return parameter.range.maximum >= std::numeric_limits<double>::max()
                 ? fmt::format("from {}", number_text(parameter.range.minimum))
                 : fmt::format("{}{}, {}]", parameter.range.excludes_minimum ? "(" : "[",
                               number_text(parameter.range.minimum), number_text(parameter.range.maximum));
  }
}

}  // namespace

bool Usage::takes(std::string_view name, std::string_view word) const {
  const auto found = words.find(name);
  return found != words.end() && std::find(found->second.begin(), found->second.end(), word) != found->second.end();
}

const Parameter* find_parameter(std::string_view name) {
  const auto& table = parameters();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Parameter& parameter) { return parameter.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::vector<std::string> parameter_names() {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters()) names.push_back(parameter.name);
  return names;
}

std::optional<Value> read_value(const Parameter& parameter, const Node& node, const std::string& key,
                                ProblemList& problems) {
  return ValueReader(parameter, key, problems).read(node);
}

std::string refusal(const Parameter& parameter, double number) {
  const bool above =
      parameter.range.excludes_minimum ? number > parameter.range.minimum : number >= parameter.range.minimum;
  if (above && number <= parameter.range.maximum) return {};
  if (parameter.range.maximum >= std::numeric_limits<double>::max()) {
    return fmt::format("must be finite and {} {}", parameter.range.excludes_minimum ? "above" : "at least",
                       number_text(parameter.range.minimum));
  }
  return fmt::format("must lie in {}{}, {}]", parameter.range.excludes_minimum ? "(" : "[",
                     number_text(parameter.range.minimum), number_text(parameter.range.maximum));
}

std::string parameters_markdown() {
  // P(accept | ...) would end the cell.
  const auto cell = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
    return text;
  };
  std::string text = "| parameter | legal values | default | meaning |\n|---|---|---|---|\n";
  for (const Parameter& parameter : parameters()) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", parameter.name, range_text(parameter),
                        parameter.default_value ? to_text(*parameter.default_value) : "", cell(parameter.summary));
  }
  return text;
}

}  // namespace foredraft::scenario
