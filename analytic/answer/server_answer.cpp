// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>
#include <vector>

#include "analytic/answer/answer.hpp"
#include "analytic/answer/server_passes.hpp"
#include "analytic/cost/load_equilibrium.hpp"
#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"
#include "scenario/cost.hpp"

namespace foredraft::analytic {
namespace {

/// Maximum output length: closed forms here take quadratic time.
constexpr double longest_answer = 4096.0;

bool has_one_length(const TokenCount& count) { return count.spread == 0 && !count.geometric && count.p95 == 0.0; }

/// Computes server_answer().
class ServerForms {
 public:
  ServerForms(const Server& server, const Scenario& scenario, StopToken stop)
      : server_(server), scenario_(scenario), stop_(stop), passes_(server, scenario) {}

  [[nodiscard]] ClosedForm answer() const {
    ClosedForm answer;
    if (!scenario::has_independent_iterations(server_.acceptance)) return answer;
    if (server_.arrivals.kind == ArrivalKind::recorded) return answer;
    if (!server_.gamma_schedule.empty() || !answers_are_simple() || !prompts_are_simple()) return answer;
    const bool lockstep = server_.batching == Batching::lockstep && server_.max_batch > 1;
    // Sequences in lockstep with the same start and length behave like one sequence that accepts the minimum of all.
    const bool one_row = lockstep && full() && !server_.output.geometric;
    if (lockstep && !one_row) return answer;
    const std::vector<double> pmf = tokens_of_iteration(one_row ? static_cast<double>(server_.max_batch) : 1.0);
    const double iterations = mean_iterations(pmf);
    if (iterations > 0.0) {
      answer.tokens_per_iteration = decoded_tokens() / iterations;
      answer.memory_access_factor = iterations / decoded_tokens();
    }
    // If acceptance depends on the position, the ends of outputs matter: they reduce the tests of later drafts.
    const auto* iid = std::get_if<Iid>(&server_.acceptance);
    if (scenario_.gamma > 0 && iid != nullptr) answer.per_token = iid->alpha;
    if (full()) add_full_server(pmf, iterations, answer);
    if (server_.max_batch == 1 && server_.arrivals.kind == ArrivalKind::poisson) add_queue(pmf, answer);
    return answer;
  }

 private:
  [[nodiscard]] bool answers_are_simple() const {
    return server_.output.spread == 0 && server_.output.p95 == 0.0 && server_.output.tokens <= longest_answer;
  }
  /// True if there are no prompts, or each is read in a prefill pass that yields a token.
  [[nodiscard]] bool prompts_are_simple() const {
    const TokenCount& prompt = server_.prompt;
    return !has_prompt() || prompt.geometric || prompt.tokens - static_cast<double>(prompt.spread) >= 1.0;
  }
  /// True if each prompt is read in a separate pass and all take the same time.
  [[nodiscard]] bool prompts_are_alike() const {
    const bool alone = server_.engine.prefill == Prefill::alone || !has_prompt();
    return alone && has_one_length(server_.prompt);
  }
  [[nodiscard]] bool has_prompt() const { return server_.prompt.tokens > 0.0; }

  /// True if the batch is always full.
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
    // After its first token, the remaining length of a geometric output has the same distribution.
    const double goes_on = decoded_tokens() / server_.output.tokens;
    return goes_on * expected_iterations_geometric(pmf, server_.output.tokens);
  }

  [[nodiscard]] double iteration_us() const { return passes_.iteration_us(server_.max_batch); }

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

}  // namespace foredraft::analytic
