// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/answer.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analytic/answer/iteration_distribution.hpp"
#include "analytic/cost/load_equilibrium.hpp"
#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/server.hpp"

namespace foredraft::analytic {
namespace {

/// Maximum output length: closed forms here take quadratic time.
constexpr double longest_answer = 4096.0;

/// Times of a server's forward passes, each looked up or given.
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

/// The closed forms of a server, for fixed or geometric lengths and iterations that all take the same time.
class ServerForms {
 public:
  ServerForms(const Server& server, const Scenario& scenario, StopToken stop)
      : server_(server), scenario_(scenario), stop_(stop), passes_(server, scenario) {}

  [[nodiscard]] ClosedForm answer() const {
    ClosedForm answer;
    if (!scenario::has_independent_iterations(server_.acceptance)) return answer;
    if (!server_.gamma_schedule.empty() || !answers_are_simple() || !prompts_are_simple()) return answer;
    const bool lockstep = server_.batching == Batching::lockstep && server_.max_batch > 1;
    // Sequences in lockstep that start together and have one length behave as one that accepts what all accept.
    const bool one_row = lockstep && full() && !server_.output.geometric;
    if (lockstep && !one_row) return answer;
    const std::vector<double> pmf = tokens_of_iteration(one_row ? static_cast<double>(server_.max_batch) : 1.0);
    const double iterations = mean_iterations(pmf);
    if (iterations > 0.0) {
      answer.tokens_per_iteration = decoded_tokens() / iterations;
      answer.memory_access_factor = iterations / decoded_tokens();
    }
    // If acceptance depends on the position, later drafts are tested less often because of the ends of outputs.
    const auto* iid = std::get_if<Iid>(&server_.acceptance);
    if (scenario_.gamma > 0 && iid != nullptr) answer.per_token = iid->alpha;
    if (full()) add_full_server(pmf, iterations, answer);
    if (server_.max_batch == 1 && server_.arrivals.kind == ArrivalKind::poisson) add_queue(pmf, answer);
    return answer;
  }

 private:
  [[nodiscard]] bool answers_are_simple() const {
    return server_.output.spread == 0 && server_.output.tokens <= longest_answer;
  }
  /// Whether there are no prompts, or each is read in a prefill pass that yields a token.
  [[nodiscard]] bool prompts_are_simple() const {
    const TokenCount& prompt = server_.prompt;
    return !has_prompt() || prompt.geometric || prompt.tokens - static_cast<double>(prompt.spread) >= 1.0;
  }
  [[nodiscard]] bool prompts_are_alike() const { return server_.prompt.spread == 0 && !server_.prompt.geometric; }
  [[nodiscard]] bool has_prompt() const { return server_.prompt.tokens > 0.0; }

  /// Whether the batch is always full.
  [[nodiscard]] bool full() const {
    return server_.arrivals.kind == ArrivalKind::closed && server_.arrivals.clients >= server_.max_batch;
  }

  [[nodiscard]] bool context_is_free() const {
    const bool given = scenario::looked_up(scenario_.cost) == nullptr;
    return given && server_.target_step.context_us == 0.0 && server_.drafter_step.context_us == 0.0;
  }

  /// Distribution of the tokens that all of `rows` sequences accept, each independently.
  [[nodiscard]] std::vector<double> tokens_of_iteration(double rows) const {
    if (const auto* iid = std::get_if<Iid>(&server_.acceptance)) {
      return tokens_pmf({std::pow(iid->alpha, rows), scenario_.gamma, scenario_.convention});
    }
    std::vector<double> marginal = marginal_of(server_.acceptance, scenario_.gamma).value();
    for (double& entry : marginal) entry = std::pow(entry, rows);
    return tokens_pmf(marginal, scenario_.gamma, scenario_.convention);
  }

  /// Output tokens emitted by iterations: all except the one of prefill.
  [[nodiscard]] double decoded_tokens() const { return server_.output.tokens - (has_prompt() ? 1.0 : 0.0); }

  [[nodiscard]] double mean_iterations(const std::vector<double>& pmf) const {
    if (!server_.output.geometric) {
      return expected_iterations(pmf, static_cast<std::int64_t>(decoded_tokens()), stop_);
    }
    // A geometric output that goes on after its first token has the same distribution from there on.
    const double goes_on = decoded_tokens() / server_.output.tokens;
    return goes_on * expected_iterations_geometric(pmf, server_.output.tokens);
  }

  [[nodiscard]] double iteration_us() const { return passes_.iteration_us(server_.max_batch, 0.0); }

