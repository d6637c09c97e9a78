// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/load_equilibrium.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analytic/cost/prompt_backlog.hpp"
#include "core/check.hpp"
#include "foredraft/quantities.hpp"

namespace foredraft::analytic {

double poisson_queue_wait(double arrival_rate, const ServiceTime& service) {
  check_nonnegative("arrival_rate", arrival_rate);
  check_positive("mean", service.mean);
  check_positive("second_moment", service.second_moment);
  // Round-off of a constant service time may make its square slightly smaller.
  constexpr double round_off = 1e-12;
  if (service.second_moment < (1.0 - round_off) * service.mean * service.mean) {
    throw DomainError(fmt::format("invalid second_moment={} (must be at least the square of mean={})",
                                  service.second_moment, service.mean));
  }
  const double load = arrival_rate * service.mean;
  if (load >= 1.0) return std::numeric_limits<double>::infinity();
  return arrival_rate * service.second_moment / (2.0 * (1.0 - load));
}

namespace {

constexpr double us_per_s = 1e6;
/// Shares of passes below this are left out.
constexpr double rare_pass = 1e-12;

IterationParts checked_iteration(const ServedLoad& load, std::int64_t batch, double prompt_tokens) {
  const IterationParts parts = load.iteration(batch, prompt_tokens);
  check_positive("iteration", parts.total());
  return parts;
}

double checked_iterations(const ServedLoad& load, std::int64_t batch) {
  const double iterations = load.iterations(batch);
  check_positive("iterations", iterations);
  return iterations;
}

void add(IterationParts& sum, double weight, const IterationParts& parts) {
  sum.verification += weight * parts.verification;
  sum.overhead += weight * parts.overhead;
  sum.drafting += weight * parts.drafting;
  sum.prompts += weight * parts.prompts;
  sum.engine += weight * parts.engine;
}

LoadShares shares_of(const IterationParts& parts) {
  const double all = parts.total();
  return {.verification = parts.verification / all,
          .drafting = (parts.overhead + parts.drafting) / all,
          .prompts = parts.prompts / all,
          .engine = parts.engine / all};
}

/// Prefill passes between two iterations over a random number N of prompts.
class PromptPasses {
 public:
  explicit PromptPasses(const PromptTime& time_us) : time_us_(time_us) {}

  struct Moments {
    double mean_us = 0.0;      ///< E[time_us(N)], 0 for N = 0
    double square = 0.0;       ///< E[time_us(N)^2]
    double one_more_us = 0.0;  ///< E[time_us(N + 1)]
    double own_us = 0.0;       ///< E[N time_us(N)] / E[N]: of the pass that a prompt is in
  };

  /// P(N = n) at n.
  Moments over(const std::vector<double>& pmf) {
    Moments moments;
    if (!time_us_) return moments;
    double prompts = 0.0;
    for (std::size_t n = 0; n < pmf.size(); ++n) {
      moments.one_more_us += pmf[n] * us(n + 1);
      if (n == 0) continue;
      const double weight = static_cast<double>(n) * pmf[n];
      moments.mean_us += pmf[n] * us(n);
      moments.square += pmf[n] * us(n) * us(n);
      moments.own_us += weight * us(n);
      prompts += weight;
    }
    moments.own_us = prompts > 0.0 ? moments.own_us / prompts : us(1);
    return moments;
  }

 private:
  double us(std::size_t prompts) {
    while (known_.size() < prompts) {
      known_.push_back(time_us_(static_cast<std::int64_t>(known_.size()) + 1));
      check_positive("prompt_us", known_.back());
    }
    return known_[prompts - 1];
  }

