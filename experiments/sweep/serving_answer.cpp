// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "analytic/cost/batch_pass.hpp"
#include "analytic/cost/queue_wait.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/iid_tokens.hpp"
#include "experiments/sweep/answer.hpp"
#include "sim/iteration_shape.hpp"
#include "sim/serving_estimates.hpp"

namespace foredraft::experiments {
namespace {

/// Answers longer than this have no closed form here: it takes their square.
constexpr double longest_answer = 4096.0;

analytic::BatchPass pass_of(const sim::RooflineStep& step) {
  return {.launch = step.launch_us, .weights = step.weights_us, .context = step.context_us, .token = step.token_us};
}

/// The closed forms of a server: lengths that do not vary but geometrically, and iterations that all take the same
/// time.
class ServingForms {
 public:
  explicit ServingForms(const PointInputs& inputs) : inputs_(inputs), serving_(inputs.serving) {}

  [[nodiscard]] AnalyticAnswer answer() const {
    AnalyticAnswer answer;
    if (!serving_.gamma_schedule.empty() || !answers_are_simple() || !prompts_are_simple()) return answer;
    const bool lockstep = serving_.batching == sim::Batching::lockstep && serving_.max_batch > 1;
    // Rows in lockstep that were taken together, and all of one length, are one row that accepts what all accept.
    const bool one_row = lockstep && full() && !serving_.output.geometric;
    if (lockstep && !one_row) return answer;
    const double together = one_row ? static_cast<double>(serving_.max_batch) : 1.0;
    const std::vector<double> pmf = tokens_of_iteration(std::pow(inputs_.alpha, together));
    const double iterations = mean_iterations(pmf);
    if (iterations > 0.0) {
      answer[tokens_per_iteration_metric] = decoded_tokens() / iterations;
      answer[memory_access_factor_metric] = iterations / decoded_tokens();
    }
    if (inputs_.gamma > 0) answer[per_token_metric] = inputs_.alpha;
    if (full()) add_full_server(pmf, iterations, answer);
    if (serving_.max_batch == 1 && serving_.arrivals.kind == sim::ArrivalKind::poisson) add_queue(pmf, answer);
    return answer;
  }

 private:
  [[nodiscard]] bool answers_are_simple() const {
    return serving_.output.spread == 0 && serving_.output.tokens <= longest_answer;
  }
  /// Whether none of them is read, or each in a pass that yields a token.
  [[nodiscard]] bool prompts_are_simple() const {
    const sim::LengthLaw& prompt = serving_.prompt;
    return !has_prompt() || prompt.geometric || prompt.tokens - static_cast<double>(prompt.spread) >= 1.0;
  }
  [[nodiscard]] bool prompts_are_alike() const { return serving_.prompt.spread == 0 && !serving_.prompt.geometric; }
  [[nodiscard]] bool has_prompt() const { return serving_.prompt.tokens > 0.0; }

  /// Whether every place of the batch is always taken.
  [[nodiscard]] bool full() const {
    return serving_.arrivals.kind == sim::ArrivalKind::closed && serving_.arrivals.clients >= serving_.max_batch;
  }

  [[nodiscard]] bool context_is_free() const {
    const bool given = find_cost(inputs_.cost).step_times == nullptr;
    return given && serving_.target_step.context_us == 0.0 && serving_.drafter_step.context_us == 0.0;
  }

  [[nodiscard]] std::vector<double> tokens_of_iteration(double alpha) const {
    const analytic::IidIteration iteration{alpha, inputs_.gamma, inputs_.convention};
    std::vector<double> pmf;
    for (std::int64_t k = 1; k <= max_tokens(inputs_.gamma, inputs_.convention); ++k) {
      pmf.push_back(analytic::tokens_probability(iteration, k));
    }
    return pmf;
  }

  /// Tokens of an answer that iterations emit: all but the one that its prompt yields.
  [[nodiscard]] double decoded_tokens() const { return serving_.output.tokens - (has_prompt() ? 1.0 : 0.0); }

