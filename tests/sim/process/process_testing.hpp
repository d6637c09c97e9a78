// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/simulator.hpp"
#include "tests/support/simulation.hpp"

/// Shared by the tests of process fidelity: short ways to state a run, and distributions by enumeration.
namespace foredraft::tests {

/// A trace of these outcomes.
inline Trace trace_of(Recording recording) {
  return {.recording = std::make_shared<const Recording>(std::move(recording))};
}

inline constexpr sim::RunKey test_key{.seed = 20231118, .point = 7};

inline Simulation iterations_of(AcceptanceProcess process, std::int64_t gamma, std::uint64_t iterations, Path path,
                                Convention convention = Convention::bonus) {
  return {.scenario = {.fidelity = ProcessFidelity{.acceptance = std::move(process)},
                       .gamma = gamma,
                       .convention = convention},
          .plan = {.iterations = iterations, .path = path}};
}

inline Simulation sequences_of(AcceptanceProcess process, std::int64_t gamma, const SequenceLength& distribution,
                               std::uint64_t sequences, Path path, Convention convention = Convention::bonus) {
  return {.scenario = {.fidelity = ProcessFidelity{.acceptance = std::move(process), .sequence_length = distribution},
                       .gamma = gamma,
                       .convention = convention},
          .plan = {.sequences = sequences, .path = path}};
}

inline sim::Tally run_once(const Simulation& simulation, const sim::RunKey& key = test_key, unsigned threads = 1) {
  return sim::run(*simulator_of(simulation), key, threads);
}

/// P(exactly m of gamma drafts accepted) at [m], by going through all 2^gamma accept/reject patterns of independent
/// drafts.
inline std::vector<double> accepted_by_enumeration(const std::vector<double>& conditional) {
  std::vector<double> distribution(conditional.size() + 1, 0.0);
  for (std::uint64_t pattern = 0; pattern < std::uint64_t{1} << conditional.size(); ++pattern) {
    double probability = 1.0;
    std::size_t accepted = 0;
    bool alive = true;
    for (std::size_t k = 0; k < conditional.size(); ++k) {
      const bool accept = (pattern >> k & 1U) != 0;
      probability *= accept ? conditional[k] : 1.0 - conditional[k];
      alive = alive && accept;
      accepted += alive ? 1 : 0;
    }
    distribution[accepted] += probability;
  }
  return distribution;
}

/// P(X = k) at [k-1] from the distribution of the accepted drafts.
inline std::vector<double> tokens_distribution(const std::vector<double>& accepted, Convention convention) {
  const auto gamma = static_cast<std::int64_t>(accepted.size()) - 1;
  std::vector<double> distribution(static_cast<std::size_t>(max_tokens(gamma, convention)), 0.0);
  for (std::size_t m = 0; m < accepted.size(); ++m) distribution[std::min(m, distribution.size() - 1)] += accepted[m];
  return distribution;
}

inline double mean_of(const std::vector<double>& tokens_distribution) {
  double mean = 0.0;
  for (std::size_t k = 0; k < tokens_distribution.size(); ++k)
    mean += static_cast<double>(k + 1) * tokens_distribution[k];
  return mean;
}

inline std::vector<std::int64_t> as_signed(const std::vector<std::uint64_t>& counts) {
  return {counts.begin(), counts.end()};
}

inline std::vector<double> expected_counts(std::vector<double> distribution, double total) {
  for (double& probability : distribution) probability *= total;
  return distribution;
}

}  // namespace foredraft::tests
