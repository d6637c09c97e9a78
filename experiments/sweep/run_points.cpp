// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/point.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "analytic/answer/answer.hpp"
#include "core/check.hpp"
#include "core/csv.hpp"
#include "core/numbers.hpp"
#include "core/parallel.hpp"
#include "core/problems.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/sweep/answer.hpp"
#include "sim/simulate.hpp"
#include "sim/system/serving_simulator.hpp"

namespace foredraft::experiments {
namespace {

/// Processor time of this process or thread; unlike elapsed time it does not depend on other load.
double cpu_seconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds between two writes, which an interruption can lose. The size of a chunk is chosen from the time of the
/// previous one.
constexpr double chunk_seconds = 0.1;
constexpr double max_chunk_growth = 8.0;
constexpr double max_chunk_points = 4096;
/// Maximum draft positions counted at a time over all points of a chunk; bounds the memory of a sweep.
constexpr double max_chunk_positions = 1e7;
/// Points that a thread takes at a time, so that taking is negligible compared with 20 us of work.
constexpr std::uint64_t batch_points = 16;

/// A point of several blocks between its preparation and its row.
struct LargePoint {
  Scenario scenario;
  std::unique_ptr<sim::Simulator> simulator;
  std::mutex mutex;
  sim::Tally tally;
};

class ChunkRunner {
 public:
  ChunkRunner(const Sweep& sweep, unsigned threads, inputs::Inputs& inputs, const RunHooks& hooks)
      : sweep_(sweep), threads_(threads), inputs_(inputs), hooks_(hooks) {}

  /// Writes the rows of [first, last). If a point fails or the run is stopped, writes the rows before the first missing
  /// one.
  void run(std::uint64_t first, std::uint64_t last) {
    std::vector<std::string> rows(last - first);
    try {
      compute(first, rows);
    } catch (...) {
      write(rows);
      throw;
    }
    write(rows);
  }

 private:
  void compute(std::uint64_t first, std::vector<std::string>& rows) {
    const std::uint64_t count = rows.size();
    std::vector<std::unique_ptr<LargePoint>> large(count);
    parallel_for((count + batch_points - 1) / batch_points, threads_, [&](std::uint64_t batch) {
      const std::uint64_t end = std::min(count, (batch + 1) * batch_points);
      for (std::uint64_t i = batch * batch_points; i < end; ++i) {
        hooks_.stop.check();
        naming(first + i, [&] { large[i] = start(first + i, rows[i]); });
        if (!large[i]) hooks_.progress(static_cast<double>(++finished_));
      }
    });
    run_large(first, large, rows);
  }

  void write(const std::vector<std::string>& rows) const {
    std::string text;
    std::uint64_t points = 0;
    for (; points < rows.size() && !rows[points].empty(); ++points) text += rows[points];
    if (points > 0) hooks_.write(text, points);
  }

  /// "point 7 (alpha 0.5, gamma 3)"
  [[nodiscard]] std::string name_of(std::uint64_t index) const {
    std::vector<std::string> values;
    const std::vector<std::size_t> place = sweep_.points.coordinates(index);
    for (std::size_t i = 0; i < place.size(); ++i) {
      const scenario::Axis& axis = sweep_.points.space().axes[i];
      values.push_back(fmt::format("{} {}", axis.parameter->name, scenario::to_text(axis.values[place[i]])));
    }
    return fmt::format("point {}", index) + (values.empty() ? "" : fmt::format(" ({})", fmt::join(values, ", ")));
  }

  /// Turns errors that only a run can find (an alpha that no draft distribution reaches, times of years) into RunError,
  /// because manifest and rows may exist already.
  template <class Work>
  void naming(std::uint64_t index, const Work& work) const {
    try {
      work();
    } catch (const DomainError& error) {
      fail(index, error.what());
    } catch (const std::bad_alloc&) {
      fail(index, "not enough memory");
    } catch (const std::domain_error& error) {  // from a special function
      fail(index, error.what());
    } catch (const std::overflow_error& error) {
      fail(index, error.what());
    }
  }

  [[noreturn]] void fail(std::uint64_t index, std::string_view what) const {
    ProblemList problems(sweep_.source);
    Problem problem{.text = fmt::format("{}: {}", name_of(index), what),
                    .suggestion = "change the configuration and use another --out"};
    const std::string_view key = key_of_error(what);
    if (key.empty()) {
      problems.add(std::move(problem));
    } else {
      report_input(sweep_.points.space(), key, std::move(problem), problems);
    }
    throw RunError(problems.text());
  }

