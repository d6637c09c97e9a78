// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/load_answer.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analytic/answer/iteration_law.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "foredraft/errors.hpp"
#include "scenario/compatibility.hpp"
#include "scenario/cost.hpp"
#include "scenario/pass_times.hpp"
#include "scenario/registries.hpp"
#include "scenario/server.hpp"

namespace foredraft::analytic {
namespace {

/// A server's share of time in passes, each looked up or given.
class ServedPasses {
 public:
  ServedPasses(const Server& server, const Scenario& scenario)
      : server_(server), scenario_(scenario), looked_up_(scenario::looked_up(scenario.cost)) {}

  [[nodiscard]] double iteration_us(std::int64_t batch, double context) const {
    const std::int64_t gamma = scenario_.gamma;
    const double verify_us =
        target_us({.batch = batch, .tokens = max_tokens(gamma, scenario_.convention), .context = context});
    if (gamma == 0) return verify_us;
    const std::int64_t passes = draft_passes(gamma, drafting_);
    if (passes == 0) return verify_us + server_.overhead_us;
    const double halfway = 0.5 * static_cast<double>(passes - 1);
    return verify_us + server_.overhead_us +
           static_cast<double>(passes) *
               drafter_us(
                   {.batch = batch, .tokens = drafting_ == Drafting::block ? gamma : 1, .context = context + halfway});
  }

  [[nodiscard]] double prompt_us(std::int64_t batch) const {
    const auto tokens = static_cast<std::int64_t>(server_.prompt.tokens);
    const StepShape pass{.batch = batch, .tokens = tokens, .context = 0.0, .prompt = true};
    return target_us(pass) + (draft_passes(scenario_.gamma, drafting_) > 0 ? drafter_us(pass) : 0.0);
  }

 private:
  [[nodiscard]] double target_us(const StepShape& shape) const {
    return looked_up_ == nullptr ? server_.target_step(shape)
                                 : looked_up_->times->target_us(shape, scenario_.convention);
  }
  [[nodiscard]] double drafter_us(const StepShape& shape) const {
    return looked_up_ == nullptr ? server_.drafter_step(shape) : looked_up_->times->drafter_us(shape);
  }

  const Server& server_;
  const Scenario& scenario_;
  const LookedUpTimes* looked_up_;
  Drafting drafting_ = scenario::drafting(scenario_.drafter);
};

bool has_one_length(const TokenCount& count) { return count.spread == 0 && !count.geometric; }

const Server& checked_server(const Scenario& scenario) {
  const auto* server = std::get_if<Server>(&scenario.fidelity);
  const bool answered = server != nullptr && server->gamma_schedule.empty() &&
                        server->batching == Batching::continuous && server->arrivals.kind == ArrivalKind::poisson &&
                        has_one_length(server->prompt) && has_one_length(server->output) &&
                        server->output.tokens >= 2.0;
  if (answered) return *server;
  throw DomainError(
      "no equilibrium of this server (Poisson arrivals, a continuous batch, one draft length, prompts of one length "
      "and "
      "answers of one, at least 2 tokens, have one)");
}

double mean_tokens(const AcceptanceProcess& acceptance, std::int64_t gamma, Convention convention) {
  const auto law =
      iteration_law({.fidelity = ProcessFidelity{.acceptance = acceptance}, .gamma = gamma, .convention = convention},
                    unknown<double>);
  if (law.mean) return *law.mean;
  throw DomainError("no closed form of this acceptance");
}

}  // namespace

AcceptanceProcess served_acceptance(const AcceptanceProcess& acceptance, std::int64_t gamma, Convention convention) {
  if (scenario::forgets(acceptance)) return acceptance;
  // What one more draft yields is the chance that it and all before it are accepted.
  const std::int64_t first = min_gamma(convention);
  double tokens = mean_tokens(acceptance, first, convention);
  double before = 1.0;
  Positional served;
  for (std::int64_t draft = 1; draft <= gamma; ++draft) {
    const double more = mean_tokens(acceptance, first + draft, convention);
    const double accepted = std::clamp(more - tokens, 0.0, before);
    served.conditional.push_back(before > 0.0 ? accepted / before : 0.0);
    before = accepted;
    tokens = more;
  }
  if (served.conditional.empty()) served.conditional.push_back(0.0);
  return served;
}

LoadEquilibrium load_answer(const Scenario& scenario, StopToken stop) {
  const Server& server = checked_server(scenario);
  const ServedPasses passes(server, scenario);
  const bool has_prompt = server.prompt.tokens > 0.0;
  const double decoded = server.output.tokens - (has_prompt ? 1.0 : 0.0);
  const auto law = iteration_law({.fidelity = ProcessFidelity{.acceptance = server.acceptance,
                                                              .sequence_length = SequenceLength{.tokens = decoded}},
                                  .gamma = scenario.gamma,
                                  .convention = scenario.convention},
                                 unknown<double>, stop);
  const double context = server.prompt.tokens + 0.5 * server.output.tokens;
  ServedLoad load{.requests_per_s = server.arrivals.rate_per_s,
                  .iterations = expected_iterations(law.pmf, static_cast<std::int64_t>(decoded), stop),
                  .max_batch = server.max_batch,
                  .iteration_us = [&](std::int64_t batch) { return passes.iteration_us(batch, context); }};
  if (has_prompt) load.prompt_us = [&](std::int64_t prompts) { return passes.prompt_us(prompts); };
  return load_equilibrium(load);
}

}  // namespace foredraft::analytic
