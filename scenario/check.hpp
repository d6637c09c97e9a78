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

/// The one check of a scenario: every value in its range, and every rule of what fits with what. It names parameters;
/// whoever read them says where each was given (resolve.hpp).
namespace foredraft::scenario {

/// A value, or a combination of values, that no scenario has.
struct FieldProblem {
  std::string field;            ///< the parameter to change: "gamma", "process.a"
  std::string text;             ///< what is wrong: "invalid gamma=-1"
  std::string why = {};         ///< the rule: "must be at least 0"; the same for every value that breaks it
  std::string suggestion = {};  ///< what to do
  std::string with = {};        ///< the parameter that the field contradicts, if it is one
};

/// Every problem of a scenario; empty if it is sound. Recordings and distributions are checked where they are there,
/// other files are not (check_read). `given`: where the scenario comes from, for the names in texts.
[[nodiscard]] std::vector<FieldProblem> problems_of(const Scenario& scenario, const Space& given);
/// The same, with parameters called by their names.
[[nodiscard]] std::vector<FieldProblem> problems_of(const Scenario& scenario);

/// Throws DomainError with all problems of a scenario, a line each.
void check_scenario(const Scenario& scenario);

/// Throws DomainError if a recording, trained models or times of forward passes are named but were not read.
void check_read(const Scenario& scenario);

/// The same of a rule alone.
void check_rule(const Rule& rule);

// ---- Properties that decide what fits.

/// True if iterations are independent: an iteration tells nothing about the next one.
[[nodiscard]] bool has_independent_iterations(const AcceptanceProcess& process);

/// True if the process assumes infinite text, a bonus token in every iteration and gamma <= max_runs_gamma.
[[nodiscard]] bool needs_endless_text(const AcceptanceProcess& process);

/// The first entry above the one before it, or nullopt. A marginal does not rise.
[[nodiscard]] std::optional<std::size_t> first_rise(const std::vector<double>& entries);

/// "rises from 0.7 to 0.75 at position 2"; empty if the entries do not rise.
[[nodiscard]] std::string rise_of(const std::vector<double>& entries);
inline constexpr std::string_view why_no_rise = "a marginal is P(this draft and all before it accepted)";

}  // namespace foredraft::scenario