  /// The parameter that an error names ("invalid process.a=2 (must ...)"), or empty.
  [[nodiscard]] std::string_view key_of_error(std::string_view what) const {
    constexpr std::string_view start = "invalid ";
    if (!what.starts_with(start)) return {};
    const std::string_view name = what.substr(start.size(), what.find_first_of("= [", start.size()) - start.size());
    for (const scenario::Parameter& parameter : scenario::parameters()) {
      const bool same = parameter.name == name || (parameter.name.ends_with(name) &&
                                                   parameter.name[parameter.name.size() - name.size() - 1] == '.');
      if (same && has_input(sweep_.points.space(), parameter.name)) return parameter.name;
    }
    return {};
  }

  /// Completes a point of one block; returns a larger point, to be run block by block.
  std::unique_ptr<LargePoint> start(std::uint64_t index, std::string& row) {
    Scenario scenario = sweep_.points.scenario(index);
    inputs_.attach(scenario);
    if (!sweep_.simulation) {
      append_row(index, scenario, nullptr, {}, row);
      return nullptr;
    }
    std::unique_ptr<sim::Simulator> simulator = sim::make_simulator(scenario, *sweep_.simulation, hooks_.stop);
    if (simulator->blocks() > 1) {
      auto point = std::make_unique<LargePoint>();
      point->scenario = std::move(scenario);
      point->simulator = std::move(simulator);
      return point;
    }
    const sim::Tally tally = simulator->run_block(key_of(index), 0);
    append_row(index, scenario, simulator.get(), tally, row);
    return nullptr;
  }

  void run_large(std::uint64_t first, const std::vector<std::unique_ptr<LargePoint>>& points,
                 std::vector<std::string>& rows) {
    std::vector<std::uint64_t> places;      // indices into `points`
    std::vector<std::uint64_t> first_unit;  // first unit of each point, in the common numbering of all blocks
    std::uint64_t units = 0;
    for (std::uint64_t i = 0; i < points.size(); ++i) {
      if (!points[i]) continue;
      places.push_back(i);
      first_unit.push_back(units);
      units += points[i]->simulator->blocks();
    }
    std::atomic<std::uint64_t> done{0};
    parallel_for(units, threads_, [&](std::uint64_t unit) {
      const auto after = std::ranges::upper_bound(first_unit, unit);
      const auto place = static_cast<std::size_t>(after - first_unit.begin()) - 1;
      LargePoint& point = *points[places[place]];
      hooks_.stop.check();
      naming(first + places[place], [&] {
        const sim::Tally part = point.simulator->run_block(key_of(first + places[place]), unit - first_unit[place]);
        const std::lock_guard lock(point.mutex);  // integers: the order of merging cannot change the result
        point.tally.merge(part);
      });
      const double share = static_cast<double>(++done) / static_cast<double>(units);
      hooks_.progress(static_cast<double>(finished_) + share * static_cast<double>(places.size()));
    });
    for (const std::uint64_t i : places) {
      naming(first + i, [&] {
        append_row(first + i, points[i]->scenario, points[i]->simulator.get(), points[i]->tally, rows[i]);
      });
    }
    finished_ += places.size();
  }

  /// Appends a complete row, or nothing if it throws.
  void append_row(std::uint64_t index, const Scenario& scenario, const sim::Simulator* simulator,
                  const sim::Tally& tally, std::string& to) const {
    std::string row;
    append_number(row, index);
    row += ',';
    sweep_.points.append_cells(index, row);
    std::optional<Simulated> simulated;
    if (simulator != nullptr) {
      sim::check_conservation(tally);
      simulated = sim::estimates_of(scenario, tally);
      if (hooks_.warn && !simulated->unsteady.empty())
        hooks_.warn(fmt::format("{}: {}", name_of(index), simulated->unsteady));
    }
    const double acceptance = simulator != nullptr ? sim::pool_acceptance(scenario, *simulator) : unknown<double>;
    ClosedForm closed_form = analytic::answer(scenario, acceptance, hooks_.stop);
    if (simulator != nullptr) closed_form.optimal_acceptance = sim::pool_optimum(*simulator);
    append_answer(sweep_.metrics, closed_form, simulated, row);
    row += '\n';
    to = std::move(row);
  }

  [[nodiscard]] sim::RunKey key_of(std::uint64_t index) const { return {sweep_.simulation->seed, index, hooks_.stop}; }

