// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
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
  bool excludes_minimum = false;
  bool excludes_maximum = false;
  bool whole = false;  ///< whole numbers only
};

/// One line of the inventory of verification rules.
struct RuleEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< where it comes from, as `Key, Eq. n` of docs/references.bib, or "control"
  bool lossless;  ///< emitted tokens are distributed as drawn from the target alone; held to it by the contract tests
  std::vector<RuleParameter> parameters;
};

/// "in [0, 1)", "a whole number in [1, 1024]": the legal values of a parameter.
[[nodiscard]] std::string range_text(const RuleParameter& parameter);

/// Every verification rule, sorted by name.
[[nodiscard]] const std::vector<RuleEntry>& rule_registry();

}  // namespace foredraft::sim
