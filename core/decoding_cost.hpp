// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The price list that closed forms and simulation charge.
namespace foredraft {

/// What decoding costs, in plain steps of the target (one token decoded without speculation). All >= 0, finite;
/// `iteration` > 0.
struct DecodingCost {
  double iteration = 1.0;       ///< an iteration without its drafting: verification, and whatever overhead it has
  double draft_pass = 0.0;      ///< one pass of the drafter
  double sequence = 0.0;        ///< once a sequence under speculation: encoders, fixed cost
  double plain_sequence = 0.0;  ///< once a sequence decoded plainly

  bool operator==(const DecodingCost&) const = default;
};

/// A verification costs one target step, a draft pass c of them, and nothing else costs anything. [Leviathan2023,
/// Thm. 3.8]
[[nodiscard]] constexpr DecodingCost constant_ratio(double c) { return {.draft_pass = c}; }

/// A draft pass against the rest of an iteration: all that the best draft length depends on. c where a verification
/// costs one step.
[[nodiscard]] constexpr double draft_ratio(const DecodingCost& cost) { return cost.draft_pass / cost.iteration; }

/// Throws DomainError on a cost outside its range.
void check_cost(const DecodingCost& cost);

}  // namespace foredraft
