// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/load_equilibrium.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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

double checked_us(const BatchTime& time_us, std::int64_t batch) {
  const double us = time_us(batch);
  check_positive("time_us", us);
  return us;
}

/// Time of prefill passes between two iterations.
class PromptTime {
 public:
  explicit PromptTime(const BatchTime& time_us) : time_us_(time_us) {}

  /// E[time_us(N)], N Poisson with this mean; 0 for N = 0.
  [[nodiscard]] double mean_us(double mean) {
    if (!time_us_) return 0.0;
    constexpr double negligible = 1e-9;
    double sum = 0.0;
    double below = std::exp(-mean);  // P(N <= prompts)
    double log_probability = -mean;
    for (std::int64_t prompts = 1; 1.0 - below > negligible; ++prompts) {
      log_probability += std::log(mean / static_cast<double>(prompts));
      const double probability = std::exp(log_probability);
      sum += probability * us(prompts);
      below += probability;
      if (static_cast<double>(prompts) > mean && probability < negligible) break;
    }
    return sum;
  }

 private:
  double us(std::int64_t prompts) {
    while (static_cast<std::int64_t>(known_.size()) < prompts) {
      known_.push_back(checked_us(time_us_, static_cast<std::int64_t>(known_.size()) + 1));
    }
    return known_[static_cast<std::size_t>(prompts) - 1];
  }

  const BatchTime& time_us_;
  std::vector<double> known_;  ///< time of 1, 2, ... prompts
};

/// An iteration with the prefill before it: the least fixed point, from below.
double cycle_us(double iteration_us, double per_us, PromptTime& prompts) {
  constexpr int max_steps = 1000;
  constexpr double settled = 1e-10;
  double cycle = iteration_us;
  for (int step = 0; step < max_steps; ++step) {
    const double next = iteration_us + prompts.mean_us(per_us * cycle);
    if (next - cycle <= settled * next) return next;
    cycle = next;
  }
  return cycle;
}

/// Sums over the number of requests in the system, each weighted by its probability times a common factor.
struct LoadSums {
  double all = 0.0;         ///< of the weights
  double decoding = 0.0;    ///< times requests in the batch
  double waiting = 0.0;     ///< times requests waiting for the batch
  double iterations = 0.0;  ///< over the time of an iteration: iterations in a unit of time
  double rows = 0.0;        ///< times the sequences of each iteration

  void add(double weight, double batch, double time_us) {
    all += weight;
    decoding += weight * batch;
    iterations += weight / time_us;
    rows += weight * batch / time_us;
  }
};

/// For a rate that a full batch keeps up with.
LoadSums sums_of(const ServedLoad& load, PromptTime& prompts) {
  constexpr double negligible = 1e-16;  // relative to the largest weight, and falling
  const double per_us = load.requests_per_s / us_per_s;
  std::vector<double> log_weights{0.0};
  std::vector<double> times{0.0};
  double largest = 0.0;
  double log_growth = 0.0;
  for (std::int64_t batch = 1; batch <= load.max_batch; ++batch) {
    times.push_back(cycle_us(checked_us(load.iteration_us, batch), per_us, prompts));
    log_growth = std::log(per_us * load.iterations * times.back() / static_cast<double>(batch));
    log_weights.push_back(log_weights.back() + log_growth);
    largest = std::max(largest, log_weights.back());
    if (log_growth < 0.0 && log_weights.back() < largest + std::log(negligible)) break;
  }
  LoadSums sums{.all = std::exp(-largest)};  // no request in the system
  for (std::size_t batch = 1; batch < times.size(); ++batch) {
    sums.add(std::exp(log_weights[batch] - largest), static_cast<double>(batch), times[batch]);
  }
  // Beyond the largest batch the weights fall by a constant factor: a geometric series.
  const double ratio = std::exp(log_growth);
  const double tail = std::exp(log_weights.back() - largest) * ratio / (1.0 - ratio);
  sums.add(tail, static_cast<double>(times.size() - 1), times.back());
  sums.waiting = tail / (1.0 - ratio);
  return sums;
}

}  // namespace

LoadEquilibrium load_equilibrium(const ServedLoad& load) {
  check_positive("requests_per_s", load.requests_per_s);
  check_positive("iterations", load.iterations);
  check_at_least("max_batch", load.max_batch, 1);
  PromptTime prompts(load.prompt_us);
  // In a full batch as many requests leave per iteration as join.
  const double joining = static_cast<double>(load.max_batch) / load.iterations;
  const double full_us = checked_us(load.iteration_us, load.max_batch) + prompts.mean_us(joining);
  LoadEquilibrium equilibrium{.capacity_per_s = us_per_s * joining / full_us,
                              .overloaded = true,
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
  equilibrium.overloaded = load.requests_per_s >= equilibrium.capacity_per_s;
  if (equilibrium.overloaded) return equilibrium;
  const LoadSums sums = sums_of(load, prompts);
  equilibrium.batch = sums.rows / sums.iterations;
  equilibrium.decoding = sums.decoding / sums.all;
  equilibrium.waiting = sums.waiting / sums.all;
  equilibrium.decode_us = us_per_s * equilibrium.decoding / load.requests_per_s;
  return equilibrium;
}

}  // namespace foredraft::analytic
