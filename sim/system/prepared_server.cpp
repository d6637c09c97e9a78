// SPDX-License-Identifier: Apache-2.0
#include "sim/system/prepared_server.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "foredraft/errors.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/server.hpp"
#include "sim/system/arrivals.hpp"

namespace foredraft::sim {

std::int64_t checked_sum(Int128 value) {
  constexpr std::int64_t largest_sum = std::int64_t{1} << 56U;
  if (value > largest_sum) {
    throw DomainError("the times of a replica add up to more than 2 years (use fewer requests, or shorter steps)");
  }
  return static_cast<std::int64_t>(value);
}

namespace {

std::int64_t step_ns(double us, const StepShape& shape) {
  constexpr double longest_us = 1e12;
  if (!(us >= 0.0 && us <= longest_us)) {
    throw DomainError(fmt::format("invalid step time={} us at batch {}, tokens {}, context {} (must lie in 0 to {})",
                                  us, shape.batch, shape.tokens, shape.context, longest_us));
  }
  return std::llround(us * ns_per_us);
}

PreparedAcceptance prepared_acceptance(const AcceptanceProcess& acceptance, std::int64_t longest) {
  if (const auto* runs = std::get_if<Runs>(&acceptance)) return RunsDistribution(*runs, longest);
  if (const auto* trace = std::get_if<Trace>(&acceptance)) return RecordedOutcomes(trace->recording);
  return survival_by_state(acceptance, longest);
}

}  // namespace

PreparedServer prepared_server(const Scenario& scenario) {
  const auto& server = std::get<foredraft::Server>(scenario.fidelity);
  const LookedUpTimes* cost = scenario::looked_up(scenario.cost);
  const Drafting drafting = scenario::drafting(scenario.drafter);
  const std::vector<GammaRange> schedule = scenario::gamma_of_batches(server, scenario.gamma);
  const std::vector<std::int64_t> gamma = scenario::gamma_by_batch(schedule, server.max_batch, scenario.convention);
  const std::int64_t longest = *std::max_element(gamma.begin(), gamma.end());
  PreparedServer prepared{.server = server,
                          .times = cost != nullptr ? cost->times : nullptr,
                          .ranges = {},
                          .longest = {longest, scenario.convention, drafting},
                          .acceptance = prepared_acceptance(server.acceptance, longest)};
  for (const auto& [from, to, drafts] : schedule) {
    prepared.ranges.push_back({.from = from, .to = to, .shape = {drafts, scenario.convention, drafting}});
  }
  return prepared;
}

std::int64_t PreparedServer::target_ns(const StepShape& shape) const {
  const std::int64_t pass_ns =
      step_ns(times ? times->target_us(shape, longest.convention) : server.target_step(shape), shape);
  const EngineTerms& engine = server.engine;
  const bool captured =
      engine.graph_tokens == 0 || (!shape.prompt && shape.batch * shape.tokens + shape.chunk <= engine.graph_tokens);
  return captured ? pass_ns : std::max(pass_ns, ns_of(engine.eager_us));
}

std::int64_t PreparedServer::drafter_ns(const StepShape& shape) const {
  return step_ns(times ? times->drafter_us(shape) : server.drafter_step(shape), shape);
}

std::int64_t PreparedServer::drafting_ns(const IterationShape& shape, std::int64_t batch, double context) const {
  const std::int64_t draft_passes = shape.draft_passes();
  // The KV cache grows between the passes of an autoregressive drafter; each is charged at the mean context length.
  const StepShape draft{.batch = batch,
                        .tokens = shape.drafting == Drafting::block ? shape.gamma : 1,
                        .context = context + 0.5 * static_cast<double>(draft_passes - 1)};
  return ns_of(server.overhead_us) + draft_passes * drafter_ns(draft);
}

std::int64_t PreparedServer::passes_ns(const IterationShape& shape, std::int64_t batch, double context,
                                       const PromptChunk& chunk) const {
  StepShape verification{.batch = batch,
                         .tokens = shape.max_tokens(),
                         .context = context,
                         .chunk = chunk.tokens,
                         .chunk_context = chunk.context};
  const StepShape prompts{
      .batch = 0, .tokens = 0, .context = 0.0, .chunk = chunk.tokens, .chunk_context = chunk.context};
  std::int64_t sum_ns = 0;
  if (batch == 0) {
    sum_ns = target_ns(prompts);
  } else if (shape.gamma == 0) {
    sum_ns = target_ns(verification);
  } else if (server.engine.slot_by_slot) {
    verification.batch = 1;
    verification.chunk = 0;
    sum_ns = checked_sum(Int128{batch} * (target_ns(verification) + drafting_ns(shape, 1, verification.context)));
    if (chunk.tokens > 0) sum_ns += target_ns(prompts);
  } else {
    sum_ns = target_ns(verification) + drafting_ns(shape, batch, verification.context);
  }
  if (chunk.tokens > 0 && longest.draft_passes() > 0) {
    sum_ns += drafter_ns({.batch = 1, .tokens = chunk.tokens, .context = chunk.context, .prompt = true});
  }
  return sum_ns;
}

std::int64_t PreparedServer::host_ns(std::int64_t batch, bool drafts) const {
  const EngineTerms& engine = server.engine;
  const auto decoding = static_cast<double>(batch);
  const double drafting = engine.draft_host_us + engine.draft_host_request_us * decoding;
  return ns_of(engine.host_us + engine.host_request_us * decoding + (drafts ? drafting : 0.0));
}

namespace {

/// Requests per second and their mean lengths.
struct SentLoad {
  double per_s, prompt, output;
};

SentLoad sent_load(const foredraft::Server& server) {
  if (server.arrivals.kind != ArrivalKind::recorded) {
    return {server.arrivals.rate_per_s, server.prompt.tokens, server.output.tokens};
  }
  SentLoad load{0.0, 0.0, 0.0};
  const auto count = static_cast<double>(server.recorded->requests.size());
  for (const RecordedRequest& request : server.recorded->requests) {
    load.prompt += static_cast<double>(request.prompt_tokens) / count;
    load.output += static_cast<double>(request.output_tokens) / count;
  }
  load.per_s = count / recording_period_s(*server.recorded);
  return load;
}

/// Approximate number of requests served at once: the clients, or by Little's law with mean lengths and half of the
/// drafts accepted; at most a full batch.
double served_at_once(const PreparedServer& prepared) {
  const foredraft::Server& server = prepared.server;
  const auto most = static_cast<double>(server.max_batch);
  if (server.arrivals.kind == ArrivalKind::closed) return std::min(static_cast<double>(server.arrivals.clients), most);
  const SentLoad load = sent_load(server);
  const double context = load.prompt + 0.5 * load.output;
  double served = 1.0;
  try {
    const auto prompt = static_cast<std::int64_t>(load.prompt * (1.0 - server.prefix_hit));
    const double prompt_ns =
        prompt == 0
            ? 0.0
            : static_cast<double>(prepared.target_ns({.batch = 1, .tokens = prompt, .context = 0.0, .prompt = true}));
    const double left = 1.0 - load.per_s * prompt_ns / ns_per_s;  // fraction of the time for iterations
    constexpr int rounds = 64;
    for (int round = 0; round < rounds && served < most; ++round) {
      const auto batch = static_cast<std::int64_t>(std::ceil(served));
      const IterationShape& shape = std::ranges::lower_bound(prepared.ranges, batch, {}, &BatchRange::to)->shape;
      const double iteration_ns =
          static_cast<double>(prepared.passes_ns(shape, batch, context) + prepared.host_ns(batch, shape.gamma > 0));
      const double iterations = load.output / (1.0 + 0.5 * static_cast<double>(shape.gamma));
      const double next = left > 0.0 ? load.per_s * iterations * iteration_ns / (ns_per_s * left) : most;
      if (next <= served) break;
      served = std::min(next, most);
    }
  } catch (const DomainError&) {  // an unknown time; the simulation reports it if it needs it
  }
  return served;
}

}  // namespace

SimulationPlan completed_plan(const PreparedServer& prepared, SimulationPlan plan) {
  const bool any_requests = plan.requests == as_load_needs;
  const bool any_replicas = plan.replicas == as_load_needs;
  const bool any_warmup = plan.warmup_requests == as_load_needs;
  if (!any_requests && !any_replicas && !any_warmup) return plan;
  constexpr std::uint64_t min_requests = 2000;
  constexpr std::uint64_t min_share = 8;  // minimum requests of a replica
  constexpr std::uint64_t min_warmup = 16;
  constexpr std::uint64_t turnovers = 4;
  constexpr std::uint64_t min_replicas = 8;
  constexpr std::uint64_t max_replicas = 32;
  const auto served = static_cast<std::uint64_t>(std::ceil(served_at_once(prepared)));
  const std::uint64_t share = std::max(turnovers * served, min_share);
  if (any_replicas && any_requests) {
    plan.replicas = max_replicas;
  } else if (any_replicas) {
    plan.replicas = std::min(std::clamp(plan.requests / share, min_replicas, max_replicas), plan.requests);
  }
  if (any_requests) plan.requests = std::max(min_requests, share * plan.replicas);
  if (any_warmup) plan.warmup_requests = min_warmup + turnovers * served;
  return plan;
}

}  // namespace foredraft::sim