  [[nodiscard]] double mean_iterations(const std::vector<double>& pmf) const {
    if (!serving_.output.geometric) {
      return analytic::expected_iterations(pmf, static_cast<std::int64_t>(decoded_tokens()));
    }
    // Behind its first token a geometric answer is as long again, if it goes on at all.
    const double goes_on = decoded_tokens() / serving_.output.tokens;
    return goes_on * analytic::expected_iterations_geometric(pmf, serving_.output.tokens);
  }

  [[nodiscard]] double iteration_us() const {
    const std::int64_t passes = draft_passes(inputs_.gamma, inputs_.drafting);
    const std::int64_t drafted = inputs_.drafting == Drafting::block ? inputs_.gamma : 1;
    const double verify = analytic::pass_time(pass_of(serving_.target_step), serving_.max_batch,
                                              max_tokens(inputs_.gamma, inputs_.convention), 0.0);
    if (passes == 0) return verify;
    return verify + static_cast<double>(passes) *
                        analytic::pass_time(pass_of(serving_.drafter_step), serving_.max_batch, drafted, 0.0);
  }

  void add_full_server(const std::vector<double>& pmf, double iterations, AnalyticAnswer& answer) const {
    if (!context_is_free() || has_prompt()) return;
    const bool ragged = serving_.batching == sim::Batching::ragged && serving_.max_batch > 1;
    if (ragged && serving_.output.geometric) return;
    const double iterations_of_batch =
        ragged ? analytic::slowest_iterations(
                     analytic::iterations_survival(pmf, static_cast<std::int64_t>(serving_.output.tokens)),
                     serving_.max_batch)
               : iterations;
    const double rows = static_cast<double>(serving_.max_batch);
    const double requests_per_s = rows / (iterations_of_batch * iteration_us() * 1e-6);
    answer[tokens_per_s_metric] = requests_per_s * serving_.output.tokens;
    if (serving_.batching != sim::Batching::continuous) return;
    // Little's law: so many clients are always there.
    const double latency_ms = 1e3 * static_cast<double>(serving_.arrivals.clients) / requests_per_s;
    answer[latency_metric] = latency_ms;
    answer[wait_metric] = std::max(0.0, latency_ms - 1e-3 * iterations * iteration_us());
  }

  void add_queue(const std::vector<double>& pmf, AnalyticAnswer& answer) const {
    if (!context_is_free() || serving_.output.geometric || !prompts_are_alike()) return;
    double prompt_us = 0.0;
    if (has_prompt()) {
      const auto tokens = static_cast<std::int64_t>(serving_.prompt.tokens);
      prompt_us = analytic::pass_time(pass_of(serving_.target_step), 1, tokens, 0.0);
      if (draft_passes(inputs_.gamma, inputs_.drafting) > 0) {
        prompt_us += analytic::pass_time(pass_of(serving_.drafter_step), 1, tokens, 0.0);
      }
    }
    double mean = 0.0;
    double second_moment = 0.0;
    if (decoded_tokens() > 0.0) {
      const auto survival = analytic::iterations_survival(pmf, static_cast<std::int64_t>(decoded_tokens()));
      mean = analytic::slowest_iterations(survival, 1);
      second_moment = analytic::iterations_second_moment(survival);
    }
    const double iteration = iteration_us();
    const double service_us = prompt_us + mean * iteration;
    if (service_us == 0.0) return;
    const double square =
        prompt_us * prompt_us + 2.0 * prompt_us * mean * iteration + second_moment * iteration * iteration;
    const double wait_us = analytic::poisson_queue_wait(1e-6 * serving_.arrivals.rate_per_s,
                                                        {.mean = service_us, .second_moment = square});
    answer[wait_metric] = 1e-3 * wait_us;
    answer[latency_metric] = 1e-3 * (wait_us + service_us);
    if (std::isfinite(wait_us)) {
      answer[tokens_per_s_metric] = serving_.arrivals.rate_per_s * serving_.output.tokens;
    }
  }

