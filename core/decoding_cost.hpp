// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The cost of decoding that closed forms and simulation use.
namespace foredraft {

/// Cost of speculative decoding in decode steps of the target (one token without speculation). All finite and >= 0;
/// `iteration` > 0.
struct DecodingCost {
  double iteration = 1.0;       ///< an iteration without drafting: verification and overhead
  double draft_pass = 0.0;      ///< one forward pass of the drafter
  double sequence = 0.0;        ///< once per sequence with speculation: encoders, fixed cost
  double plain_sequence = 0.0;  ///< once per sequence without speculation

  bool operator==(const DecodingCost&) const = default;
};

/// A verification costs one decode step and a draft pass c decode steps; everything else is free. [Leviathan2023, Thm.
/// 3.8]
[[nodiscard]] constexpr DecodingCost constant_ratio(double c) { return {.draft_pass = c}; }

/// Cost of a draft pass divided by the cost of the rest of the iteration. Determines the best draft length; equals c if
/// a verification costs one decode step.
[[nodiscard]] constexpr double draft_ratio(const DecodingCost& cost) { return cost.draft_pass / cost.iteration; }

/// Throws DomainError for a cost out of range.
void check_cost(const DecodingCost& cost);

}  // namespace foredraft
