// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/run_sweep.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/parallel.hpp"
#include "core/streams.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/config/plan_check.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/sweep/summary.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "experiments/sweep/timed_sample.hpp"
#include "scenario/family.hpp"

namespace foredraft::experiments {
namespace {

void say_plan(const SweepConfig& config, const PointRange& range, std::uint64_t finished, unsigned threads,
              Inputs& inputs, StopToken stop) {
  const std::uint64_t points = range.last - range.first - finished;
  std::string plan = fmt::format("plan        {} point{}", points, points == 1 ? "" : "s");
  if (finished > 0) plan += fmt::format(" ({} of {} are there)", finished, range.last - range.first);
  if (config.simulation) {
    const SimulationPlan& counts = *config.simulation;
    // A recording is replayed once, however long it is.
    const std::vector<scenario::Value> processes = values_of(config, "process");
    const bool replays =
        !processes.empty() && std::all_of(processes.begin(), processes.end(), [](const scenario::Value& process) {
          return process == scenario::Value(std::string(scenario::name_of(AcceptanceProcess(Trace{}))));
        });
    for (const auto& [units, name] :
         {std::pair{counts.iterations, "iterations"}, {counts.sequences, "sequences"}, {counts.requests, "requests"}}) {
      if (units == 0 || replays) continue;
      plan += fmt::format(", {:.3g} {}", static_cast<double>(points) * static_cast<double>(units), name);
    }
  }
  const unsigned team = resolve_threads(threads);
  const double seconds = timed_seconds_per_point(config, {range.first + finished, range.last}, inputs, stop);
  say("{}, about {} on {} thread{}", plan, duration_text(static_cast<double>(points) * seconds / team), team,
      team == 1 ? "" : "s");
}

PointRange range_of(const SweepConfig& config, const std::optional<Shard>& shard) {
  const std::uint64_t points = point_count(config);
  return shard ? shard_range(points, shard->index, shard->count) : PointRange{0, points};
}

}  // namespace

SweepOutcome run_sweep(const SweepConfig& config, const SweepOrder& order) {
  const PointRange range = range_of(config, order.shard);
  const std::uint64_t points = range.last - range.first;
  const auto in_phase = [&](const char* name, const auto& work) {
    std::optional<Progress> progress;
    if (order.talk) progress.emplace(name);
    work();
  };
  Inputs inputs(config.folder);
  in_phase("reading inputs", [&] { read_inputs(config, inputs); });
  if (order.talk) {
    for (const std::string& note : inputs.notes()) say("note: {}", note);
  }
  Manifest manifest = new_manifest(config, order.shard, inputs.files(), order.command_line, order.threads);
  WriteLock lock = WriteLock::of_folder(order.folder);
  std::optional<Manifest> before = claim_folder(order.folder, manifest);
  if (before && before->state == "complete") {
    const bool other_figures = figures_json(before->config) != figures_json(config);
    if (other_figures) {  // the points stay, the figures are made anew
      remove_drawings(before->config, order.folder);
      before->config.figures = config.figures;
      remove_drawings(before->config, order.folder);
      complete_folder(order.folder, std::move(*before));
    }
    return {points, points, true, other_figures, std::move(lock)};
  }
  if (!before) {
    try {
      replace_file(manifest_path(order.folder), to_text(manifest));
    } catch (const RunError& error) {  // nothing has been computed: the folder is the user's mistake
      throw InputError(error.what());
    }
  }
  const auto run_rest = [&](AppendFile& file, std::uint64_t finished) {
    if (order.talk) say_plan(config, range, finished, order.threads, inputs, order.stop);
    std::optional<Progress> progress;
    if (order.talk) progress.emplace("points", static_cast<double>(points), static_cast<double>(finished));
    run_points(config, {range.first + finished, range.last}, order.threads, inputs,
               {.write = [&](std::string_view rows, std::uint64_t /*points*/) { file.append(rows); },
                .progress =
                    [&](double count) {
                      if (progress) progress->show(count);
                      if (order.progress) order.progress({static_cast<double>(finished) + count, points});
                    },
                .stop = order.stop});
  };
  const std::uint64_t resumed = extend_points(order.folder, range, manifest, run_rest);
  in_phase("summary and figure data", [&] { complete_folder(order.folder, manifest); });
  return {points, resumed, false, true, std::move(lock)};
}

}  // namespace foredraft::experiments

namespace foredraft {
namespace {

void check_shard(const Shard& shard, std::uint64_t points) {
  if (shard.index >= 1 && shard.index <= shard.count && shard.count <= points) return;
  throw InputError(
      fmt::format("invalid shard {}/{} (must be i/n with 1 <= i <= n <= {} points)", shard.index, shard.count, points));
}

}  // namespace

SweepResult run_sweep(const std::string& config_file, const std::string& folder, const SweepOptions& options) {
  const experiments::SweepConfig config = experiments::load_sweep_config(config_file);
  if (options.shard) check_shard(*options.shard, experiments::point_count(config));
  const experiments::SweepOutcome outcome = experiments::run_sweep(config, {.folder = folder,
                                                                            .shard = options.shard,
                                                                            .threads = options.threads,
                                                                            .command_line = options.command_line,
                                                                            .talk = false,
                                                                            .stop = options.stop,
                                                                            .progress = options.progress});
  return {outcome.points, outcome.resumed, outcome.already_complete};
}

}  // namespace foredraft
