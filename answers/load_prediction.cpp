// SPDX-License-Identifier: Apache-2.0
#include "answers/load_prediction.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analytic/answer/answer.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "answers/load_budget.hpp"
#include "answers/load_server.hpp"
#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/estimates.hpp"
#include "sim/simulate.hpp"
#include "sim/simulator.hpp"
#include "sim/tally.hpp"

namespace foredraft::answers {
namespace {

/// Seed of every simulation. Simulations use the same random numbers, so that answers at two loads do not differ by
/// their draws. With 2,000 requests, 20 are slower than the 99th percentile.
constexpr std::uint64_t load_seed = 1;
constexpr std::uint64_t load_replicas = 4;
constexpr std::uint64_t load_requests = 2000;
/// Requests per simulation while searching for the maximum load that meets an objective.
constexpr std::uint64_t search_requests = 500;
constexpr std::uint64_t min_warmup = 64;
/// Warm-up requests divided by the requests in flight.
constexpr double warmup_turnovers = 4.0;

/// The maximum load is found with a resolution of 2^-halvings of what a full batch sustains.
constexpr int halvings = 7;
/// Number of the last halvings, which simulate as many requests as the answer.
constexpr int exact_halvings = 3;

/// Measured under load in engines, divided by the prediction from data sheets or operators: verification of 100 to 400
/// tokens over a decode step, and prefill (docs/load.md).
constexpr Interval loaded_verification{0.77, 1.42};
constexpr Interval prompt_passes{0.80, 1.25};

/// Relative difference of ties, which go to the smaller gamma.
constexpr double near_fastest = 0.005;

/// Arrivals for the closed form. Recorded arrivals count as Poisson arrivals at their mean rate.
Arrivals mean_arrivals(const LoadQuestion& question) {
  if (question.arrivals.kind != ArrivalKind::recorded) return question.arrivals;
  const auto& requests = question.recorded->requests;
  const double seconds = requests.back().arrival_s - requests.front().arrival_s;
  if (!(seconds > 0.0)) {
    throw DomainError("the recorded requests arrive all at once (a load needs times that differ)");
  }
  return {.kind = ArrivalKind::poisson, .rate_per_s = static_cast<double>(requests.size() - 1) / seconds};
}

/// Several times the closed-form requests in flight, so that the empty server at the start has no effect.
std::uint64_t warmup_of(const analytic::LoadEquilibrium& equilibrium) {
  return min_warmup + static_cast<std::uint64_t>(std::ceil(warmup_turnovers * equilibrium.in_flight));
}

Estimates served_at(const Scenario& scenario, const analytic::LoadEquilibrium& equilibrium, std::uint64_t requests,
                    StopToken stop) {
  const SimulationPlan plan{
      .seed = load_seed, .requests = requests, .replicas = load_replicas, .warmup_requests = warmup_of(equilibrium)};
  const auto simulator = sim::make_simulator(scenario, plan, stop);
  const sim::Tally tally = sim::run(*simulator, {.seed = load_seed, .point = 0, .stop = stop}, 0);
  sim::check_conservation(tally);
  return sim::estimates_of(scenario, tally).estimates;
}

bool meets(const Objective& objective, const Estimates& served) {
  return (!objective.ttft_ms || served.first_token_p99_ms.mean <= *objective.ttft_ms) &&
         (!objective.tpot_ms || served.tpot_p99_ms.mean <= *objective.tpot_ms);
}

/// Answers to one question with one profile: its servers and the errors of their times.
class LoadAtProfile {
 public:
  LoadAtProfile(const LoadPrediction& prediction, const LoadServers& servers, std::vector<LoadServers> others,
                StopToken stop)
      : prediction_(prediction),
        question_(prediction.question),
        servers_(servers),
        others_(std::move(others)),
        stop_(stop),
        arrivals_(mean_arrivals(question_)) {}

