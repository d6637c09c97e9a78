// SPDX-License-Identifier: Apache-2.0
#include "sim/system/serving_simulation.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <string_view>
#include <utility>

#include "core/check.hpp"
#include "scenario/server.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/system/server.hpp"

namespace foredraft::sim {
namespace {

constexpr std::int64_t largest_max_batch = 65'536;
constexpr double longest_overhead_us = 1e12;
constexpr std::uint64_t max_replicas = 4096;
constexpr std::uint64_t max_requests = std::uint64_t{1} << 40U;

class ServingSimulator final : public Simulator {
 public:
  explicit ServingSimulator(PreparedServing prepared) : prepared_(std::move(prepared)) {}

  [[nodiscard]] std::uint64_t blocks() const override { return prepared_.simulation.replicas; }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    return Server(prepared_, key, block).run();
  }

 private:
  PreparedServing prepared_;
};

void check_count(std::string_view name, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  if (value >= least && value <= most) return;
  throw DomainError(fmt::format("invalid {}={} (must lie in {} to {})", name, value, least, most));
}

PreparedAcceptance prepared_acceptance(const AcceptanceProcess& acceptance, std::int64_t longest) {
  if (const auto* runs = std::get_if<Runs>(&acceptance)) return RunsDistribution(*runs, longest);
  if (const auto* trace = std::get_if<Trace>(&acceptance)) {
    if (!trace->recording) throw DomainError("the outcomes of the trace were not read");
    RecordedOutcomes recorded(trace->recording);
    if (recorded.positions() == 0) throw DomainError("invalid trace (must hold a position)");
    return recorded;
  }
  if (std::holds_alternative<Observed>(acceptance)) throw DomainError("the counts of the log were not read");
  return SurvivalByState{SurvivalRow(survival_thresholds(acceptance, longest, false))};
}

}  // namespace

std::unique_ptr<Simulator> make_serving_simulator(ServingSimulation simulation) {
  if (!(simulation.overhead_us >= 0.0 && simulation.overhead_us <= longest_overhead_us)) {
    throw DomainError(
        fmt::format("invalid overhead_us={} (must lie in 0 to {})", simulation.overhead_us, longest_overhead_us));
  }
  check_range("max_batch", simulation.max_batch, 1, largest_max_batch);
  check_count("requests", simulation.requests, 1, max_requests);
  check_count("warmup_requests", simulation.warmup_requests, 0, max_requests);
  check_count("replicas", simulation.replicas, 1, max_replicas);
  check_arrivals(simulation.arrivals);
  scenario::check_token_count("prompt", simulation.prompt, 0);
  scenario::check_token_count("output", simulation.output, 1);
  if (!(simulation.latency_goal_us >= 0.0)) check_nonnegative("latency_goal_us", simulation.latency_goal_us);
  PreparedServing prepared{.simulation = std::move(simulation), .shapes = {}, .longest = {}, .acceptance = {}};
  const ServingSimulation& settled = prepared.simulation;
  std::int64_t longest = 0;
  for (const std::int64_t gamma : scenario::gamma_by_batch(settled.gamma, settled.max_batch, settled.convention)) {
    prepared.shapes.push_back({gamma, settled.convention, settled.drafting});
    longest = std::max(longest, gamma);
  }
  prepared.longest = {longest, settled.convention, settled.drafting};
  scenario::check_server_acceptance(settled.acceptance, longest, settled.batching, settled.convention);
  prepared.acceptance = prepared_acceptance(settled.acceptance, longest);
  if (!settled.target_us) throw DomainError("invalid target_us (must be given)");
  if (prepared.longest.draft_passes() > 0 && !settled.drafter_us)
    throw DomainError("invalid drafter_us (must be given)");
  return std::make_unique<ServingSimulator>(std::move(prepared));
}

}  // namespace foredraft::sim