  const PromptTime& time_us_;
  std::vector<double> known_;  ///< time of 1, 2, ... prompts
};

/// As many parts of a prompt as a pass without sequences reads at least `per_pass` of, within bounds.
std::int64_t parts_of_prompt(const ChunkedPrompts& chunked, double per_pass, double most) {
  const double passes = chunked.tokens / std::max(chunked.room(0), 1.0);
  return static_cast<std::int64_t>(std::clamp(std::ceil(per_pass * passes), 1.0, std::max(most, 1.0)));
}

// ---- A closed loop.

/// Of the sequences in iterations, by places that are always taken.
struct ClosedLoop {
  double requests_per_us, batch, decoding, iteration_us, ttft_us, decode_us;
  IterationParts parts;  ///< of the time of an iteration
};

ClosedLoop alone_in_places(const ServedLoad& load, std::int64_t places) {
  PromptPasses prompts(load.prompt_us);
  const double iterations = checked_iterations(load, places);
  IterationParts parts = checked_iteration(load, places, 0.0);
  const double iteration_us = parts.total();
  const auto read = prompts.over(binomial_pmf(places, std::min(1.0 / iterations, 1.0)));
  parts.prompts += read.mean_us;
  const double cycle_us = parts.total();
  const double request_us = iterations * cycle_us;
  const auto all = static_cast<double>(places);
  const double decode_us = request_us - read.own_us;
  return {.requests_per_us = all / request_us,
          .batch = all,
          .decoding = all * decode_us / request_us,
          .iteration_us = cycle_us,
          .ttft_us = load.prompt_us ? read.own_us : iteration_us,
          .decode_us = decode_us,
          .parts = parts};
}

ClosedLoop chunked_in_places(const ServedLoad& load, std::int64_t places) {
  constexpr double per_pass = 8.0, finest = 16.0, most_states = 1200.0;
  const std::int64_t parts =
      parts_of_prompt(load.chunked, per_pass, std::min(finest, most_states / static_cast<double>(places)));
  const auto backlog = prompt_backlog(load.chunked.tokens, places, parts, [&](std::int64_t prompts, double /*tokens*/) {
    const std::int64_t batch = places - prompts;
    const double ends = batch > 0 ? std::min(1.0 / checked_iterations(load, batch), 1.0) : 0.0;
    return BacklogPass{.room = load.chunked.room(batch), .arrivals = binomial_pmf(batch, ends)};
  });
  IterationParts sum;
  double requests = 0.0;   // that end their answer in a pass
  double sequences = 0.0;  // in a pass
  double iterations = 0.0;
  double reading_us = 0.0;  // prompts times the time of their passes
  double decoding_us = 0.0;
  for (const BacklogShare& state : backlog) {
    if (state.share < rare_pass) continue;
    const std::int64_t batch = places - state.prompts;
    const double read = std::clamp(load.chunked.room(batch), 0.0, state.tokens);
    const IterationParts pass = checked_iteration(load, batch, read);
    add(sum, state.share, pass);
    reading_us += state.share * pass.total() * static_cast<double>(state.prompts);
    if (batch == 0) continue;
    iterations += state.share;
    sequences += state.share * static_cast<double>(batch);
    decoding_us += state.share * pass.total() * static_cast<double>(batch);
    requests += state.share * static_cast<double>(batch) / checked_iterations(load, batch);
  }
  return {.requests_per_us = requests / sum.total(),
          .batch = sequences / iterations,
          .decoding = decoding_us / sum.total(),
          .iteration_us = sum.total() / iterations,
          .ttft_us = reading_us / requests,
          .decode_us = decoding_us / requests,
          .parts = sum};
}

bool reads_in_chunks(const ServedLoad& load) { return load.chunked.tokens > 0.0; }

ClosedLoop closed_loop(const ServedLoad& load, std::int64_t places) {
  return reads_in_chunks(load) ? chunked_in_places(load, places) : alone_in_places(load, places);
}

// ---- Poisson arrivals.

/// While so many sequences decode.
struct BatchStage {
  IterationParts parts;  ///< of an iteration, with the prompts before or in it
  double join_us = 0.0;  ///< of a request that comes: until it decodes, if there is a place for it
};

class PoissonStages {
 public:
  explicit PoissonStages(const ServedLoad& load)
      : load_(load), per_us_(load.requests_per_s / us_per_s), prompts_(load.prompt_us) {}

  [[nodiscard]] BatchStage at(std::int64_t batch) {
    if (!reads_in_chunks(load_)) return batch == 0 ? idle() : alone(batch);
    if (batch <= exact_) return chunked(batch);
    std::int64_t low = exact_;
    std::int64_t high = exact_;
    while (high < batch) {
      low = high;
      high = std::min(high + high / 2, load_.max_batch);
    }
    const double share = static_cast<double>(batch - low) / static_cast<double>(high - low);
    BatchStage stage;
    for (const auto& [end, weight] : {std::pair{low, 1.0 - share}, std::pair{high, share}}) {
      const BatchStage& known = chunked(end);
      add(stage.parts, weight, known.parts);
      stage.join_us += weight * known.join_us;
    }
    return stage;
  }

 private:
  static constexpr std::int64_t exact_ = 4;  ///< batches up to this are not interpolated

  [[nodiscard]] PromptPasses::Moments prompts_within(double us) {
    constexpr double many = 500.0;
    const double mean = per_us_ * us;
    if (mean > many) throw DomainError("more than 500 prompts arrive in an iteration");
    return prompts_.over(poisson_pmf(mean));
  }

