// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "foredraft/scenario.hpp"
#include "sim/token/token_simulator.hpp"
#include "tests/support/simulation.hpp"

/// Small model pairs without symmetries that could hide an error, and simulations of them.
namespace foredraft::tests {

/// Three contexts over five tokens. All rows of p and q differ, and none is a permutation of another; each context has
/// a token with mass only in p and one with mass only in q; p ties at its largest entry in context 1, and the most
/// probable tokens of the contexts differ.
inline GivenDistributions three_contexts() {
  return {.target = {{0.50, 0.20, 0.00, 0.25, 0.05}, {0.10, 0.35, 0.35, 0.20, 0.00}, {0.03, 0.12, 0.15, 0.00, 0.70}},
          .draft = {{0.30, 0.00, 0.10, 0.15, 0.45}, {0.28, 0.12, 0.00, 0.40, 0.20}, {0.00, 0.52, 0.08, 0.07, 0.33}}};
}

/// sum min(p, q) averaged over the contexts of three_contexts(), by hand:
/// 0.30 + 0 + 0 + 0.15 + 0.05 = 0.50; 0.10 + 0.12 + 0 + 0.20 + 0 = 0.42; 0 + 0.12 + 0.08 + 0 + 0.33 = 0.53.
inline constexpr double three_contexts_alpha = (0.50 + 0.42 + 0.53) / 3.0;

inline GivenModels given(GivenDistributions distributions) {
  return {std::make_shared<const GivenDistributions>(std::move(distributions))};
}

inline Simulation simulation_of(Models models, std::int64_t gamma, std::uint64_t iterations) {
  return {.scenario = {.fidelity = TokenFidelity{.models = std::move(models)}, .gamma = gamma},
          .plan = {.iterations = iterations}};
}

/// Of a synthetic pair.
inline Contexts& contexts_of(Simulation& simulation) {
  return std::get<SyntheticModels>(simulation.token().models).contexts;
}

/// A small synthetic pair: 60 tokens, gaussian logits of deviation 2, noise.
inline SyntheticModels small_pair() {
  return {.target = TargetDistribution::gaussian_logits,
          .parameter = 2.0,
          .vocabulary = 60,
          .draft = DraftDistribution::noise,
          .alpha = 0.7,
          .pool = 40};
}

/// The tokens that each iteration of the first block emits.
inline std::vector<std::vector<sim::Token>> emitted_by(const Simulation& simulation) {
  const auto simulator = simulator_of(simulation, 1);
  std::vector<std::vector<sim::Token>> tokens;
  for (const auto& sequence :
       dynamic_cast<const sim::TokenSimulator&>(*simulator).emit_block({.seed = 3, .point = 0}, 0)) {
    std::vector<sim::Token>& iteration = tokens.emplace_back();
    for (const sim::EmittedToken& emitted : sequence) iteration.push_back(emitted.token);
  }
  return tokens;
}

}  // namespace foredraft::tests