  /// `plain`: the answer without speculation; null to compute that one.
  [[nodiscard]] AtLoad answer(AtLoad at, const AtLoad* plain) const {
    servers_.limit_batch(at);
    if (at.max_batch == 0) return at;
    at.equilibrium = analytic::load_answer(servers_.scenario(at, arrivals_), stop_);
    at.beyond_graphs = servers_.beyond_graphs(at);
    at.memory_bytes = servers_.memory_bytes(at);
    if (plain != nullptr && plain->answers() && at.answers()) {
      at.speedup = speedup_of(plain->equilibrium, at.equilibrium);
      add_intervals(*plain, at);
    }
    double rate = at.equilibrium.capacity_per_s;
    if (question_.percentiles && at.answers()) {
      at.served = served(at, question_.arrivals, load_requests);
    }
    if (question_.objective.any() && question_.percentiles) {
      at.meets_objective = at.served && meets(question_.objective, *at.served);
      rate = rate_within_objective(at);
    }
    const auto gpus = static_cast<double>(prediction_.gpus);
    at.requests_per_s_per_gpu = rate / gpus;
    if (question_.gpu_hour_price && at.answers()) {
      at.cost_per_million = analytic::price_per_million_tokens(
          *question_.gpu_hour_price, at.equilibrium.requests_per_s * question_.output.tokens / gpus);
    }
    return at;
  }

 private:
  static LoadSpeedup speedup_of(const analytic::LoadEquilibrium& plain, const analytic::LoadEquilibrium& at) {
    return {.request = plain.request_us / at.request_us, .decode = plain.tpot_us / at.tpot_us};
  }

  [[nodiscard]] Estimates served(const AtLoad& at, const Arrivals& arrivals, std::uint64_t requests) const {
    return served_at(servers_.scenario(at, arrivals), at.equilibrium, requests, stop_);
  }

  /// Without speculation, with an error of the times. Errors of verification and drafting have no effect on it.
  [[nodiscard]] const analytic::LoadEquilibrium& plain_with(const LoadServers& servers, const AtLoad& plain,
                                                            const TimesError& error) const {
    const std::tuple key(servers.engine().name, error.prompts, error.host);
    const auto known = plain_.find(key);
    if (known != plain_.end()) return known->second;
    const TimesError own{.prompts = error.prompts, .host = error.host};
    return plain_.emplace(key, analytic::load_answer(servers.scenario(plain, arrivals_, own), stop_)).first->second;
  }

  /// The speedup with other servers or times; nullopt if the server is overloaded without speculation, 0 if it is with
  /// it.
  [[nodiscard]] std::optional<LoadSpeedup> speedup_with(const LoadServers& servers, const AtLoad& plain,
                                                        const AtLoad& at, const TimesError& error) const {
    const auto drafting = analytic::load_answer(servers.scenario(at, arrivals_, error), stop_);
    if (drafting.overloaded) return LoadSpeedup{.request = 0.0, .decode = 0.0};
    const analytic::LoadEquilibrium& decoding = plain_with(servers, plain, error);
    if (decoding.overloaded) return std::nullopt;
    return speedup_of(decoding, drafting);
  }

  /// Intervals with the named engine; if none is named, from the minimum to the maximum over all common engines.
  void add_intervals(const AtLoad& plain, AtLoad& at) const {
    const std::vector<std::array<TimesError, 2>> errors = errors_of(at);
    if (errors.empty()) return;
    std::optional<LoadIntervals> all = intervals_of(servers_, plain, at, errors);
    if (!all) return;
    for (const LoadServers& other : others_) {
      const std::optional<LoadIntervals> one = intervals_of(other, plain, at, errors);
      if (!one) continue;
      all->request = {std::min(all->request.low, one->request.low), std::max(all->request.high, one->request.high)};
      all->decode = {std::min(all->decode.low, one->decode.low), std::max(all->decode.high, one->decode.high)};
    }
    at.request_interval = all->request;
    at.decode_interval = all->decode;
  }

  struct LoadIntervals {
    Interval request, decode;
  };

