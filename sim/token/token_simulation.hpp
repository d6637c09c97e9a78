// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/words.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/simulator.hpp"
#include "sim/token/models/model_pair.hpp"

/// Token fidelity: real distributions p and q over a vocabulary, real draws, a real verification rule.
namespace foredraft::sim {

/// The longest draft of a token simulation. Fewer than in process fidelity, because every drafted token is drawn and an
/// n-gram pair writes drafts out as text.
inline constexpr std::int64_t max_token_gamma = 100'000;

/// The lowest temperature above 0: below it, powers of probabilities leave the range of a double.
inline constexpr double min_temperature = 1e-6;

/// Where the distributions of a synthetic pair come from.
enum class Contexts {
  pooled,  ///< a pool of prepared (p, q) rows; each position meets a random one. Alias tables: about 1e6 iterations/s
  fresh,   ///< new logits for every position of every iteration; slow, and free of any pool effect
};

struct TokenSimulation {
  ModelPair models;
  std::string rule;                               ///< a name of rule_registry()
  std::map<std::string, double> rule_parameters;  ///< by the names that the registry lists; missing ones: the default
  double temperature;  ///< applied to p and q before the rule; 0: argmax, lowest index on ties
  std::int64_t gamma;  ///< min_gamma(convention) to max_token_gamma
  Convention convention;
  Drafting drafting;
  Contexts contexts;  ///< synthetic pairs only
  std::uint64_t iterations;
};

/// Prepares the run (pools, alias tables; may take a second at V = 256,000). Throws DomainError.
/// Synthetic pools are drawn from `seed` (purposes logits and draft_logits), so they are part of the result.
[[nodiscard]] std::unique_ptr<Simulator> make_token_simulator(TokenSimulation simulation, std::uint64_t seed);

}  // namespace foredraft::sim
