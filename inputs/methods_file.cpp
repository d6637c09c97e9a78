// SPDX-License-Identifier: Apache-2.0
#include "inputs/methods_file.hpp"

#include <fmt/format.h>
#include <string>
#include <variant>
#include <vector>

#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "foredraft/scenario.hpp"
#include "inputs/table_reader.hpp"
#include "scenario/parameters.hpp"
#include "scenario/value.hpp"

namespace foredraft::inputs {
namespace {

using scenario::Node;

constexpr std::string_view methods_schema = "foredraft.methods/1";
constexpr std::int64_t most_pooled = 4'096;

class MethodsReader {
 public:
  MethodsReader(const scenario::Mapping& table, ProblemList& problems)
      : table_(table, "", problems), problems_(problems) {}

  [[nodiscard]] MethodsFile read() {
    MethodsFile file;
    MethodsQuestion& question = file.question;
    read_schema();
    if (const Node* node = table_.take("methods")) question.methods = texts("methods", *node);
    if (const Node* node = table_.take("temperature")) question.temperatures = temperatures(*node);
    question.gamma = count("gamma", 1, max_methods_gamma);
    if (const auto c = real("c")) question.price.c = *c;
    file.verify_growth = real("verify_growth");
    file.positions = count("positions", 2, most_pooled);
    set(question.width, count("width", 1, 1'024));
    set(question.servers, count("servers", 2, 1'000'000));
    set(question.iterations, count("iterations", 2, 1'000'000'000));
    set(question.seed, count("seed", 0, std::int64_t{1} << 62U));
    question.models = models(question.models);
    table_.reject_unread(known_);
    return file;
  }

 private:
  template <class Number>
  static void set(Number& value, const std::optional<std::int64_t>& given) {
    if (given) value = static_cast<Number>(*given);
  }

  void reject(const Node& node, std::string_view key, std::string text, std::string why) {
    problems_.add({.line = node.line, .key = std::string(key), .text = std::move(text), .why = std::move(why)});
  }

  void read_schema() {
    const Node* node = table_.require("schema", "which kind of file it is: \"foredraft.methods/1\"");
    if (node == nullptr) return;
    const auto* word = std::get_if<std::string>(&node->value);
    if (word != nullptr && *word == methods_schema) return;
    reject(*node, "schema", "another kind of file", fmt::format("must be \"{}\"", methods_schema));
  }

  std::vector<std::string> texts(std::string_view key, const Node& node) {
    std::vector<std::string> words;
    const auto* list = std::get_if<scenario::Array>(&node.value);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto* word = std::get_if<std::string>(&(*list)[i].value);
      if (word == nullptr) break;
      words.push_back(*word);
    }
    if (list == nullptr || list->empty() || words.size() != list->size()) {
      reject(node, key, "wrong type", "must be a list of names");
    }
    return words;
  }

  /// One number or a list of them.
  std::vector<double> temperatures(const Node& node) {
    const auto* list = std::get_if<scenario::Array>(&node.value);
    const scenario::Array entries = list != nullptr ? *list : scenario::Array{node};
    std::vector<double> numbers;
    for (const Node& entry : entries) {
      const scenario::Parameter& temperature = *scenario::find_parameter("temperature");
      const auto value = read_value(temperature, entry, "temperature", problems_);
      if (!value) return {};
      numbers.push_back(std::get<double>(*value));
    }
    if (numbers.empty()) reject(node, "temperature", "empty list", "must name at least one");
    return numbers;
  }

  std::optional<std::int64_t> count(std::string_view key, std::int64_t minimum, std::int64_t maximum) {
    known_.emplace_back(key);
    const Node* node = table_.take(key);
    if (node == nullptr) return std::nullopt;
    const auto number = scenario::whole_number(*node);
    if (number && *number >= minimum && *number <= maximum) return number;
    reject(*node, key, number ? fmt::format("invalid {}={}", key, *number) : "wrong type",
           fmt::format("must be a whole number in {} to {}", minimum, maximum));
    return std::nullopt;
  }

  /// A probability, or for the growth any number from 0 on.
  std::optional<double> real(std::string_view key) {
    known_.emplace_back(key);
    const Node* node = table_.take(key);
    if (node == nullptr) return std::nullopt;
    const auto* whole = std::get_if<std::int64_t>(&node->value);
    const auto* number = std::get_if<double>(&node->value);
    if (whole == nullptr && number == nullptr) {
      reject(*node, key, "wrong type", "must be a number");
      return std::nullopt;
    }
    const double value = whole != nullptr ? static_cast<double>(*whole) : *number;
    const double maximum = key == "c" ? 1.0 : 1e6;
    if (value >= 0.0 && value <= maximum) return value;
    reject(*node, key, fmt::format("invalid {}={}", key, number_text(value)),
           fmt::format("must lie in [0, {}]", number_text(maximum)));
    return std::nullopt;
  }

  /// Read by the parameters of a scenario in token fidelity.
  SyntheticModels models(const SyntheticModels& defaults) {
    Scenario scenario{.fidelity = TokenFidelity{.models = defaults}};
    for (const std::string_view key :
         {"models.target", "models.parameter", "models.vocabulary", "models.draft", "models.alpha", "models.pool"}) {
      known_.emplace_back(key);
      const Node* node = table_.take(key);
      if (node == nullptr) continue;
      const scenario::Parameter& parameter = *scenario::find_parameter(key);
      if (const auto value = read_value(parameter, *node, std::string(key), problems_)) {
        parameter.assign(scenario, *value);
      }
    }
    return std::get<SyntheticModels>(std::get<TokenFidelity>(scenario.fidelity).models);
  }

  TableReader table_;
  ProblemList& problems_;
  std::vector<std::string> known_ = {"schema", "methods", "temperature"};
};

}  // namespace

MethodsFile parse_methods_file(std::string_view text, const std::string& file) {
  ProblemList problems(file);
  const scenario::Mapping table = flatten(parse_toml(text, file));
  MethodsFile read = MethodsReader(table, problems).read();
  problems.raise();
  return read;
}

}  // namespace foredraft::inputs
