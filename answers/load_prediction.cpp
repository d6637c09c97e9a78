// SPDX-License-Identifier: Apache-2.0
#include "answers/load_prediction.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "analytic/answer/answer.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "core/check.hpp"
#include "foredraft/scenario.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/processes.hpp"
#include "scenario/server.hpp"
#include "sim/simulate.hpp"
#include "sim/tally.hpp"

namespace foredraft::answers {
namespace {

/// Of a simulation at one rate. Every one reads the same random numbers, so that answers at two rates differ by the
/// rates and not by the draws. 2,000 requests: 20 of them are slower than the 99th percentile.
constexpr std::uint64_t load_seed = 1;
constexpr std::uint64_t load_replicas = 4;
constexpr std::uint64_t load_requests = 2000;
constexpr std::uint64_t min_warmup = 64;
/// Requests that are answered before the measured ones, over those that are in flight at once.
constexpr double warmup_turnovers = 4.0;

/// The largest rate is found to one part of 2^halvings of what a full batch keeps up with.
constexpr int halvings = 7;

constexpr std::string_view no_prompts =
    "add --prompt-device D, a data sheet for the prompts (foredraft list devices), or take --device in place of this "
    "profile";

/// How far verifications and what an iteration takes beside its passes may be off.
struct TimesError {
  double verification = 1.0;  ///< so many times what is predicted
  std::optional<double> iteration_us = {};
};

/// The servers of a question: one scenario a draft length.
class Servers {
 public:
  Servers(const LoadQuestion& question, const ProfileQuestion& pair, const latency::Profile& profile,
          const TimesError& error = {})
      : question_(question), pair_(pair), memory_(limit_of(question, pair, profile)) {
    latency::TimedPair models = timed_pair_of(pair, profile);
    auto& attainable = models.sheet.attainable;
    if (attainable && error.iteration_us) attainable->iteration_us.value = *error.iteration_us;
    models.prompts = question.prompts;
    models.verification = error.verification;
    cost_.source = question.source;
    cost_.times = latency::surface_times(profile, question.source, models, drafter());
  }

  [[nodiscard]] Scenario scenario(std::int64_t gamma, std::int64_t max_batch, double requests_per_s) const {
    const Convention convention = convention_at(gamma);
    Server server{.acceptance = analytic::served_acceptance(acceptance_of(pair_), gamma, convention),
                  .max_batch = max_batch,
                  .arrivals = {.kind = ArrivalKind::poisson, .rate_per_s = requests_per_s},
                  .prompt = {.tokens = static_cast<double>(question_.prompt_tokens)},
                  .output = {.tokens = static_cast<double>(question_.output_tokens)},
                  .overhead_us = pair_.overhead_us};
    return {
        .fidelity = std::move(server), .gamma = gamma, .convention = convention, .drafter = drafter(), .cost = cost_};
  }

  /// The largest batch at a draft length, and why.
  void limit_batch(AtRate& at) const {
    at.max_batch = question_.max_batch;
    const std::int64_t tokens = std::max<std::int64_t>(1, max_tokens(at.gamma, convention_at(at.gamma)));
    if (memory_ && !pair_.ignore_memory) {
      latency::MemoryLimit limit = *memory_;
      if (at.gamma == 0) limit.models.draft.reset();
      const std::int64_t fitting = limit.max_batch(tokens, longest());
      if (fitting < at.max_batch) {
        at.max_batch = fitting;
        at.limit = BatchLimit::memory;
      }
    }
    if (at.max_batch == 0 || is_timed(at.gamma, at.max_batch)) return;
    // What steps time at a batch they time at smaller ones.
    std::int64_t timed = 0;
    for (std::int64_t beyond = at.max_batch; beyond - timed > 1;) {
      const std::int64_t batch = timed + (beyond - timed) / 2;
      (is_timed(at.gamma, batch) ? timed : beyond) = batch;
    }
    if (timed == 0) ask(at.gamma, 1);  // says what is missing
    at.max_batch = timed;
    at.limit = BatchLimit::times;
  }

  /// Throws DomainError where no pass over a prompt is timed.
  void check_prompts() const {
    const StepShape pass{.batch = 1, .tokens = question_.prompt_tokens, .context = 0.0, .prompt = true};
    try {
      static_cast<void>(cost_.times->target_us(pass, Convention::bonus));
      static_cast<void>(cost_.times->drafter_us(pass));
    } catch (const DomainError& error) {
      throw DomainError(fmt::format("the pass over a prompt of {} tokens is not timed ({}) - {}",
                                    question_.prompt_tokens, error.what(), no_prompts));
    }
  }

