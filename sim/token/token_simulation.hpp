// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "foredraft/words.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/simulator.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// A token that an iteration emitted, and its context.
struct EmittedToken {
  Token token;
  std::int64_t context;  ///< row of the pool; -1 if contexts are not numbered
};

/// A simulator that reports tokens, not only their number.
class TokenSimulator : public Simulator {
 public:
  /// The exact probability that a draft is accepted, averaged over the contexts of a position: the pool mean of
  /// acceptance_probability(). NaN if that is, and if the contexts are not a finite pool.
  [[nodiscard]] virtual double expected_acceptance() const = 0;

  /// The tokens emitted by a block, in order: one inner vector per iteration. The same draws as run_block().
  [[nodiscard]] virtual std::vector<std::vector<EmittedToken>> emit_block(const RunKey& key,
                                                                          std::uint64_t block) const = 0;
};

/// expected_acceptance() of a TokenSimulator; NaN for any other simulator.
[[nodiscard]] double expected_acceptance(const Simulator& simulator);

// ---- Token fidelity: explicit distributions p and q over a vocabulary, drawn tokens, and a verification rule.

struct TokenSimulation {
  ModelPair models;
  Rule rule;
  double temperature;  ///< applied to p and q before the rule; 0: argmax, lowest index on ties
  std::int64_t gamma;  ///< min_gamma(convention) to max_token_gamma
  Convention convention;
  Drafting drafting;
  std::uint64_t iterations;
};

/// Prepares the run (pools, alias tables; may take a second at V = 256,000). Synthetic pools are drawn from `seed`
/// (purposes logits and draft_logits), so they are part of the result. Throws DomainError, and Interrupted when
/// stopped.
[[nodiscard]] std::unique_ptr<Simulator> make_token_simulator(TokenSimulation simulation, std::uint64_t seed,
                                                              StopToken stop = {});

}  // namespace foredraft::sim
