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
  bool lossless;  ///< emitted tokens are distributed as drawn from the target alone; held to it by the contract tests
};
[[nodiscard]] const std::vector<RuleMember>& rules();

/// What users call it.
[[nodiscard]] std::string_view name_of(const Rule& rule);

/// The rule of this name with parameters by the names that follow "rule.", the others at their defaults. Throws
/// DomainError on an unknown rule, an unknown parameter or a value outside its range.
[[nodiscard]] Rule make_rule(std::string_view name, const std::map<std::string, double>& parameters);

}  // namespace foredraft::scenario
