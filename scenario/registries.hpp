// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/family.hpp"

/// What can be named in a scenario, one registry a family, each sorted by name (costs: the default first).
namespace foredraft::scenario {

[[nodiscard]] const std::vector<Member<AcceptanceProcess>>& processes();

struct DrafterMember : Member<Drafter> {
  Drafting charge;  ///< per iteration, in passes of c target steps
  bool process;     ///< drafts in process fidelity ...
  bool token;       ///< ... and in token fidelity ...
  bool text;        ///< ... where it drafts text of n-gram models alone
};
[[nodiscard]] const std::vector<DrafterMember>& drafters();

struct PolicyMember : Member<Policy> {
  bool (*fits)(const AcceptanceProcess& process);  ///< whether it works with this alternative
  std::string_view fitting;                        ///< the names of those, for messages
  std::vector<std::string_view> aliases = {};      ///< other names
};
[[nodiscard]] const std::vector<PolicyMember>& policies();

struct RuleMember : Member<Rule> {
  bool lossless;  ///< emitted tokens are distributed as drawn from the target alone; held to it by the contract tests
};
[[nodiscard]] const std::vector<RuleMember>& rules();

[[nodiscard]] const std::vector<Member<Cost>>& costs();

/// What users call it.
[[nodiscard]] std::string_view name_of(const AcceptanceProcess& process);

/// The process of a scenario in process or system fidelity; null in token fidelity.
[[nodiscard]] AcceptanceProcess* acceptance_of(Scenario& scenario);
[[nodiscard]] const AcceptanceProcess* acceptance_of(const Scenario& scenario);
[[nodiscard]] std::string_view name_of(const Drafter& drafter);
[[nodiscard]] std::string_view name_of(const Policy& policy);
[[nodiscard]] std::string_view name_of(const Rule& rule);
[[nodiscard]] std::string_view name_of(const Cost& cost);

/// What an iteration of the drafter is charged.
[[nodiscard]] Drafting drafting(const Drafter& drafter);

/// The rule of this name with parameters by the names that follow "rule.", the others at their defaults. Throws
/// DomainError on an unknown rule, an unknown parameter or a value outside its range.
[[nodiscard]] Rule make_rule(std::string_view name, const std::map<std::string, double>& parameters);

/// Throws DomainError where parameters of a rule do not fit each other, or (of `vocabulary` tokens, 0: not known) the
/// vocabulary.
void check_rule(const Rule& rule, std::int64_t vocabulary = 0);

/// Throws DomainError where n-gram models do not verify by this rule at this temperature.
void check_text_rule(const Rule& rule, double temperature);

}  // namespace foredraft::scenario