  /// Sums of squares of changes of a logarithm, one for each direction.
  struct Squares {
    double low = 0.0, high = 0.0;
    void add(double central, double one, double other) {
      const double down = std::log(std::min({central, one, other}) / central);
      const double up = std::log(std::max({central, one, other}) / central);
      low += down * down;
      high += up * up;
    }
    [[nodiscard]] Interval around(double central) const {
      return {central * std::exp(-std::sqrt(low)), central * std::exp(std::sqrt(high))};
    }
  };

  /// Moves each error to both ends of its range, one at a time. The errors are independent, so their effects on the
  /// logarithm of a speedup add up as squares. An end that overloads the server without speculation does not count: it
  /// only raises the speedup. nullopt if the central times overload it so.
  [[nodiscard]] std::optional<LoadIntervals> intervals_of(const LoadServers& servers, const AtLoad& plain,
                                                          const AtLoad& at,
                                                          const std::vector<std::array<TimesError, 2>>& errors) const {
    const std::optional<LoadSpeedup> central = speedup_with(servers, plain, at, {});
    if (!central) return std::nullopt;
    if (central->request == 0.0) return LoadIntervals{{0.0, 0.0}, {0.0, 0.0}};
    Squares request;
    Squares decode;
    for (const auto& ends : errors) {
      const LoadSpeedup fast = speedup_with(servers, plain, at, ends[0]).value_or(*central);
      const LoadSpeedup slow = speedup_with(servers, plain, at, ends[1]).value_or(*central);
      request.add(central->request, fast.request, slow.request);
      decode.add(central->decode, fast.decode, slow.decode);
    }
    return LoadIntervals{request.around(central->request), decode.around(central->decode)};
  }

  /// Both ends of each error of the times; empty: unknown. An error common to all passes cancels in a speedup.
  [[nodiscard]] std::vector<std::array<TimesError, 2>> errors_of(const AtLoad& at) const {
    std::vector<std::array<TimesError, 2>> errors;
    const AtDraftLength& length = prediction_.decoding.cells.front().at(at.gamma);
    const auto add = [&errors](double TimesError::*factor, double low, double high) {
      TimesError fast;
      TimesError slow;
      fast.*factor = low;
      slow.*factor = high;
      errors.push_back({fast, slow});
    };
    if (const auto& attainable = prediction_.decoding.attainable) {
      add(&TimesError::verification, std::min(length.verification_range.low, loaded_verification.low),
          std::max(length.verification_range.high, loaded_verification.high));
      add(&TimesError::drafting, attainable->step.low, attainable->step.high);
      errors.push_back({TimesError{.iteration_us = attainable->iteration_us.low},
                        TimesError{.iteration_us = attainable->iteration_us.high}});
    } else if (length.spread) {
      add(&TimesError::verification, 1.0 / (1.0 + *length.spread), 1.0 + *length.spread);
    } else {
      return errors;
    }
    add(&TimesError::prompts, prompt_passes.low, prompt_passes.high);
    using latency::EngineEnd;
    errors.push_back({TimesError{.host = EngineEnd::fast}, TimesError{.host = EngineEnd::slow}});
    errors.push_back({TimesError{.draft_host = EngineEnd::fast}, TimesError{.draft_host = EngineEnd::slow}});
    return errors;
  }

  /// Requests/s at the maximum load, in clients or as a rate, that meets the objective; 0: no load does.
  [[nodiscard]] double rate_within_objective(const AtLoad& at) const {
    double met = 0.0;
    const auto keeps = [&](const Arrivals& arrivals, int step) {
      AtLoad asked = at;
      asked.equilibrium = analytic::load_answer(servers_.scenario(at, arrivals), stop_);
      if (asked.equilibrium.overloaded) return false;
      const bool exact = step >= halvings - exact_halvings;
      const Estimates estimates = served(asked, arrivals, exact ? load_requests : search_requests);
      if (!meets(question_.objective, estimates)) return false;
      met = asked.equilibrium.requests_per_s;
      return true;
    };
    if (arrivals_.kind == ArrivalKind::closed) {
      std::int64_t kept = 0;
      std::int64_t missed = at.max_batch + 1;
      for (int step = 0; missed - kept > 1; ++step) {
        const std::int64_t clients = kept + (missed - kept) / 2;
        (keeps({.kind = ArrivalKind::closed, .clients = clients}, step) ? kept : missed) = clients;
      }
      return met;
    }
    double kept = 0.0;
    double missed = at.equilibrium.capacity_per_s;
    for (int step = 0; step < halvings; ++step) {
      const double rate = 0.5 * (kept + missed);
      (keeps({.kind = ArrivalKind::poisson, .rate_per_s = rate}, step) ? kept : missed) = rate;
    }
    return met;
  }