  /// The server has no sequence: it is idle, or reads the prompt of its first.
  [[nodiscard]] BatchStage idle() {
    if (!load_.prompt_us) return {};
    const double first_us = prompts_.over({0.0, 1.0}).mean_us;
    const double reading = per_us_ * first_us / (1.0 + per_us_ * first_us);
    return {.parts = {}, .join_us = first_us + reading * (0.5 * first_us + checked_iteration(load_, 1, 0.0).total())};
  }

  /// An iteration with the prefill before it: the root of an increasing concave function less its argument.
  [[nodiscard]] BatchStage alone(std::int64_t batch) {
    constexpr int max_steps = 200;
    constexpr double settled = 1e-10;
    constexpr double least_slope = 0.05;
    BatchStage stage{.parts = checked_iteration(load_, batch, 0.0)};
    const double iteration_us = stage.parts.total();
    double cycle_us = std::max(iteration_us, last_cycle_us_);
    PromptPasses::Moments read;
    for (int step = 0; step < max_steps; ++step) {
      read = prompts_within(cycle_us);
      const double missing = iteration_us + read.mean_us - cycle_us;
      if (std::abs(missing) <= settled * cycle_us) break;
      const double slope = 1.0 - per_us_ * (read.one_more_us - read.mean_us);
      cycle_us = std::max(cycle_us + missing / (slope > least_slope ? slope : 1.0), iteration_us);
    }
    last_cycle_us_ = cycle_us;
    stage.parts.prompts += read.mean_us;
    // Who comes during the prefill waits for the rest of it and for the iteration after it.
    const double waits_us = 0.5 * iteration_us * iteration_us + 0.5 * read.square + read.mean_us * iteration_us;
    stage.join_us = waits_us / cycle_us + read.one_more_us;
    return stage;
  }

  [[nodiscard]] const BatchStage& chunked(std::int64_t batch) {
    const auto known = stages_.find(batch);
    if (known != stages_.end()) return known->second;
    constexpr double per_pass = 4.0, finest = 6.0;
    constexpr std::int64_t most_prompts = 16;  // that wait to be read
    const std::int64_t parts = parts_of_prompt(load_.chunked, per_pass, finest);
    const double room = load_.chunked.room(batch);
    const auto pass_at = [&](double tokens) { return checked_iteration(load_, batch, std::clamp(room, 0.0, tokens)); };
    const auto backlog = prompt_backlog(
        load_.chunked.tokens, most_prompts, parts, [&](std::int64_t prompts, double tokens) -> BacklogPass {
          if (batch == 0 && prompts == 0) return {.room = room, .arrivals = {0.0, 1.0}};
          return {.room = room, .arrivals = poisson_pmf(per_us_ * pass_at(tokens).total())};
        });
    BatchStage stage;
    double requests_us = 0.0;  // before their first token, times the time
    double idle_us = 0.0;
    for (const BacklogShare& state : backlog) {
      if (state.share < rare_pass) continue;
      if (batch == 0 && state.prompts == 0) {
        idle_us += state.share / per_us_;
        continue;
      }
      const IterationParts pass = pass_at(state.tokens);
      add(stage.parts, state.share, pass);
      const double us = pass.total();
      requests_us += state.share * (static_cast<double>(state.prompts) * us + 0.5 * per_us_ * us * us);
    }
    stage.join_us = requests_us / ((idle_us + stage.parts.total()) * per_us_);
    return stages_.emplace(batch, stage).first->second;
  }

  const ServedLoad& load_;
  double per_us_;
  PromptPasses prompts_;
  double last_cycle_us_ = 0.0;
  std::map<std::int64_t, BatchStage> stages_;
};

/// Sums over the number of requests in the system, each weighted by its probability times a common factor.
struct LoadSums {
  double all = 0.0;           ///< of the weights
  double decoding = 0.0;      ///< times requests in the batch
  double waiting = 0.0;       ///< times requests waiting for the batch
  double iterations = 0.0;    ///< over the time of an iteration: iterations in a unit of time
  double rows = 0.0;          ///< times the sequences of each iteration
  double join_us = 0.0;       ///< times BatchStage::join_us
  IterationParts parts = {};  ///< times the parts of a unit of time

