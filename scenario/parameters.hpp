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

/// The table of all parameters of a scenario: the only source for parsing, checks, defaults, CSV columns, help and
/// documents.
namespace foredraft::scenario {

/// The choices (fidelity, process, rule, models.kind, ...) that occur in a space, and the parameters that it gives.
/// They decide which parameters the space uses.
struct Usage {
  std::map<std::string, std::vector<std::string>, std::less<>> words;
  std::set<std::string, std::less<>> stated;
  /// True if `name` has the value `word` at some point.
  [[nodiscard]] bool takes(std::string_view name, std::string_view word) const;
  [[nodiscard]] bool states(std::string_view name) const { return stated.contains(name); }
};

/// The valid numbers if the choice `family` is `member`.
struct MemberRange {
  std::string_view family;
  std::string_view member;
  ValueRange range;
};

struct Parameter {
  std::string name;
  ValueType type;
  ValueRange range = {};                  ///< covers all members that share the parameter
  std::vector<std::string> choices = {};  ///< valid words of a choice
  std::optional<Value> default_value;
  std::string summary;  ///< one line, with the unit
  std::function<bool(const Usage&)> used;
  /// Assigning a choice creates the alternative; other parameters are stored into it. Choices come first in the table.
  std::function<void(Scenario&, const Value&)> assign;
  bool required = false;  ///< must be given if used
  /// Default omitted from the resolved inputs, for compatibility.
  bool implied = false;
  /// Aliases of choices, each with the choice that it stands for.
  std::map<std::string, std::string, std::less<>> aliases = {};
  std::vector<MemberRange> members = {};  ///< members that have this parameter; empty if it belongs to no family
};

/// Sorted by topic: fidelity and draft length, drafter, costs, processes, sequences, parameters of drafters, policies,
/// rules, models, servers.
[[nodiscard]] const std::vector<Parameter>& parameters();

/// Null for an unknown name.
[[nodiscard]] const Parameter* find_parameter(std::string_view name);

[[nodiscard]] std::vector<std::string> parameter_names();

/// Label of a figure's axis, with the unit.
[[nodiscard]] std::string axis_label(const Parameter& parameter);

/// Reads a value of a document. Adds a problem and returns nullopt if the type or a number is invalid. `key`: name in
/// messages.
[[nodiscard]] std::optional<Value> read_value(const Parameter& parameter, const Node& node, const std::string& key,
                                              ProblemList& problems);

/// Why a number is invalid, e.g. "must lie in [0, 1]"; empty if it is valid. NaN and infinities are invalid.
[[nodiscard]] std::string problem(const Parameter& parameter, double number);

/// The valid values as text: "[0, 1]", "from 1", "constant, plus2_minus1".
[[nodiscard]] std::string legal_values(const Parameter& parameter);

// ---- A space: the scenarios of a sweep, which differ in some parameters. Without axes it is one scenario.

struct Axis {
  const Parameter* parameter;
  std::vector<Value> values;
  std::int64_t line;  ///< line of its key in the source
};

struct FixedInput {
  const Parameter* parameter;
  Value value;
  std::int64_t line;  ///< 0: a default
};

/// How messages name an input: as a key of [axes] or [fixed], an option, or the plain parameter name.
enum class Wording { file, option, name };

struct Space {
  std::vector<Axis> axes = {};         ///< the last one varies fastest
  std::vector<FixedInput> fixed = {};  ///< used by some scenario, in the order of the parameter table
  Wording wording = Wording::file;
};

/// The command-line option of a parameter: "edit-rate" for drafter.edit_rate.
[[nodiscard]] std::string option_of(std::string_view parameter);

/// The name of an input in messages: the parameter in a file, its option on the command line.
[[nodiscard]] std::string name_for_user(const Space& space, std::string_view parameter);
/// How users set a choice: `drafter = "block"`, or --drafter block.
[[nodiscard]] std::string statement(const Space& space, std::string_view parameter, std::string_view word);

/// Adds a problem with a parameter, with the line and key where it was given.
void report_input(const Space& space, std::string_view name, Problem problem, ProblemList& problems);

/// True if a parameter is an axis or fixed.
[[nodiscard]] bool has_input(const Space& space, std::string_view name);
/// The fixed value or null.
[[nodiscard]] const Value* fixed_value(const Space& space, std::string_view name);
[[nodiscard]] const Axis* find_axis(const Space& space, std::string_view name);
/// All values of a parameter: of its axis, the fixed one, or none.
[[nodiscard]] std::vector<Value> values_of(const Space& space, std::string_view name);

/// The usage of all scenarios together.
[[nodiscard]] Usage usage_of(const Space& space);

/// True if the fidelity is system.
[[nodiscard]] bool has_server(const Space& space);

/// True if the draft length varies between iterations in some scenario: by a policy other than constant, a schedule, or
/// a drafter (draft_length_varies).
[[nodiscard]] bool gamma_varies(const Space& space);

/// The scenario with the choices of `usage` and the inputs that these use.
[[nodiscard]] Scenario build(const Usage& usage, const std::vector<FixedInput>& inputs);

/// True if some scenario has a known cost of decoding, and therefore a speedup.
[[nodiscard]] bool has_cost(const Space& space);

/// True if a metric with these needs exists in some scenario.
[[nodiscard]] bool provides(const Space& space, Needs needs);
/// The metrics that exist in some scenario, in the order of their table.
[[nodiscard]] std::vector<Metric> metrics_of(const Space& space);

}  // namespace foredraft::scenario
