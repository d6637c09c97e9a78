// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "experiments/config/document.hpp"
#include "experiments/config/point_inputs.hpp"
#include "experiments/text/problems.hpp"

/// Every parameter that a sweep can hold fixed or vary. Parsing, checking, defaults, CSV columns, help texts and
/// documents all read this one table.
namespace foredraft::experiments {

enum class ValueType { real, integer, choice, text, reals, texts, schedule };

/// Rows [from, to, value]: value from batch `from` to batch `to`.
using Schedule = std::vector<std::array<std::int64_t, 3>>;

using Value = std::variant<double, std::int64_t, std::string, std::vector<double>, std::vector<std::string>, Schedule>;

[[nodiscard]] std::vector<sim::GammaRange> gamma_ranges(const Schedule& schedule);

/// The words that the choices (fidelity, process, rule, models.kind, ...) of a sweep take at some point of it, and
/// which other parameters it states. Decides which parameters a sweep uses.
struct Usage {
  std::map<std::string, std::vector<std::string>, std::less<>> words;
  /// Whether `name` takes `word` somewhere.
  [[nodiscard]] bool takes(std::string_view name, std::string_view word) const;
  [[nodiscard]] bool states(std::string_view name) const { return words.contains(name); }
};

struct Parameter {
  std::string name;
  ValueType type;
  double minimum;                    ///< smallest legal number, of each entry for lists
  double maximum;                    ///< largest
  bool minimum_excluded;             ///< must be above `minimum`
  std::vector<std::string> choices;  ///< legal words of a choice
  std::optional<Value> default_value;
  std::string summary;  ///< one line, with the unit
  std::function<bool(const Usage&)> used;
  std::function<bool(const Usage&)> required;
  std::function<void(PointInputs&, const Value&)> assign;
  /// Other words for choices, each with the choice that takes its place.
  std::map<std::string, std::string, std::less<>> aliases = {};
  /// A default that is not written among the resolved inputs: what was so before the parameter existed.
  bool implied = false;
};

/// Sorted by topic: what every point has, processes, sequences, rules, models, servers.
[[nodiscard]] const std::vector<Parameter>& parameters();

/// Null for an unknown name.
[[nodiscard]] const Parameter* find_parameter(std::string_view name);

[[nodiscard]] std::vector<std::string> parameter_names();

/// One value, checked; on a problem says so and returns nothing. `key` is the full key for messages.
[[nodiscard]] std::optional<Value> read_value(const Parameter& parameter, const Node& node, const std::string& key,
                                              Problems& problems);

/// The reason a number is refused, e.g. "must lie in [0, 1]"; empty for a legal one. NaN and infinities are never
/// legal.
[[nodiscard]] std::string refusal(const Parameter& parameter, double number);

/// As a CSV cell or a label: numbers in shortest round-trip form, lists separated by blanks.
[[nodiscard]] std::string to_text(const Value& value);

[[nodiscard]] nlohmann::ordered_json to_json(const Value& value);

/// The table as Markdown, for the documents.
[[nodiscard]] std::string parameters_markdown();

}  // namespace foredraft::experiments