  void add_batch(double weight, double batch, const BatchStage& stage) {
    const double time_us = stage.parts.total();
    all += weight;
    decoding += weight * batch;
    iterations += weight / time_us;
    rows += weight * batch / time_us;
    join_us += weight * stage.join_us;
    add(parts, weight / time_us, stage.parts);
  }
};

/// Nothing if a full batch does not keep up with the rate.
std::optional<LoadSums> sums_of(const ServedLoad& load) {
  constexpr double negligible = 1e-16;  // relative to the largest weight, and falling
  const double per_us = load.requests_per_s / us_per_s;
  PoissonStages stages(load);
  std::vector<double> log_weights{0.0};
  std::vector<BatchStage> known{stages.at(0)};
  double largest = 0.0;
  double log_growth = 0.0;
  for (std::int64_t batch = 1; batch <= load.max_batch; ++batch) {
    known.push_back(stages.at(batch));
    log_growth =
        std::log(per_us * checked_iterations(load, batch) * known.back().parts.total() / static_cast<double>(batch));
    log_weights.push_back(log_weights.back() + log_growth);
    largest = std::max(largest, log_weights.back());
    if (log_growth < 0.0 && log_weights.back() < largest + std::log(negligible)) break;
  }
  LoadSums sums{.all = std::exp(-largest)};  // no request in the system
  sums.join_us = sums.all * known.front().join_us;
  for (std::size_t batch = 1; batch < known.size(); ++batch) {
    sums.add_batch(std::exp(log_weights[batch] - largest), static_cast<double>(batch), known[batch]);
  }
  // Beyond the largest batch the weights fall by a constant factor: a geometric series.
  const double ratio = std::exp(log_growth);
  if (!(ratio < 1.0)) return std::nullopt;
  const double tail = std::exp(log_weights.back() - largest) * ratio / (1.0 - ratio);
  sums.add_batch(tail, static_cast<double>(known.size() - 1), known.back());
  sums.waiting = tail / (1.0 - ratio);
  return sums;
}

void check_load(const ServedLoad& load) {
  if (load.clients == 0) check_positive("requests_per_s", load.requests_per_s);
  check_at_least("clients", load.clients, 0);
  check_positive("tokens", load.tokens);
  check_at_least("max_batch", load.max_batch, 1);
  check_nonnegative("chunked.tokens", load.chunked.tokens);
}

}  // namespace

LoadEquilibrium load_equilibrium(const ServedLoad& load) {
  check_load(load);
  const bool has_prompts = load.prompt_us || reads_in_chunks(load);
  const ClosedLoop full = closed_loop(load, load.max_batch);
  LoadEquilibrium equilibrium{.capacity_per_s = us_per_s * full.requests_per_us,
                              .overloaded = load.clients == 0,
                              .batch = unknown<double>,
                              .decoding = unknown<double>,
                              .waiting = unknown<double>,
                              .decode_us = unknown<double>,
                              .requests_per_s = unknown<double>,
                              .in_flight = unknown<double>,
                              .iteration_us = unknown<double>,
                              .tpot_us = unknown<double>,
                              .ttft_us = unknown<double>,
                              .request_us = unknown<double>};
  if (load.clients > 0) {
    const std::int64_t places = std::min(load.clients, load.max_batch);
    const ClosedLoop loop = places == load.max_batch ? full : closed_loop(load, places);
    equilibrium.batch = loop.batch;
    equilibrium.decoding = loop.decoding;
    equilibrium.waiting = static_cast<double>(load.clients - places);
    equilibrium.decode_us = loop.decode_us;
    equilibrium.requests_per_s = us_per_s * loop.requests_per_us;
    equilibrium.in_flight = static_cast<double>(load.clients);
    equilibrium.iteration_us = loop.iteration_us;
    equilibrium.ttft_us = loop.ttft_us + equilibrium.waiting / loop.requests_per_us;
    equilibrium.shares = shares_of(loop.parts);
  } else {
    if (load.requests_per_s >= equilibrium.capacity_per_s) return equilibrium;
    const std::optional<LoadSums> found = sums_of(load);
    if (!found) return equilibrium;
    const LoadSums& sums = *found;
    equilibrium.overloaded = false;
    const double per_us = load.requests_per_s / us_per_s;
    const double join_us = sums.join_us / sums.all;
    equilibrium.batch = sums.rows / sums.iterations;
    equilibrium.decoding = sums.decoding / sums.all;
    equilibrium.waiting = sums.waiting / sums.all;
    equilibrium.decode_us = equilibrium.decoding / per_us;
    equilibrium.requests_per_s = load.requests_per_s;
    equilibrium.in_flight = equilibrium.decoding + equilibrium.waiting + per_us * join_us;
    equilibrium.iteration_us = sums.parts.total() / sums.iterations;
    equilibrium.ttft_us = equilibrium.waiting / per_us + join_us + (has_prompts ? 0.0 : equilibrium.iteration_us);
    equilibrium.shares = shares_of(sums.parts);
  }
  equilibrium.tpot_us = equilibrium.decode_us / load.tokens;
  equilibrium.request_us = us_per_s * equilibrium.in_flight / equilibrium.requests_per_s;
  return equilibrium;
}

}  // namespace foredraft::analytic