 private:
  static std::optional<latency::MemoryLimit> limit_of(const LoadQuestion& question, const ProfileQuestion& pair,
                                                      const latency::Profile& profile) {
    const auto limit_on = [&pair](const latency::Profile& device) {
      return latency::memory_limit(device, timed_pair_of(pair, device), pair.drafting, pair.memory_utilization);
    };
    if (auto limit = limit_on(profile)) return limit;
    // A table of steps has neither shapes nor memory; the device of its prompts does.
    return question.prompts ? limit_on(question.prompts->profile) : std::nullopt;
  }

  [[nodiscard]] Drafter drafter() const {
    return scenario::find_entry(scenario::drafters(), latency::drafter_word(pair_.drafting))->value;
  }
  /// Autoregressive decoding has no convention of its own.
  [[nodiscard]] Convention convention_at(std::int64_t gamma) const {
    return gamma == 0 ? Convention::bonus : pair_.convention;
  }
  [[nodiscard]] std::int64_t longest() const { return question_.prompt_tokens + question_.output_tokens; }

  void ask(std::int64_t gamma, std::int64_t batch) const {
    const std::int64_t tokens = max_tokens(gamma, convention_at(gamma));
    for (const std::int64_t context : {question_.prompt_tokens, longest()}) {
      const auto held = static_cast<double>(context);
      static_cast<void>(
          cost_.times->target_us({.batch = batch, .tokens = tokens, .context = held}, convention_at(gamma)));
      if (gamma == 0) continue;
      const bool one_by_one = pair_.drafting == latency::Role::autoregressive_drafting;
      static_cast<void>(cost_.times->drafter_us({.batch = batch, .tokens = one_by_one ? 1 : gamma, .context = held}));
    }
  }
  [[nodiscard]] bool is_timed(std::int64_t gamma, std::int64_t batch) const {
    try {
      ask(gamma, batch);
    } catch (const DomainError&) {
      return false;
    }
    return true;
  }

  const LoadQuestion& question_;
  const ProfileQuestion& pair_;
  std::optional<latency::MemoryLimit> memory_;
  Measured cost_;
};

/// Several times the requests in flight by closed form, so that nothing is left of the empty server at the start.
std::uint64_t warmup_of(const analytic::LoadEquilibrium& equilibrium, std::int64_t max_batch) {
  const double in_flight = std::min(equilibrium.decoding + equilibrium.waiting, static_cast<double>(max_batch));
  return min_warmup + static_cast<std::uint64_t>(std::ceil(warmup_turnovers * in_flight));
}

Estimates served_at(const Scenario& scenario, const analytic::LoadEquilibrium& equilibrium, StopToken stop) {
  const auto& server = std::get<Server>(scenario.fidelity);
  const SimulationPlan plan{.seed = load_seed,
                            .requests = load_requests,
                            .replicas = load_replicas,
                            .warmup_requests = warmup_of(equilibrium, server.max_batch)};
  const auto simulator = sim::make_simulator(scenario, plan, stop);
  const sim::Tally tally = sim::run(*simulator, {.seed = load_seed, .point = 0, .stop = stop}, 0);
  sim::check_conservation(tally);
  return sim::estimates_of(scenario, tally).estimates;
}

bool meets(const Objective& objective, const Estimates& served) {
  return (!objective.ttft_ms || served.first_token_p99_ms.mean <= *objective.ttft_ms) &&
         (!objective.tpot_ms || served.tpot_p99_ms.mean <= *objective.tpot_ms);
}

/// The largest rate that meets the objective, in requests a second; 0: none does.
double rate_within(const Objective& objective, const Servers& servers, const AtRate& at, StopToken stop) {
  const double capacity = at.equilibrium.capacity_per_s;
  double met = 0.0;
  double missed = capacity;
  for (int i = 0; i < halvings; ++i) {
    const double rate = 0.5 * (met + missed);
    const Scenario scenario = servers.scenario(at.gamma, at.max_batch, rate);
    const bool kept = meets(objective, served_at(scenario, analytic::load_answer(scenario, stop), stop));
    (kept ? met : missed) = rate;
  }
  return met;
}

AtRate at_rate(const LoadQuestion& question, const Servers& servers, std::int64_t gamma, std::int64_t gpus,
               StopToken stop) {
  AtRate at{.gamma = gamma};
  servers.limit_batch(at);
  if (at.max_batch == 0) return at;
  const Scenario scenario = servers.scenario(gamma, at.max_batch, question.requests_per_s);
  at.equilibrium = analytic::load_answer(scenario, stop);
  if (!at.equilibrium.overloaded) at.served = served_at(scenario, at.equilibrium, stop);
  double rate = at.equilibrium.capacity_per_s;
  if (question.objective.any()) {
    at.meets_objective = at.served && meets(question.objective, *at.served);
    rate = rate_within(question.objective, servers, at, stop);
  }
  at.requests_per_s_per_gpu = rate / static_cast<double>(gpus);
  if (question.gpu_hour_price && rate > 0.0) {
    at.cost_per_million = analytic::price_per_million_tokens(
        *question.gpu_hour_price, at.requests_per_s_per_gpu * static_cast<double>(question.output_tokens));
  }
  return at;
}

std::optional<LoadSpeedup> speedup_of(const std::optional<Estimates>& plain, const std::optional<Estimates>& served) {
  if (!plain || !served) return std::nullopt;
  return LoadSpeedup{.request = plain->latency_ms.mean / served->latency_ms.mean,
                     .decode = plain->tpot_ms.mean / served->tpot_ms.mean};
}

/// The ends of what the error of the times leaves open at a draft length, the faster one first; nothing: not known.
std::optional<std::array<TimesError, 2>> errors_of(const ProfilePrediction& decoding, std::int64_t gamma) {
  if (const auto& attainable = decoding.attainable) {
    const Interval& growth = decoding.cells.front().at(gamma).verification_range;
    const latency::Range& between = attainable->iteration_us;
    return std::array{TimesError{growth.low, between.low}, TimesError{growth.high, between.high}};
  }
  const auto spread = decoding.cells.front().at(gamma).spread;
  if (!spread) return std::nullopt;
  return std::array{TimesError{1.0 / (1.0 + *spread), {}}, TimesError{1.0 + *spread, {}}};
}

/// The same server with its times at the ends of their error.
void add_intervals(const LoadPrediction& prediction, const ProfileQuestion& pair, const latency::Profile& profile,
                   AtRate& at, StopToken stop) {
  const auto errors = errors_of(prediction.decoding, at.gamma);
  if (!at.speedup || !errors) return;
  std::array<LoadSpeedup, 2> ends{};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Servers servers(prediction.question, pair, profile, errors->at(i));
    const Scenario scenario = servers.scenario(at.gamma, at.max_batch, prediction.question.requests_per_s);
    const analytic::LoadEquilibrium equilibrium = analytic::load_answer(scenario, stop);
    if (equilibrium.overloaded) continue;
    ends.at(i) = speedup_of(prediction.plain().served, served_at(scenario, equilibrium, stop)).value();
  }
  at.request_interval = {ends[1].request, ends[0].request};
  at.decode_interval = {ends[1].decode, ends[0].decode};
}

void choose_best(LoadPrediction& prediction) {
  const auto request_ms = [](const AtRate& at) { return at.served->latency_ms.mean; };
  const AtRate* fastest = nullptr;
  const AtRate* fullest = nullptr;
  for (const AtRate& at : prediction.lengths) {
    if (at.answers() && (fastest == nullptr || request_ms(at) < request_ms(*fastest))) fastest = &at;
    const double rate = at.requests_per_s_per_gpu;
    if (rate > 0.0 && (fullest == nullptr || rate > fullest->requests_per_s_per_gpu)) fullest = &at;
  }
  if (fastest != nullptr) prediction.best_latency = fastest->gamma;
  if (fullest != nullptr) prediction.best_throughput = fullest->gamma;
}

}  // namespace

