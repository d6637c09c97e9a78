// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/problems.hpp"
#include "foredraft/scenario_fwd.hpp"
#include "scenario/metrics.hpp"
#include "scenario/value.hpp"

/// Every parameter that a scenario has. Parsing, checking, defaults, CSV columns, help texts and documents all read
/// this one table.
namespace foredraft::scenario {

/// The words that the choices (fidelity, process, rule, models.kind, ...) of a space take at any of its points, and
/// the parameters that it states. They decide which parameters a space uses.
struct Usage {
  std::map<std::string, std::vector<std::string>, std::less<>> words;
  std::set<std::string, std::less<>> stated;
  /// True if `name` takes `word` at some point.
  [[nodiscard]] bool takes(std::string_view name, std::string_view word) const;
  [[nodiscard]] bool states(std::string_view name) const { return stated.contains(name); }
};

/// The legal numbers where the choice `family` is `member`.
struct MemberRange {
  std::string_view family;
  std::string_view member;
  ValueRange range;
};

struct Parameter {
  std::string name;
  ValueType type;
  ValueRange range = {};                  ///< of all members that share the parameter
  std::vector<std::string> choices = {};  ///< legal words of a choice
  std::optional<Value> default_value;
  std::string summary;  ///< one line, with the unit
  std::function<bool(const Usage&)> used;
  /// Choices come first in the table: a word puts an alternative in place, the others store into it.
  std::function<void(Scenario&, const Value&)> assign;
  bool required = false;  ///< must be given wherever it is used
  /// Default omitted from the resolved inputs, for compatibility.
  bool implied = false;
  /// Other words for choices, each with the choice that takes its place.
  std::map<std::string, std::string, std::less<>> aliases = {};
  std::vector<MemberRange> members = {};  ///< those that have it; empty for parameters of no family
};

/// Sorted by topic: what every point has, processes, sequences, rules, models, servers.
[[nodiscard]] const std::vector<Parameter>& parameters();

/// Null for an unknown name.
[[nodiscard]] const Parameter* find_parameter(std::string_view name);

[[nodiscard]] std::vector<std::string> parameter_names();

/// The words of a parameter at an axis of a figure, with the unit.
[[nodiscard]] std::string axis_label(const Parameter& parameter);

/// The value of a document; nullopt, with a problem, if its type or a number is wrong. `key`: for messages.
[[nodiscard]] std::optional<Value> read_value(const Parameter& parameter, const Node& node, const std::string& key,
                                              ProblemList& problems);

/// Why a number is rejected, e.g. "must lie in [0, 1]"; empty for a legal one. NaN and infinities are never legal.
[[nodiscard]] std::string problem(const Parameter& parameter, double number);

/// The values that a parameter takes, in words: "[0, 1]", "from 1", "constant, plus2_minus1".
[[nodiscard]] std::string legal_values(const Parameter& parameter);

// ---- Scenarios that differ in the values of some parameters, as in a sweep. A space without axes is one scenario.

struct Axis {
  const Parameter* parameter;
  std::vector<Value> values;
  std::int64_t line;  ///< of its key in the source
};

struct FixedInput {
  const Parameter* parameter;
  Value value;
  std::int64_t line;  ///< 0: a default
};

/// What users call an input: a key of [axes] or [fixed], an option, or the bare name of a parameter.
enum class Wording { file, option, name };

struct Space {
  std::vector<Axis> axes = {};         ///< the last one varies fastest
  std::vector<FixedInput> fixed = {};  ///< used by some scenario, in the order of the parameter table
  Wording wording = Wording::file;
};

/// The option that states a parameter: "edit-rate" for drafter.edit_rate.
[[nodiscard]] std::string option_of(std::string_view parameter);

/// The parameter that states a value: process.marginal in place of process.conditional where it is the one given.
[[nodiscard]] std::string_view given_as(const Space& space, std::string_view parameter);
/// What users call an input: the parameter in a file, its option on the command line.
[[nodiscard]] std::string name_for_user(const Space& space, std::string_view parameter);
/// How users state a word: `drafter = "block"`, or --drafter block.
[[nodiscard]] std::string statement(const Space& space, std::string_view parameter, std::string_view word);

/// Adds a problem of a parameter, with the line and key where it was given.
void report_input(const Space& space, std::string_view name, Problem problem, ProblemList& problems);

/// True if a parameter is an axis or fixed.
[[nodiscard]] bool has_input(const Space& space, std::string_view name);
/// The fixed value or null.
[[nodiscard]] const Value* fixed_value(const Space& space, std::string_view name);
[[nodiscard]] const Axis* find_axis(const Space& space, std::string_view name);
/// Every value a parameter takes: those of its axis, its fixed one, or none.
[[nodiscard]] std::vector<Value> values_of(const Space& space, std::string_view name);

/// What the scenarios use, all taken together.
[[nodiscard]] Usage usage_of(const Space& space);

/// True if the fidelity is system.
[[nodiscard]] bool has_server(const Space& space);

/// True if the draft length varies from iteration to iteration in some scenario: under a policy other than constant, by
/// a schedule, or with copied drafts.
[[nodiscard]] bool gamma_varies(const Space& space);

/// The scenario of one combination of words (`usage`) and those of the inputs that it uses.
[[nodiscard]] Scenario build(const Usage& usage, const std::vector<FixedInput>& inputs);

/// True if the cost of decoding is known in some scenario, so that there is a speedup.
[[nodiscard]] bool has_cost(const Space& space);

/// True if a metric with these needs exists in some scenario.
[[nodiscard]] bool provides(const Space& space, Needs needs);
/// The metrics that exist in some scenario, in the order of their table.
[[nodiscard]] std::vector<Metric> metrics_of(const Space& space);

}  // namespace foredraft::scenario
