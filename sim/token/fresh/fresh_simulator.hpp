// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/iteration_shape.hpp"
#include "sim/token/models/synthetic_target.hpp"
#include "sim/token/token_simulator.hpp"

namespace foredraft::sim {

/// How the drafts of fresh contexts are made.
struct FreshDraft {
  DraftLaw law;
  double strength;  ///< as SyntheticPool solves it
};

/// Iterations over contexts that are drawn for one position and never met again. Positions behind a rejection are not
/// drawn. The mixing partner of a context is another fresh context at temperature 1.
[[nodiscard]] std::unique_ptr<TokenSimulator> make_fresh_simulator(SyntheticTarget target, const FreshDraft& draft,
                                                                   std::unique_ptr<const VerificationRule> rule,
                                                                   double temperature, const IterationShape& shape,
                                                                   std::uint64_t iterations);

}  // namespace foredraft::sim
