// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "scenario/parameters.hpp"

/// Scenarios that differ in the values of some parameters: what a sweep goes through. One scenario is a space without
/// axes.
namespace foredraft::scenario {

struct Axis {
  const Parameter* parameter;
  std::vector<Value> values;
  std::int64_t line;  ///< of its key in the source
};

struct FixedInput {
  const Parameter* parameter;
  Value value;
  std::int64_t line;  ///< 0: a default
};

struct Space {
  std::vector<Axis> axes;         ///< the last one varies fastest
  std::vector<FixedInput> fixed;  ///< used by some scenario, in the order of the parameter table
};

/// Whether a parameter is an axis or fixed.
[[nodiscard]] bool has_input(const Space& space, std::string_view name);
/// The fixed value or null.
[[nodiscard]] const Value* fixed_value(const Space& space, std::string_view name);
[[nodiscard]] const Axis* find_axis(const Space& space, std::string_view name);
/// Every value a parameter takes: those of its axis, its fixed one, or none.
[[nodiscard]] std::vector<Value> values_of(const Space& space, std::string_view name);

/// What all scenarios use between them.
[[nodiscard]] Usage usage_of(const Space& space);

/// Whether a server is asked about.
[[nodiscard]] bool has_server(const Space& space);

/// Whether drafts differ in length from one iteration to the next somewhere: under a policy other than constant, by a
/// schedule, or copied drafts.
[[nodiscard]] bool gamma_varies(const Space& space);

/// Whether some scenario knows what decoding costs, so that there is a speedup.
[[nodiscard]] bool has_cost(const Space& space);

}  // namespace foredraft::scenario
