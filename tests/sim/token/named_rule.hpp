// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "scenario/rules.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::tests {

/// The rule of this name, parameters by their names in its registry.
inline std::unique_ptr<const sim::VerificationRule> make_named_rule(std::string_view name,
                                                                    const std::map<std::string, double>& parameters) {
  return sim::make_rule(scenario::make_rule(name, parameters));
}

}  // namespace foredraft::tests
