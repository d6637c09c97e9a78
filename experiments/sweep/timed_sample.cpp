// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/timed_sample.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "analytic/answer/answer.hpp"
#include "core/check.hpp"
#include "experiments/config/plan_check.hpp"
#include "experiments/sweep/point.hpp"
#include "sim/simulate.hpp"

namespace foredraft::experiments {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double longest_sample_s = 0.5;
constexpr double shortest_sample_s = 0.05;
constexpr double share_of_run = 0.05;
constexpr std::uint64_t max_sampled = 64;
/// A piece that took so long says enough.
constexpr double enough_s = 0.02;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Of this thread alone: what else the machine does comes and goes.
double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// A flag that is set when somebody asks for an end or the time is over.
class Deadline {
 public:
  Deadline(double seconds, StopToken stop) : end_(Clock::now() + std::chrono::duration<double>(seconds)) {
    watcher_ = std::jthread([this, stop](const std::stop_token& done) {
      constexpr auto between_looks = std::chrono::milliseconds(5);
      std::unique_lock lock(mutex_);
      while (!done.stop_requested() && !over_) {
        wake_.wait_for(lock, done, between_looks, [] { return false; });
        if (stop.asked() || Clock::now() >= end_) over_ = true;
      }
    });
  }

  [[nodiscard]] StopToken token() const { return &over_; }
  [[nodiscard]] bool passed() const { return over_ || Clock::now() >= end_; }

 private:
  std::chrono::time_point<Clock, std::chrono::duration<double>> end_;
  std::atomic<bool> over_{false};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread watcher_;  // last: it looks at the others
};

/// What a plan counts, and how many of it.
std::uint64_t SimulationPlan::*counted_by(const SimulationPlan& plan) {
  if (plan.requests != 0) return &SimulationPlan::requests;
  return plan.sequences != 0 ? &SimulationPlan::sequences : &SimulationPlan::iterations;
}

/// Pools of so many entries are prepared for a sample: enough to leave the caches, as larger ones do.
constexpr double max_entries = 1e6;

/// How much less a sample prepares: cuts the pool.
double cut_pool(Scenario& scenario) {
  auto* token = std::get_if<TokenFidelity>(&scenario.fidelity);
  auto* models = token == nullptr ? nullptr : std::get_if<SyntheticModels>(&token->models);
  if (models == nullptr) return 1.0;
  const auto whole = static_cast<double>(models->pool);
  const double most = std::max(2.0, std::floor(max_entries / static_cast<double>(models->vocabulary)));
  if (whole <= most) return 1.0;
  models->pool = static_cast<std::int64_t>(most);
  return whole / most;
}

/// Iterations, sequences or requests that the first piece of a point takes: a step where one may take long.
std::uint64_t first_piece(const Scenario& scenario) {
  const auto* token = std::get_if<TokenFidelity>(&scenario.fidelity);
  const auto* models = token == nullptr ? nullptr : std::get_if<SyntheticModels>(&token->models);
  if (std::holds_alternative<Server>(scenario.fidelity)) return 1;
  if (models == nullptr) return 16;
  return models->contexts == Contexts::fresh ? 1 : 8192;  // where pools are prepared anew, one piece must do
}

/// Seconds of the simulation of a point: pieces of it, each larger, until one is long enough or a whole block.
double simulation_seconds(Scenario scenario, const SimulationPlan& plan, std::uint64_t point, StopToken stop) {
  const double less_prepared = cut_pool(scenario);
  const auto counted = counted_by(plan);
  std::uint64_t whole = plan.*counted;
  if (counted == &SimulationPlan::requests) whole += plan.replicas * plan.warmup_requests;
  SimulationPlan piece = plan;
  if (counted == &SimulationPlan::requests) {
    piece.replicas = 1;
    piece.warmup_requests = 0;
  }
  constexpr std::uint64_t growth = 8;
  double smaller_units = 0.0;  // the piece before
  double smaller_seconds = 0.0;
  for (std::uint64_t units = first_piece(scenario);; units *= growth) {
    units = std::clamp<std::uint64_t>(units, 1, std::max<std::uint64_t>(whole, 1));
    piece.*counted = units;
    const double start = thread_seconds();
    const auto simulator = sim::make_simulator(scenario, piece, stop);
    const double prepared = less_prepared * (thread_seconds() - start);
    const double begin = thread_seconds();
    bool cut = false;
    try {
      static_cast<void>(simulator->run_block({plan.seed, point, stop}, 0));
    } catch (const Interrupted&) {
      cut = true;  // it takes longer than this: better than nothing
    }
    const double taken = thread_seconds() - begin;
    if (whole == 0) return prepared + taken;  // a trace is replayed once, whatever was asked for
    const auto all = static_cast<double>(whole);
    const auto size = static_cast<double>(units);
    const auto blocks = static_cast<double>(simulator->blocks());
    if (blocks > 1.0) return prepared + taken * all * blocks / size;
    if (!cut && taken < enough_s && units < whole) {
      smaller_units = size;
      smaller_seconds = taken;
      continue;
    }
    // What a block takes before its first unit is paid once a block, not once a unit.
    const double each = std::max(0.0, taken - smaller_seconds) / std::max(1.0, size - smaller_units);
    const double once = std::max(0.0, taken - each * size);
    const double times = counted == &SimulationPlan::requests ? static_cast<double>(plan.replicas) : 1.0;
    return prepared + once * times + each * all;
  }
}

double seconds_of(const SweepConfig& config, const Points& points, std::uint64_t index, Inputs& inputs,
                  StopToken stop) {
  const double start = thread_seconds();
  Scenario scenario = points.scenario(index);
  inputs.attach(scenario);
  static_cast<void>(analytic::answer(scenario, unknown<double>, stop));
  const double closed_form = thread_seconds() - start;
  return closed_form +
         (config.simulation ? simulation_seconds(std::move(scenario), *config.simulation, index, stop) : 0.0);
}

}  // namespace

