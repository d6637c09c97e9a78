#include "sim/process/simulators.hpp"

#include <algorithm>

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

std::int64_t steps_per_iteration(const AcceptanceProcess& process, const IterationShape& shape) {
  return std::holds_alternative<Markov>(process) ? shape.max_tokens() : shape.gamma;
}

}  // namespace foredraft::sim
