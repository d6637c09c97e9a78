// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/run_points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "analytic/answer/answer.hpp"
#include "core/check.hpp"
#include "core/numbers.hpp"
#include "core/parallel.hpp"
#include "core/problems.hpp"
#include "experiments/config/plan_check.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/text/csv.hpp"
#include "scenario/check.hpp"
#include "sim/simulate.hpp"

namespace foredraft::experiments {
namespace {

/// Seconds of work between two writes: what an interruption can lose.
constexpr double chunk_seconds = 0.1;
constexpr double max_chunk_points = 4096;
/// Draft positions counted at a time over all points of a chunk: what bounds the memory of a sweep.
constexpr double max_chunk_positions = 1e7;
/// Points that a thread takes at a time, so that taking costs nothing beside 20 us of work.
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
  ChunkRunner(const SweepConfig& config, unsigned threads, Inputs& inputs, const RunHooks& hooks)
      : config_(config),
        points_(config),
        metrics_(answered_metrics(config)),
        threads_(threads),
        inputs_(inputs),
        hooks_(hooks) {}

  /// Writes the rows of [first, last); where a point fails or somebody stops the run, those in front of the first that
  /// is missing.
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
    const std::vector<std::size_t> place = points_.coordinates(index);
    for (std::size_t i = 0; i < place.size(); ++i) {
      const scenario::Axis& axis = config_.axes[i];
      values.push_back(fmt::format("{} {}", axis.parameter->name, scenario::to_text(axis.values[place[i]])));
    }
    const std::string point = fmt::format("point {}", index);
    return values.empty() ? point : fmt::format("{} ({})", point, fmt::join(values, ", "));
  }

  /// What only a run finds out (an alpha that a draft cannot reach, times that add up to years) fails it: a manifest is
  /// there already, and rows may be.
  template <class Work>
  void naming(std::uint64_t index, const Work& work) const {
    try {
      work();
    } catch (const DomainError& error) {
      fail(index, error.what());
    } catch (const std::bad_alloc&) {
      fail(index, "not enough memory");
    } catch (const std::domain_error& error) {  // of a special function
      fail(index, error.what());
    } catch (const std::overflow_error& error) {
      fail(index, error.what());
    }
  }

  [[noreturn]] void fail(std::uint64_t index, std::string_view what) const {
    ProblemList problems(config_.source);
    Problem problem{.text = fmt::format("{}: {}", name_of(index), what),
                    .suggestion = "change the configuration and use another --out"};
    const std::string_view key = key_of_error(what);
    if (key.empty()) {
      problems.add(std::move(problem));
    } else {
      report_input(config_, key, std::move(problem), problems);
    }
    throw RunError(problems.text());
  }

  /// The parameter of the configuration that an error names: "invalid process.a=2 (must ...)", or empty.
  [[nodiscard]] std::string_view key_of_error(std::string_view what) const {
    constexpr std::string_view start = "invalid ";
    if (!what.starts_with(start)) return {};
    const std::string_view name = what.substr(start.size(), what.find_first_of("= [", start.size()) - start.size());
    for (const scenario::Parameter& parameter : scenario::parameters()) {
      const bool same = parameter.name == name || (parameter.name.ends_with(name) &&
                                                   parameter.name[parameter.name.size() - name.size() - 1] == '.');
      if (same && has_input(config_, parameter.name)) return parameter.name;
    }
    return {};
  }

  /// Finishes a point of one block; returns a larger one, to be run block by block.
  std::unique_ptr<LargePoint> start(std::uint64_t index, std::string& row) {
    Scenario scenario = points_.scenario(index);
    inputs_.attach(scenario);
    if (!config_.simulation) {
      append_row(index, scenario, nullptr, {}, row);
      return nullptr;
    }
    std::unique_ptr<sim::Simulator> simulator = sim::make_simulator(scenario, *config_.simulation, hooks_.stop);
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
    std::vector<std::uint64_t> places;      // in `points`
    std::vector<std::uint64_t> first_unit;  // of each, in the common numbering of all blocks
    std::uint64_t units = 0;
    for (std::uint64_t i = 0; i < points.size(); ++i) {
      if (!points[i]) continue;
      places.push_back(i);
      first_unit.push_back(units);
      units += points[i]->simulator->blocks();
    }
    std::atomic<std::uint64_t> done{0};
    parallel_for(units, threads_, [&](std::uint64_t unit) {
      const auto after = std::upper_bound(first_unit.begin(), first_unit.end(), unit);
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

  /// Nothing, or a whole row.
  void append_row(std::uint64_t index, const Scenario& scenario, const sim::Simulator* simulator,
                  const sim::Tally& tally, std::string& to) const {
    std::string row;
    append_number(row, index);
    row += ',';
    points_.append_cells(index, row);
    if (simulator != nullptr) {
      sim::check_conservation(tally);
      const Simulated simulated = sim::estimates_of(scenario, tally);
      const double acceptance = sim::pool_acceptance(scenario, *simulator);
      append_answer(metrics_, analytic::answer(scenario, acceptance, hooks_.stop), &simulated, row);
    } else {
      append_answer(metrics_, analytic::answer(scenario, unknown<double>, hooks_.stop), nullptr, row);
    }
    row += '\n';
    to = std::move(row);
  }

  [[nodiscard]] sim::RunKey key_of(std::uint64_t index) const { return {config_.simulation->seed, index, hooks_.stop}; }

  const SweepConfig& config_;
  Points points_;
  std::vector<scenario::Metric> metrics_;
  unsigned threads_;
  Inputs& inputs_;
  const RunHooks& hooks_;
  std::atomic<std::uint64_t> finished_{0};
};

std::uint64_t points_per_chunk(const SweepConfig& config, unsigned threads) {
  const double points = chunk_seconds * resolve_threads(threads) / seconds_per_point(config);
  const double most = std::clamp(max_chunk_positions / largest_gamma(config), 1.0, max_chunk_points);
  return static_cast<std::uint64_t>(std::clamp(std::ceil(points), 1.0, most));
}

}  // namespace

std::string points_header(const SweepConfig& config) {
  std::string header = "index";
  for (const std::string& name : Points(config).columns()) header.append(",").append(csv_cell(name));
  for (const std::string& name : answer_columns(config)) header.append(",").append(name);
  return header.append("\n");
}

void run_points(const SweepConfig& config, const PointRange& range, unsigned threads, Inputs& inputs,
                const RunHooks& hooks) {
  const std::uint64_t chunk = points_per_chunk(config, threads);
  ChunkRunner runner(config, threads, inputs, hooks);
  for (std::uint64_t first = range.first; first < range.last; first += chunk) {
    const std::uint64_t last = std::min(range.last, first + chunk);
    runner.run(first, last);
  }
}

PointRange shard_range(std::uint64_t points, std::uint64_t shard, std::uint64_t count) {
  const auto boundary = [&](std::uint64_t i) { return points / count * i + std::min(points % count, i); };
  return {boundary(shard - 1), boundary(shard)};
}

}  // namespace foredraft::experiments
