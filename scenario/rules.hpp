// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/verification_rule.hpp"
#include "scenario/family.hpp"

/// The registry of verification rules.
namespace foredraft::scenario {

template <>
inline constexpr bool integers_as_numbers<Rule> = true;

struct RuleMember : Member<Rule> {
  bool lossless;  ///< emitted tokens have the target's distribution; verified by the contract tests
};
[[nodiscard]] const std::vector<RuleMember>& rules();

/// The name in the registry.
[[nodiscard]] std::string_view name_of(const Rule& rule);

/// Makes a rule from its name and parameters, which are named without the prefix "rule."; others have their defaults.
/// Throws DomainError for an unknown rule, an unknown parameter or a value outside its range.
[[nodiscard]] Rule make_rule(std::string_view name, const std::map<std::string, double>& parameters);

}  // namespace foredraft::scenario
