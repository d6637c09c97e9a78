// SPDX-License-Identifier: Apache-2.0
#include "sim/process/simulators.hpp"

#include <algorithm>
#include <cmath>

namespace foredraft::sim {
namespace {

/// Large enough that starting a block and merging its tally cost little, small enough to share out and to repeat.
constexpr std::uint64_t iterations_per_block = std::uint64_t{1} << 16U;

/// Bound on the draws of a block, kept by shortening it.
constexpr std::uint64_t draws_per_block = std::uint64_t{1} << 24U;
constexpr std::uint64_t fewest_iterations = 64;

}  // namespace

BlockPlan plan_iterations(std::uint64_t iterations, std::int64_t draws_per_iteration) {
  const auto draws = static_cast<std::uint64_t>(std::max<std::int64_t>(draws_per_iteration, 1));
  const std::uint64_t per_block = std::clamp(draws_per_block / draws, fewest_iterations, iterations_per_block);
  return plan_blocks("iterations", iterations, per_block);
}

BlockPlan plan_sequences(std::uint64_t sequences, double tokens) {
  const auto per_block = static_cast<std::uint64_t>(static_cast<double>(iterations_per_block) / tokens);
  return plan_blocks("sequences", sequences, std::max<std::uint64_t>(per_block, 1));
}

// Geometric: the smallest L with P(length > L) = (1 - 1/mean)^L below a uniform on (0, 1].
std::int64_t draw_length(const SequenceLength& law, RandomStream& random) {
  if (!law.geometric) return static_cast<std::int64_t>(law.tokens);
  const double uniform = 1.0 - random.uniform();
  return 1 + static_cast<std::int64_t>(std::log(uniform) / std::log1p(-1.0 / law.tokens));
}

Threshold long_run_acceptance(const AcceptanceProcess& process) {
  const auto* chain = std::get_if<Markov>(&process);
  if (chain == nullptr) return {.high = 0, .low = 0};
  const double leave = 1.0 - chain->a;
  return threshold_of(chain->b / (leave + chain->b), leave / (leave + chain->b));
}

std::int64_t steps_per_iteration(const AcceptanceProcess& process, const IterationShape& shape) {
  return std::holds_alternative<Markov>(process) ? shape.max_tokens() : shape.gamma;
}

}  // namespace foredraft::sim