  void add_full_server(const std::vector<double>& pmf, double iterations, ClosedForm& answer) const {
    if (!context_is_free() || has_prompt()) return;
    const bool ragged = server_.batching == Batching::ragged && server_.max_batch > 1;
    if (ragged && server_.output.geometric) return;
    const double iterations_of_batch =
        ragged ? slowest_iterations(iterations_survival(pmf, static_cast<std::int64_t>(server_.output.tokens), stop_),
                                    server_.max_batch)
               : iterations;
    const double rows = static_cast<double>(server_.max_batch);
    const double requests_per_s = rows / (iterations_of_batch * iteration_us() * 1e-6);
    answer.tokens_per_s = requests_per_s * server_.output.tokens;
    if (server_.batching != Batching::continuous) return;
    // Little's law: the number of clients is constant.
    const double latency_ms = 1e3 * static_cast<double>(server_.arrivals.clients) / requests_per_s;
    answer.latency_ms = latency_ms;
    answer.wait_ms = std::max(0.0, latency_ms - 1e-3 * iterations * iteration_us());
  }

  void add_queue(const std::vector<double>& pmf, ClosedForm& answer) const {
    if (!context_is_free() || server_.output.geometric || !prompts_are_alike()) return;
    const double prompt_us = has_prompt() ? passes_.prompt_us(1) : 0.0;
    double mean = 0.0;
    double second_moment = 0.0;
    if (decoded_tokens() > 0.0) {
      const auto survival = iterations_survival(pmf, static_cast<std::int64_t>(decoded_tokens()), stop_);
      mean = slowest_iterations(survival, 1);
      second_moment = iterations_second_moment(survival);
    }
    const double iteration = iteration_us();
    const double service_us = prompt_us + mean * iteration;
    if (service_us == 0.0) return;
    const double square =
        prompt_us * prompt_us + 2.0 * prompt_us * mean * iteration + second_moment * iteration * iteration;
    const double wait_us =
        poisson_queue_wait(1e-6 * server_.arrivals.rate_per_s, {.mean = service_us, .second_moment = square});
    answer.wait_ms = 1e-3 * wait_us;
    answer.latency_ms = 1e-3 * (wait_us + service_us);
    if (std::isfinite(wait_us)) {
      answer.tokens_per_s = server_.arrivals.rate_per_s * server_.output.tokens;
    }
  }

  const Server& server_;
  const Scenario& scenario_;
  StopToken stop_;
  ServedPasses passes_;
};

}  // namespace

ClosedForm server_answer(const Server& server, const Scenario& scenario, StopToken stop) {
  return ServerForms(server, scenario, stop).answer();
}

namespace {

bool has_one_length(const TokenCount& count) { return count.spread == 0 && !count.geometric; }

const Server& checked_server(const Scenario& scenario) {
  const auto* server = std::get_if<Server>(&scenario.fidelity);
  const bool answered = server != nullptr && server->gamma_schedule.empty() &&
                        server->batching == Batching::continuous && server->arrivals.kind == ArrivalKind::poisson &&
                        has_one_length(server->prompt) && has_one_length(server->output) &&
                        server->output.tokens >= 2.0;
  if (answered) return *server;
  throw DomainError(
      "no load equilibrium for this server (must have Poisson arrivals, continuous batching, one draft length, one "
      "prompt length and one output length of at least 2 tokens)");
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

LoadEquilibrium load_answer(const Scenario& scenario, StopToken stop) {
  const Server& server = checked_server(scenario);
  const ServedPasses passes(server, scenario);
  const bool has_prompt = server.prompt.tokens > 0.0;
  const double decoded = server.output.tokens - (has_prompt ? 1.0 : 0.0);
  const auto distribution =
      iteration_distribution({.fidelity = ProcessFidelity{.acceptance = server.acceptance,
                                                          .sequence_length = SequenceLength{.tokens = decoded}},
                              .gamma = scenario.gamma,
                              .convention = scenario.convention},
                             unknown<double>, stop);
  if (!distribution.iterations) throw DomainError("no closed form for this acceptance process");
  const double context = server.prompt.tokens + 0.5 * server.output.tokens;
  ServedLoad load{.requests_per_s = server.arrivals.rate_per_s,
                  .iterations = *distribution.iterations,
                  .max_batch = server.max_batch,
                  .iteration_us = [&](std::int64_t batch) { return passes.iteration_us(batch, context); }};
  if (has_prompt) load.prompt_us = [&](std::int64_t prompts) { return passes.prompt_us(prompts); };
  return load_equilibrium(load);
}

}  // namespace foredraft::analytic