  const LoadPrediction& prediction_;
  const LoadQuestion& question_;
  const LoadServers& servers_;
  std::vector<LoadServers> others_;
  StopToken stop_;
  Arrivals arrivals_;
  mutable std::map<std::tuple<std::string, double, latency::EngineEnd>, analytic::LoadEquilibrium> plain_ = {};
};

void choose_best(LoadPrediction& prediction) {
  std::vector<double> speeds;
  std::vector<std::int64_t> answering;
  const AtLoad* fullest = nullptr;
  for (const AtLoad& at : prediction.lengths) {
    if (at.answers()) {
      speeds.push_back(1.0 / at.equilibrium.request_us);
      answering.push_back(at.gamma);
    }
    const double rate = at.requests_per_s_per_gpu;
    if (rate > 0.0 && (fullest == nullptr || rate > (1.0 + near_fastest) * fullest->requests_per_s_per_gpu))
      fullest = &at;
  }
  if (!speeds.empty()) prediction.best_latency = answering[analytic::first_near_best(speeds, near_fastest)];
  if (fullest != nullptr) prediction.best_throughput = fullest->gamma;
}

std::int64_t gpus_of(const ProfileQuestion& pair, const latency::Profile& profile) {
  std::int64_t gpus = std::max(devices_of(pair.target_deployment), devices_of(pair.draft_deployment));
  for (const latency::ModelDeployment& one : profile.deployments) gpus = std::max(gpus, one.tensor_parallel);
  return gpus;
}

/// In words, the errors under load that errors_of() adds to those of times without a load.
std::string loaded_error() {
  const auto percent = [](const Interval& factor) {
    return fmt::format("{:+.0f} to {:+.0f} %", 100.0 * (factor.low - 1.0), 100.0 * (factor.high - 1.0));
  };
  return fmt::format("; under load verification {}, prompts {}", percent(loaded_verification), percent(prompt_passes));
}

/// A prediction without answers. Its question is limited to the maximum draft length that has times.
LoadPrediction prepared(const LoadQuestion& question, const latency::Profile& profile) {
  check_at_least("prompt_tokens", static_cast<std::int64_t>(question.prompt.tokens), 1);
  check_at_least("output_tokens", static_cast<std::int64_t>(question.output.tokens), 2);
  LoadQuestion asked = question;
  asked.pair.batches = {1};
  asked.pair.contexts = {static_cast<std::int64_t>(std::llround(question.prompt.tokens))};
  ProfilePrediction decoding = predict(asked.pair, profile);
  asked.pair = decoding.question;
  LoadPrediction prediction{.question = std::move(asked),
                            .engine = question.engine.value_or(latency::common_engines().front()),
                            .decoding = std::move(decoding),
                            .evidence = {}};
  prediction.evidence = evidence_of(prediction.decoding);
  if (prediction.decoding.attainable) prediction.evidence.error += loaded_error();
  prediction.gpus = gpus_of(prediction.question.pair, profile);
  return prediction;
}

void answer(LoadPrediction& prediction, const LoadServers& servers, StopToken stop,
            const std::function<void(double)>& progress) {
  std::vector<LoadServers> others;
  if (!prediction.question.engine) {
    for (const latency::Engine& engine : latency::common_engines()) {
      if (engine.name != prediction.engine.name) others.push_back(servers.with(engine));
    }
  }
  const LoadAtProfile asked(prediction, servers, std::move(others), stop);
  const std::int64_t longest = max_drafts(prediction.question.pair);
  for (std::int64_t gamma = 0; gamma <= longest; ++gamma) {
    stop.check();
    const AtLoad* plain = gamma == 0 ? nullptr : &prediction.plain();
    AtLoad at{.gamma = gamma};
    if (gamma > 0) at.tokens = prediction.decoding.cells.front().at(gamma).tokens;
    AtLoad answered = asked.answer(std::move(at), plain);
    prediction.lengths.push_back(std::move(answered));
    if (progress) progress(static_cast<double>(gamma + 1) / static_cast<double>(longest + 1));
  }
  if (!prediction.question.schedule.empty()) {
    AtLoad at{.schedule = prediction.question.schedule};
    for (const GammaRange& range : at.schedule) at.gamma = std::max(at.gamma, range.gamma);
    prediction.scheduled = asked.answer(std::move(at), &prediction.plain());
  }
  choose_best(prediction);
  prediction.adaptive_gain = adaptive_gain(prediction, servers);
}

/// Loads for figures: numbers of clients, or fractions of the maximum rate of autoregressive decoding.
std::vector<Arrivals> loads_of(const LoadPrediction& prediction) {
  std::vector<Arrivals> loads;
  const LoadQuestion& question = prediction.question;
  if (question.arrivals.kind == ArrivalKind::closed) {
    const std::int64_t last = std::max({std::int64_t{1}, prediction.plain().max_batch, question.arrivals.clients});
    for (std::int64_t clients = 1; clients < last; clients *= 2) {
      loads.push_back({.kind = ArrivalKind::closed, .clients = clients});
    }
    loads.push_back({.kind = ArrivalKind::closed, .clients = last});
    return loads;
  }
  for (const double share : {0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95}) {
    loads.push_back(
        {.kind = ArrivalKind::poisson, .rate_per_s = share * prediction.plain().equilibrium.capacity_per_s});
  }
  return loads;
}

}  // namespace

const AtLoad* LoadPrediction::shown() const {
  const std::optional<std::int64_t> gamma = question.pair.gamma ? question.pair.gamma : best_latency;
  return gamma ? &at(*gamma) : nullptr;
}

const AtLoad* judged(const LoadPrediction& prediction) {
  const std::int64_t asked = prediction.question.pair.gamma.value_or(0);
  if (asked > 0) return prediction.at(asked).answers() ? &prediction.at(asked) : nullptr;
  if (prediction.best_latency.value_or(0) > 0) return &prediction.at(*prediction.best_latency);
  const AtLoad* best = nullptr;
  for (const AtLoad& at : prediction.lengths) {
    if (at.gamma == 0 || !at.answers()) continue;
    if (best == nullptr || at.equilibrium.request_us < best->equilibrium.request_us) best = &at;
  }
  return best;
}

Payoff payoff_of(const LoadPrediction& prediction) {
  const AtLoad* of = judged(prediction);
  if (of == nullptr) return Payoff::does_not_pay;
  if (!of->speedup) return Payoff::pays;  // autoregressive decoding is overloaded
  const Interval interval = of->request_interval.value_or(Interval{of->speedup->request, of->speedup->request});
  if (interval.low > 1.0) return Payoff::pays;
  return interval.high < 1.0 ? Payoff::does_not_pay : Payoff::within_error;
}

LoadPrediction predict_load(const LoadQuestion& question, const latency::Profile& profile, StopToken stop,
                            const std::function<void(double)>& progress) {
  LoadPrediction prediction = prepared(question, profile);
  const LoadServers servers(prediction.question, profile, prediction.engine);
  servers.check_prompts();
  answer(prediction, servers, stop, progress);
  return prediction;
}

std::vector<LoadPrediction> predict_loads(const LoadQuestion& question, const latency::Profile& profile,
                                          StopToken stop) {
  LoadQuestion asked = question;
  asked.percentiles = false;
  const LoadPrediction first = predict_load(asked, profile, stop);
  std::vector<LoadPrediction> predictions;
  for (const Arrivals& arrivals : loads_of(first)) {
    asked.arrivals = arrivals;
    predictions.push_back(predict_load(asked, profile, stop));
  }
  return predictions;
}

}  // namespace foredraft::answers
