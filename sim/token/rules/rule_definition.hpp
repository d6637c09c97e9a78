// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "sim/token/rules/rule_registry.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// Every parameter of the rule's entry, checked, the defaults filled in.
using RuleParameters = std::map<std::string, double, std::less<>>;

/// What a file of this folder defines: the line that users see, and how the rule is made.
struct RuleDefinition {
  RuleEntry entry;
  std::unique_ptr<const VerificationRule> (*make)(const RuleParameters& parameters) = nullptr;
};

}  // namespace foredraft::sim
