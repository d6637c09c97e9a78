// SPDX-License-Identifier: Apache-2.0
#include "inputs/methods_file.hpp"

#include <fmt/format.h>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "foredraft/scenario.hpp"
#include "inputs/inputs.hpp"
#include "inputs/table_reader.hpp"
#include "scenario/methods.hpp"
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

  /// `tables`: pairs and parameters, as written.
  [[nodiscard]] MethodsFile read(const scenario::Mapping& tables) {
    MethodsFile file = read_values();
    MethodsQuestion& question = file.question;
    for (const scenario::Entry& table : tables) {
      for (const scenario::Entry& entry : entries_of(table.key, table.node)) {
        const std::string key = fmt::format("{}.{}", table.key, entry.key);
        const scenario::Mapping values = flatten(entries_of(key, entry.node));
        if (table.key == "pairs") {
          question.pairs.push_back(pair(entry.key, key, values, question.models));
        } else {
          add_parameters(entry, key, values, question.parameters);
        }
      }
    }
    return file;
  }

 private:
  static constexpr std::array<std::string_view, 6> synthetic_keys{"target", "parameter", "vocabulary",
                                                                  "draft",  "alpha",     "pool"};
  static constexpr std::array<std::string_view, 4> text_keys{"corpus", "vocabulary", "target_order", "draft_order"};

  [[nodiscard]] MethodsFile read_values() {
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
    question.models = std::get<SyntheticModels>(models(table_, "models.", synthetic_keys, question.models, known_));
    table_.reject_unread(known_);
    return file;
  }

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
    return count(table_, key, minimum, maximum, known_);
  }

  std::optional<std::int64_t> count(TableReader& table, std::string_view key, std::int64_t minimum,
                                    std::int64_t maximum, std::vector<std::string>& known) {
    known.emplace_back(key);
    const Node* node = table.take(key);
    if (node == nullptr) return std::nullopt;
    const auto number = scenario::whole_number(*node);
    if (number && *number >= minimum && *number <= maximum) return number;
    reject(*node, table.full_key(key), number ? fmt::format("invalid {}={}", key, *number) : "wrong type",
           fmt::format("must be a whole number in {} to {}", minimum, maximum));
    return std::nullopt;
  }

  /// c in [0, 1], or the growth in [0, 1e6].
  std::optional<double> real(std::string_view key) {
    known_.emplace_back(key);
    const Node* node = table_.take(key);
    if (node == nullptr) return std::nullopt;
    const auto number = scenario::number_of(*node);
    const double maximum = key == "c" ? 1.0 : 1e6;
    if (number && *number >= 0.0 && *number <= maximum) return number;
    if (number) {
      reject(*node, key, fmt::format("invalid {}={}", key, number_text(*number)),
             fmt::format("must lie in [0, {}]", number_text(maximum)));
    } else {
      reject(*node, key, "wrong type", "must be a number");
    }
    return std::nullopt;
  }

  /// `keys` of `table`, each after `prefix`, read by the parameters of a scenario in token fidelity.
  Models models(TableReader& table, std::string_view prefix, std::span<const std::string_view> keys,
                const Models& defaults, std::vector<std::string>& known) {
    Scenario scenario{.fidelity = TokenFidelity{.models = defaults}};
    for (const std::string_view name : keys) {
      const std::string key = fmt::format("{}{}", prefix, name);
      known.push_back(key);
      const Node* node = table.take(key);
      if (node == nullptr) continue;
      const scenario::Parameter& parameter = *scenario::find_parameter(fmt::format("models.{}", name));
      if (const auto value = read_value(parameter, *node, table.full_key(key), problems_)) {
        parameter.assign(scenario, *value);
      }
    }
    return std::get<TokenFidelity>(scenario.fidelity).models;
  }

  /// The entries of a table; a problem and none for anything else.
  scenario::Mapping entries_of(std::string_view key, const Node& node) {
    if (const auto* table = std::get_if<scenario::Mapping>(&node.value)) return *table;
    reject(node, key, "wrong type", fmt::format("must be a table, is {}", scenario::kind_of(node)));
    return {};
  }

  MethodsPair pair(const std::string& name, const std::string& key, const scenario::Mapping& values,
                   const SyntheticModels& defaults) {
    TableReader table(values, key, problems_);
    std::vector<std::string> known{"kind"};
    MethodsPair pair{.name = name, .models = defaults};
    const scenario::Parameter& kinds = *scenario::find_parameter("models.kind");
    const Node* kind = table.take("kind");
    const auto word = kind == nullptr ? std::nullopt : read_value(kinds, *kind, table.full_key("kind"), problems_);
    if (word && std::get<std::string>(*word) == "ngram") {
      pair.models = std::get<NgramModels>(models(table, "", text_keys, NgramModels{}, known));
      set(pair.pool, count(table, "pool", 2, most_pooled, known));
    } else {
      pair.models = std::get<SyntheticModels>(models(table, "", synthetic_keys, defaults, known));
    }
    table.reject_unread(known);
    return pair;
  }

  void add_parameters(const scenario::Entry& entry, const std::string& key, const scenario::Mapping& values,
                      std::vector<MethodParameter>& parameters) {
    const scenario::Method* method = scenario::find_method(entry.key);
    if (method == nullptr) return reject(entry.node, key, "unknown method", "foredraft list methods shows all");
    const std::string_view family = std::holds_alternative<Policy>(method->compared)    ? "policy"
                                    : std::holds_alternative<Drafter>(method->compared) ? "drafter"
                                                                                        : "rule";
    for (const scenario::Entry& value : values) {
      const std::vector<double> numbers = this->numbers(value.node);
      if (numbers.empty()) {
        reject(value.node, fmt::format("{}.{}", key, value.key), "wrong type", "must be a number or a list of numbers");
      }
      parameters.push_back({entry.key, fmt::format("{}.{}", family, value.key), numbers});
    }
  }

  /// A number or a list of them, with true as 1 and false as 0; empty for anything else.
  static std::vector<double> numbers(const Node& node) {
    const auto* list = std::get_if<scenario::Array>(&node.value);
    std::vector<double> all;
    for (const Node& entry : list != nullptr ? *list : scenario::Array{node}) {
      if (const auto number = scenario::number_of(entry)) {
        all.push_back(*number);
      } else if (const auto* flag = std::get_if<bool>(&entry.value)) {
        all.push_back(*flag ? 1.0 : 0.0);
      } else {
        return {};
      }
    }
    return all;
  }

  TableReader table_;
  ProblemList& problems_;
  std::vector<std::string> known_ = {"schema", "methods", "temperature", "pairs", "parameters"};
};

