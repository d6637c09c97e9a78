#pragma once

#include <string_view>
#include <vector>

namespace foredraft::sim {

/// A parameter of a verification rule; a sweep axis `rule.<name>`.
struct RuleParameter {
  std::string_view name;
  double default_value;
  double minimum;
  double maximum;
  std::string_view summary;
};

/// One line of the inventory of verification rules.
struct RuleEntry {
  std::string_view name;
  std::string_view summary;
  bool lossless;  ///< emitted tokens are distributed as drawn from the target alone; held to it by the contract tests
  std::vector<RuleParameter> parameters;
};

/// Every verification rule, sorted by name.
[[nodiscard]] const std::vector<RuleEntry>& rule_registry();

}  // namespace foredraft::sim