  const Sweep& sweep_;
  unsigned threads_;
  inputs::Inputs& inputs_;
  const RunHooks& hooks_;
  std::atomic<std::uint64_t> finished_{0};
};

}  // namespace

void run_points(const Sweep& sweep, const PointRange& range, unsigned threads, inputs::Inputs& inputs,
                const RunHooks& hooks) {
  const double maximum = std::clamp(max_chunk_positions / largest_gamma(sweep.points.space()), 1.0, max_chunk_points);
  const double work = chunk_seconds * resolve_threads(threads);  // seconds of one core
  double chunk = 1.0;
  ChunkRunner runner(sweep, threads, inputs, hooks);
  for (std::uint64_t first = range.first; first < range.last;) {
    const std::uint64_t last = std::min(range.last, first + static_cast<std::uint64_t>(chunk));
    const double start = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    runner.run(first, last);
    const double taken = std::max(cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - start, 1e-9);
    const double wanted = std::ceil(static_cast<double>(last - first) * work / taken);
    chunk = std::clamp(std::min(wanted, max_chunk_growth * chunk), 1.0, maximum);
    first = last;
  }
}

PointRange range_of(std::uint64_t points, const std::optional<Shard>& shard) {
  if (!shard) return {0, points};
  if (shard->index < 1 || shard->index > shard->count || shard->count > points) {
    throw InputError(fmt::format("invalid shard {}/{} (must be i/n with 1 <= i <= n <= {} points)", shard->index,
                                 shard->count, points));
  }
  const auto boundary = [&](std::uint64_t i) { return points / shard->count * i + std::min(points % shard->count, i); };
  return {boundary(shard->index - 1), boundary(shard->index)};
}

// ---- Estimate of the run time.

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double longest_sample_s = 0.5;
constexpr double shortest_sample_s = 0.05;
constexpr double share_of_run = 0.05;
constexpr std::uint64_t max_sampled = 64;
/// Sufficient duration of a timed piece.
constexpr double enough_s = 0.02;

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double thread_seconds() { return cpu_seconds(CLOCK_THREAD_CPUTIME_ID); }

/// A flag that is set when a stop is requested or the time is over.
class Deadline {
 public:
  Deadline(double seconds, StopToken stop) : end_(SteadyClock::now() + std::chrono::duration<double>(seconds)) {
    watcher_ = std::jthread([this, stop](const std::stop_token& done) {
      constexpr auto between_stops = std::chrono::milliseconds(5);
      std::unique_lock lock(mutex_);
      while (!done.stop_requested() && !over_) {
        wake_.wait_for(lock, done, between_stops, [] { return false; });
        if (stop.asked() || SteadyClock::now() >= end_) over_ = true;
      }
    });
  }

  [[nodiscard]] StopToken token() const { return &over_; }
  [[nodiscard]] bool passed() const { return over_ || SteadyClock::now() >= end_; }

 private:
  std::chrono::time_point<SteadyClock, std::chrono::duration<double>> end_;
  std::atomic<bool> over_{false};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread watcher_;  // last member, because it uses the others
};

/// The count that the plan uses.
std::uint64_t SimulationPlan::*counted_by(const SimulationPlan& plan) {
  if (plan.requests != 0) return &SimulationPlan::requests;
  return plan.sequences != 0 ? &SimulationPlan::sequences : &SimulationPlan::iterations;
}

/// Maximum entries of pools in a sample; larger than caches, like the actual pools.
constexpr double max_entries = 1e6;

/// Reduces the pool for a sample; returns the factor.
double cut_pool(Scenario& scenario) {
  auto* token = std::get_if<TokenFidelity>(&scenario.fidelity);
  auto* models = token == nullptr ? nullptr : std::get_if<SyntheticModels>(&token->models);
  if (models == nullptr) return 1.0;
  const auto whole = static_cast<double>(models->pool);
  const double maximum = std::max(2.0, std::floor(max_entries / static_cast<double>(models->vocabulary)));
  if (whole <= maximum) return 1.0;
  models->pool = static_cast<std::int64_t>(maximum);
  return whole / maximum;
}

/// Iterations, sequences or requests of the first piece of a point; small if each may take long.
std::uint64_t first_piece(const Scenario& scenario) {
  const auto* token = std::get_if<TokenFidelity>(&scenario.fidelity);
  const auto* models = token == nullptr ? nullptr : std::get_if<SyntheticModels>(&token->models);
  if (std::holds_alternative<Server>(scenario.fidelity)) return 1;
  if (models == nullptr) return 16;
  return models->contexts == Contexts::fresh ? 1 : 8192;  // one piece must be enough if pools are prepared again
}

/// Estimated seconds of the simulation of a point. Times pieces of increasing size until one is long enough or a whole
/// block.
double simulation_seconds(Scenario scenario, const SimulationPlan& asked, std::uint64_t point, StopToken stop) {
  const bool served = std::holds_alternative<Server>(scenario.fidelity);
  const SimulationPlan plan = served ? sim::plan_of_load(scenario, asked) : asked;
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
  double smaller_units = 0.0, smaller_seconds = 0.0;  // of the previous piece
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
      cut = true;  // a lower bound
    }
    const double taken = thread_seconds() - begin;
    if (whole == 0) return prepared + taken;  // a trace is replayed once, regardless of the plan
    const auto all = static_cast<double>(whole);
    const auto size = static_cast<double>(units);
    const auto blocks = static_cast<double>(simulator->blocks());
    if (blocks > 1.0) return prepared + taken * all * blocks / size;
    if (!cut && taken < enough_s && units < whole) {
      smaller_units = size;
      smaller_seconds = taken;
      continue;
    }
    // The fixed time of a block occurs once per block, not once per unit.
    const double each = std::max(0.0, taken - smaller_seconds) / std::max(1.0, size - smaller_units);
    const double once = std::max(0.0, taken - each * size);
    const double times = counted == &SimulationPlan::requests ? static_cast<double>(plan.replicas) : 1.0;
    return prepared + once * times + each * all;
  }
}