MethodsFile methods_of(scenario::Mapping document, const std::string& name) {
  ProblemList problems(name);
  scenario::Mapping values;
  scenario::Mapping tables;
  for (scenario::Entry& entry : document) {
    const bool is_table = entry.key == "pairs" || entry.key == "parameters";
    (is_table ? tables : values).push_back(std::move(entry));
  }
  const scenario::Mapping table = flatten(values);
  MethodsFile read = MethodsReader(table, problems).read(tables);
  problems.raise();
  return read;
}

}  // namespace

MethodsFile parse_methods_file(std::string_view text, const std::string& file) {
  return methods_of(parse_toml(text, file), file);
}

MethodsFile parse_methods_document(std::string_view json, const std::string& name) {
  return methods_of(parse_json_document(json, name), name);
}

void train_pairs(MethodsQuestion& question, const std::string& folder, std::vector<FileDigest>& files) {
  Inputs inputs(folder);
  for (MethodsPair& pair : question.pairs) {
    auto* text = std::get_if<NgramModels>(&pair.models);
    if (text == nullptr) continue;
    Scenario scenario{.fidelity = TokenFidelity{.models = *text}, .gamma = 1};
    inputs.attach(scenario);
    *text = std::get<NgramModels>(std::get<TokenFidelity>(scenario.fidelity).models);
  }
  const std::vector<FileDigest> read = inputs.files();
  files.insert(files.end(), read.begin(), read.end());
}

}  // namespace foredraft::inputs
