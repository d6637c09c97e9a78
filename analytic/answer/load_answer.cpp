// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <variant>

#include "analytic/answer/answer.hpp"
#include "analytic/answer/iteration_distribution.hpp"
#include "analytic/answer/pass_grid.hpp"
#include "analytic/answer/server_passes.hpp"
#include "analytic/cost/load_equilibrium.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"
#include "scenario/server.hpp"

namespace foredraft::analytic {
namespace {

const Server& checked_server(const Scenario& scenario) {
  const auto* server = std::get_if<Server>(&scenario.fidelity);
  const auto one_or_lognormal = [](const TokenCount& count) { return count.spread == 0 && !count.geometric; };
  const bool answered =
      server != nullptr && server->batching == Batching::continuous &&
      (server->arrivals.kind == ArrivalKind::poisson || server->arrivals.kind == ArrivalKind::closed) &&
      one_or_lognormal(server->prompt) && one_or_lognormal(server->output) && server->output.tokens >= 2.0;
  if (answered) {
    static_cast<void>(scenario::gamma_by_batch(scenario::gamma_of_batches(*server, scenario.gamma), server->max_batch,
                                               scenario.convention));
    return *server;
  }
  throw DomainError(
      "no load equilibrium for this server (must have Poisson arrivals or a closed loop, continuous batching, fixed "
      "or lognormal lengths, and outputs of at least 2 tokens on average)");
}

double mean_tokens(const AcceptanceProcess& acceptance, std::int64_t gamma, Convention convention) {
  const auto distribution = iteration_distribution(
      {.fidelity = ProcessFidelity{.acceptance = acceptance}, .gamma = gamma, .convention = convention},
      unknown<double>);
  if (distribution.mean) return *distribution.mean;
  throw DomainError("no closed form for this acceptance process");
}

}  // namespace

AcceptanceProcess served_acceptance(const AcceptanceProcess& acceptance, std::int64_t gamma, Convention convention) {
  if (scenario::has_independent_iterations(acceptance)) return acceptance;
  // The expected gain of one more draft is the probability that it and all before it are accepted.
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

namespace {

/// Iterations of an output by draft length.
class AnswerIterations {
 public:
  AnswerIterations(const Server& server, const Scenario& scenario, double decoded, StopToken stop)
      : server_(server), scenario_(scenario), decoded_(decoded), stop_(stop) {}

  RequestIterations operator()(std::int64_t gamma) {
    const auto known = known_.find(gamma);
    if (known != known_.end()) return known->second;
    const auto distribution =
        iteration_distribution({.fidelity = ProcessFidelity{.acceptance = server_.acceptance,
                                                            .sequence_length = SequenceLength{.tokens = decoded_}},
                                .gamma = gamma,
                                .convention = scenario_.convention},
                               unknown<double>, stop_);
    if (!distribution.iterations) throw DomainError("no closed form for this acceptance process");
    // Variance from the renewal process and from the lengths.
    const double of_tokens = distribution.variance.value_or(0.0) / (distribution.mean.value_or(1.0) * decoded_);
    const RequestIterations iterations{.mean = *distribution.iterations,
                                       .variation = std::sqrt(of_tokens + squared_variation(server_.output))};
    return known_.emplace(gamma, iterations).first->second;
  }

 private:
  const Server& server_;
  const Scenario& scenario_;
  double decoded_;
  StopToken stop_;
  std::map<std::int64_t, RequestIterations> known_;
};

}  // namespace

LoadEquilibrium load_answer(const Scenario& scenario, StopToken stop) {
  const Server& server = checked_server(scenario);
  const bool has_prompt = server.prompt.tokens > 0.0;
  const bool chunked = has_prompt && server.engine.prefill == Prefill::chunked;
  const double decoded = server.output.tokens - (has_prompt ? 1.0 : 0.0);
  const ServedPasses passes(
      server, scenario, server.prompt.tokens + 0.5 * server.output.tokens * (1.0 + squared_variation(server.output)));
  AnswerIterations iterations(server, scenario, decoded, stop);
  // By draft length.
  std::map<std::int64_t, PassGrid> verifications;
  std::map<std::int64_t, PassGrid> drafts;
  const std::int64_t max_chunk = server.engine.pass_tokens;
  PassGrid draft_prompts(0, max_chunk, [&](std::int64_t /*batch*/, std::int64_t chunk) {
    return chunk > 0 ? passes.draft_prompt_us(chunk) : 0.0;
  });
  const ServedPasses::Passes grid{
      .verify_us =
          [&](std::int64_t batch, std::int64_t gamma, double chunk) {
            const auto time = [&passes, gamma](std::int64_t rows, std::int64_t tokens) {
              return rows > 0 || tokens > 0 ? passes.verify_us(rows, gamma, tokens) : 0.0;
            };
            return verifications.try_emplace(gamma, server.max_batch, max_chunk, time).first->second(batch, chunk);
          },
      .draft_us =
          [&](std::int64_t batch, std::int64_t gamma) {
            const auto time = [&passes, gamma](std::int64_t rows, std::int64_t /*chunk*/) {
              return passes.draft_us(rows, gamma);
            };
            return drafts.try_emplace(gamma, server.max_batch, 0, time).first->second(batch, 0.0);
          },
      .draft_prompt_us = [&](double chunk) { return draft_prompts(0, chunk); }};
  ServedLoad load{.iterations = [&](std::int64_t batch) { return iterations(passes.gamma_at(batch)); },
                  .tokens = decoded,
                  .max_batch = server.max_batch,
                  .iteration = [&](std::int64_t batch, double chunk) { return passes.iteration(grid, batch, chunk); }};
  load.jumps = passes.jumps();
  if (server.arrivals.kind == ArrivalKind::closed) {
    load.clients = server.arrivals.clients;
  } else {
    load.requests_per_s = server.arrivals.rate_per_s;
  }
  load.prompt_variation = has_prompt ? std::sqrt(squared_variation(server.prompt)) : 0.0;
  if (chunked) {
    load.chunked = {.tokens = static_cast<double>(passes.unread()),
                    .room = [&](std::int64_t batch) { return passes.room(batch); }};
  } else if (has_prompt) {
    load.prompt_us = [&](std::int64_t prompts) { return passes.prompt_us(prompts); };
  }
  return load_equilibrium(load);
}

}  // namespace foredraft::analytic