double seconds_of(const Sweep& sweep, std::uint64_t index, inputs::Inputs& inputs, StopToken stop) {
  const double start = thread_seconds();
  Scenario scenario = sweep.points.scenario(index);
  inputs.attach(scenario);
  static_cast<void>(analytic::answer(scenario, unknown<double>, stop));
  const double closed_form = thread_seconds() - start;
  return closed_form +
         (sweep.simulation ? simulation_seconds(std::move(scenario), *sweep.simulation, index, stop) : 0.0);
}

/// Mean seconds of one core per point of `range`, from a sample; nullopt if none can be timed.
std::optional<double> timed_seconds_per_point(const Sweep& sweep, const PointRange& range, inputs::Inputs& inputs,
                                              StopToken stop) {
  const std::uint64_t count = range.last - range.first;
  double sum = 0.0, timed = 0.0;
  try {
    const Deadline deadline(longest_sample_s, stop);
    const SteadyClock::time_point start = SteadyClock::now();
    // The sampling time grows with the estimated total time.
    const auto budget = [&] {
      const double mean = sum / std::max(timed, 1.0);
      return std::clamp(share_of_run * mean * static_cast<double>(count), shortest_sample_s, longest_sample_s);
    };
    for (std::uint64_t sampled = 0; sampled < std::min(count, max_sampled) && seconds_since(start) < budget();
         ++sampled) {
      // Multiples of the golden ratio: evenly spread for any number of samples, and not periodic along any axis.
      constexpr double golden = 0.6180339887498949;
      const double place = std::fmod(static_cast<double>(sampled) * golden, 1.0);
      const auto offset = std::min(count - 1, static_cast<std::uint64_t>(place * static_cast<double>(count)));
      try {
        sum += seconds_of(sweep, range.first + offset, inputs, deadline.token());
        stop.check();
        ++timed;
      } catch (const Interrupted&) {
        stop.check();
        sum += longest_sample_s;  // at least the elapsed time
        ++timed;
        break;
      } catch (const std::domain_error&) {  // the run will report it
      }
    }
  } catch (const std::system_error&) {  // no thread available for the deadline
  } catch (const std::bad_alloc&) {     // no memory; the run will report it
  }
  return timed > 0.0 ? std::optional(sum / timed) : std::nullopt;
}

}  // namespace

void say_plan(const Sweep& sweep, const PointRange& range, std::uint64_t finished, unsigned threads,
              inputs::Inputs& inputs, StopToken stop) {
  const std::uint64_t points = range.last - range.first - finished;
  std::string plan = fmt::format("plan        {} point{}", points, points == 1 ? "" : "s");
  if (finished > 0) plan += fmt::format(" ({} of {} are done)", finished, range.last - range.first);
  if (sweep.simulation && !sweep.replays) {
    const SimulationPlan& counts = *sweep.simulation;
    for (const auto& [units, name] :
         {std::pair{counts.iterations, "iterations"}, {counts.sequences, "sequences"}, {counts.requests, "requests"}}) {
      if (units != 0 && units != as_load_needs)
        plan += fmt::format(", {:.3g} {}", static_cast<double>(points) * static_cast<double>(units), name);
    }
  }
  const unsigned team = resolve_threads(threads);
  if (const auto seconds = timed_seconds_per_point(sweep, {range.first + finished, range.last}, inputs, stop)) {
    plan += ", about " + duration_text(static_cast<double>(points) * *seconds / team);
  }
  say("{} on {} thread{}", plan, team, team == 1 ? "" : "s");
}

}  // namespace foredraft::experiments