  const PointInputs& inputs_;
  const ServingInputs& serving_;
};

/// A share of `total`, in whole batches where a batch begins and ends as one.
std::uint64_t whole_batches(std::uint64_t requests, const ServingInputs& serving) {
  if (serving.batching == sim::Batching::continuous) return requests;
  const auto batch = static_cast<std::uint64_t>(serving.max_batch);
  return (requests + batch - 1) / batch * batch;
}

std::vector<sim::GammaRange> gamma_of_batches(const PointInputs& inputs) {
  const ServingInputs& serving = inputs.serving;
  if (!serving.gamma_schedule.empty()) return serving.gamma_schedule;
  return {{1, serving.max_batch, inputs.gamma}};
}

StepTimes step_times(const PointInputs& inputs) {
  const CostEntry& cost = find_cost(inputs.cost);
  if (cost.step_times == nullptr) return {inputs.serving.target_step, inputs.serving.drafter_step};
  return cost.step_times(cost_setting(inputs));
}

}  // namespace

AnalyticAnswer serving_answer(const PointInputs& inputs) { return ServingForms(inputs).answer(); }

std::unique_ptr<sim::Simulator> make_server(const PointInputs& inputs, const SimulationPlan& plan) {
  const ServingInputs& serving = inputs.serving;
  StepTimes times = step_times(inputs);
  const std::uint64_t share = (plan.requests + plan.replicas - 1) / plan.replicas;
  return sim::make_serving_simulator(
      {.alpha = inputs.alpha,
       .gamma = gamma_of_batches(inputs),
       .convention = inputs.convention,
       .drafting = inputs.drafting,
       .batching = serving.batching,
       .max_batch = serving.max_batch,
       .arrivals = serving.arrivals,
       .prompt = serving.prompt,
       .output = serving.output,
       .target_us = std::move(times.target_us),
       .drafter_us = std::move(times.drafter_us),
       .latency_goal_us = serving.latency_goal_us.value_or(std::numeric_limits<double>::infinity()),
       .requests = whole_batches(share, serving),
       .warmup_requests = whole_batches(plan.warmup_requests, serving),
       .replicas = plan.replicas});
}

void ask_extreme_passes(const PointInputs& inputs) {
  const ServingInputs& serving = inputs.serving;
  const StepTimes times = step_times(inputs);
  const auto longest_prompt = static_cast<std::int64_t>(serving.prompt.tokens) + serving.prompt.spread;
  const double longest = serving.prompt.tokens + serving.output.tokens +
                         static_cast<double>(serving.prompt.spread + serving.output.spread);
  const auto ask = [&](const sim::IterationShape& shape, sim::StepShape pass) {
    pass.tokens = pass.prompt ? longest_prompt : shape.max_tokens();
    static_cast<void>(times.target_us(pass));
    if (shape.draft_passes() == 0) return;
    if (!pass.prompt) pass.tokens = shape.drafting == Drafting::block ? shape.gamma : 1;
    static_cast<void>(times.drafter_us(pass));
  };
  for (const auto& [from, to, gamma] : gamma_of_batches(inputs)) {
    const sim::IterationShape shape{gamma, inputs.convention, inputs.drafting};
    for (const std::int64_t batch : {from, std::min(to, serving.max_batch)}) {
      for (const double context : {serving.prompt.tokens, longest}) {
        ask(shape, {.batch = batch, .tokens = 0, .context = context});
      }
      if (longest_prompt > 0) ask(shape, {.batch = batch, .tokens = 0, .context = 0.0, .prompt = true});
    }
  }
}

void add_serving_estimates(const PointInputs& inputs, const sim::ServingTally& tally, SimulatedAnswer& answer) {
  const sim::ServingEstimates serving = sim::serving_estimates(tally);
  auto& estimates = answer.estimates;
  estimates[tokens_per_s_metric] = serving.tokens_per_s;
  if (inputs.serving.latency_goal_us) estimates[goodput_metric] = serving.goodput_tokens_per_s;
  estimates[mean_batch_metric] = serving.mean_batch;
  estimates[mean_in_system_metric] = serving.mean_in_system;
  estimates[wait_metric] = serving.wait_ms;
  const auto add = [&](std::size_t first, const sim::DurationEstimates& duration) {
    estimates[first] = duration.mean_ms;
    estimates[first + 1] = duration.p50_ms;
    estimates[first + 2] = duration.p95_ms;
    estimates[first + 3] = duration.p99_ms;
  };
  add(latency_metric, serving.latency);
  add(first_token_metric, serving.first_token);
  add(per_token_latency_metric, serving.per_token);
}

}  // namespace foredraft::experiments
