// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/acceptance.hpp"
#include "foredraft/scenario_fwd.hpp"
#include "foredraft/verification_rule.hpp"
#include "scenario/parameters.hpp"

/// The only check of a scenario: ranges of values, and which parts can be combined. Problems name parameters;
/// resolve.hpp adds where each was given.
namespace foredraft::scenario {

/// An invalid value or combination of values.
struct FieldProblem {
  std::string field;            ///< the parameter to change: "gamma", "process.a"
  std::string text;             ///< what is wrong: "invalid gamma=-1"
  std::string why = {};         ///< the rule: "must be at least 0"; does not depend on the value
  std::string suggestion = {};  ///< what to do
  std::string with = {};        ///< the other parameter of an invalid combination
};

/// All problems of a scenario; empty if it is valid. Recordings and distributions are checked if they are loaded;
/// whether files were read is not checked (check_read). `given`: source of the scenario, for parameter names in
/// messages.
[[nodiscard]] std::vector<FieldProblem> problems_of(const Scenario& scenario, const Space& given);
/// The same; messages use plain parameter names.
[[nodiscard]] std::vector<FieldProblem> problems_of(const Scenario& scenario);

/// Throws DomainError, which lists all problems of a scenario, one per line.
void check_scenario(const Scenario& scenario);

/// Throws DomainError if a recording, trained models or times of forward passes are named but were not read.
void check_read(const Scenario& scenario);

/// Throws DomainError, which lists all problems of a rule.
void check_rule(const Rule& rule);

// ---- Properties that decide what can be combined.

/// True if iterations are independent of each other.
[[nodiscard]] bool has_independent_iterations(const AcceptanceProcess& process);

/// True if the process assumes infinite text, a bonus token in every iteration and gamma <= max_runs_gamma.
[[nodiscard]] bool needs_endless_text(const AcceptanceProcess& process);

/// Index of the first entry that is larger than the previous one; nullopt if none is. Marginals never increase.
[[nodiscard]] std::optional<std::size_t> first_rise(const std::vector<double>& entries);

/// "rises from 0.7 to 0.75 at position 2"; empty if the entries do not rise.
[[nodiscard]] std::string rise_of(const std::vector<double>& entries);
inline constexpr std::string_view why_no_rise = "a marginal is P(this draft and all before it accepted)";

}  // namespace foredraft::scenario