const AtRate* LoadPrediction::shown() const {
  const std::optional<std::int64_t> gamma = question.pair.gamma ? question.pair.gamma : best_latency;
  return gamma ? &at(*gamma) : nullptr;
}

LoadPrediction predict_load(const LoadQuestion& question, const latency::Profile& profile, StopToken stop,
                            const std::function<void(double)>& progress) {
  check_positive("requests_per_s", question.requests_per_s);
  check_at_least("prompt_tokens", question.prompt_tokens, 1);
  check_at_least("output_tokens", question.output_tokens, 2);
  ProfileQuestion pair = question.pair;
  pair.batches = {1};
  pair.contexts = {question.prompt_tokens};
  LoadPrediction prediction{.question = question, .decoding = predict(pair, profile), .evidence = {}};
  pair = prediction.decoding.question;  // with the longest draft that is timed
  prediction.evidence = evidence_of(prediction.decoding);
  prediction.gpus = std::max(devices_of(pair.target_deployment), devices_of(pair.draft_deployment));
  for (const latency::ModelDeployment& one : profile.deployments) {
    prediction.gpus = std::max(prediction.gpus, one.tensor_parallel);
  }
  const Servers servers(question, pair, profile);
  servers.check_prompts();
  const auto lengths = static_cast<std::size_t>(max_drafts(pair)) + 1;
  for (std::size_t gamma = 0; gamma < lengths; ++gamma) {
    stop.check();
    prediction.lengths.push_back(at_rate(question, servers, static_cast<std::int64_t>(gamma), prediction.gpus, stop));
    AtRate& at = prediction.lengths.back();
    at.speedup = speedup_of(prediction.plain().served, at.served);
    if (gamma > 0) {
      at.tokens = prediction.decoding.cells.front().at(at.gamma).tokens;
      add_intervals(prediction, pair, profile, at, stop);
    }
    if (progress) progress(static_cast<double>(gamma + 1) / static_cast<double>(lengths));
  }
  choose_best(prediction);
  return prediction;
}

}  // namespace foredraft::answers