double timed_seconds_per_point(const SweepConfig& config, const PointRange& range, Inputs& inputs, StopToken stop) {
  const std::uint64_t count = range.last - range.first;
  const double rough = seconds_per_point(config);
  if (count == 0) return rough;
  try {
    const Deadline deadline(longest_sample_s, stop);
    const Clock::time_point start = Clock::now();
    const Points points(config);
    double sum = 0.0;
    std::uint64_t sampled = 0;
    // The more there is to do, as far as it is known by then, the more of it is looked at.
    const auto budget = [&] {
      const double mean = sampled == 0 ? rough : sum / static_cast<double>(sampled);
      return std::clamp(share_of_run * mean * static_cast<double>(count), shortest_sample_s, longest_sample_s);
    };
    while (sampled < std::min(count, max_sampled) && seconds_since(start) < budget()) {
      // Spread evenly however many there will be, and in step with no axis: multiples of the golden section.
      constexpr double golden = 0.6180339887498949;
      const double place = std::fmod(static_cast<double>(sampled) * golden, 1.0);
      const auto offset = std::min(count - 1, static_cast<std::uint64_t>(place * static_cast<double>(count)));
      try {
        sum += seconds_of(config, points, range.first + offset, inputs, deadline.token());
        stop.check();
      } catch (const Interrupted&) {
        stop.check();
        sum += std::max(rough, longest_sample_s);  // at least what has passed
        ++sampled;
        break;
      } catch (const std::domain_error&) {  // the run will say it
        sum += rough;
      }
      ++sampled;
    }
    return sum / static_cast<double>(sampled);
  } catch (const std::system_error&) {  // no thread for the deadline
    return rough;
  } catch (const std::bad_alloc&) {  // nor memory: the run will say it
    return rough;
  }
}

}  // namespace foredraft::experiments
