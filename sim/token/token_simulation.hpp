// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "foredraft/words.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/simulator.hpp"
#include "sim/token/models/model_pair.hpp"

/// Token fidelity: real distributions p and q over a vocabulary, real draws, a real verification rule.
namespace foredraft::sim {

struct TokenSimulation {
  ModelPair models;
  Rule rule;
  double temperature;  ///< applied to p and q before the rule; 0: argmax, lowest index on ties
  std::int64_t gamma;  ///< min_gamma(convention) to max_token_gamma
  Convention convention;
  Drafting drafting;
  std::uint64_t iterations;
};

/// Prepares the run (pools, alias tables; may take a second at V = 256,000). Throws DomainError.
/// Synthetic pools are drawn from `seed` (purposes logits and draft_logits), so they are part of the result. Throws
/// Interrupted when stopped.
[[nodiscard]] std::unique_ptr<Simulator> make_token_simulator(TokenSimulation simulation, std::uint64_t seed,
                                                              StopToken stop = {});

}  // namespace foredraft::sim
