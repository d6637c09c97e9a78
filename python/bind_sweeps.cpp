// SPDX-License-Identifier: Apache-2.0
// Sweeps and their folders, experiments of papers, validation.
#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "foredraft/sweep.hpp"
#include "python/bind.hpp"
#include "python/long_work.hpp"

namespace nb = nanobind;

namespace foredraft::python {
namespace {

nb::tuple sweep_result(const SweepResult& result) {
  return nb::make_tuple(result.points, result.resumed, result.already_complete);
}

nb::tuple run_sweep_config(const std::string& config, const std::string& folder,
                           std::optional<std::pair<std::uint64_t, std::uint64_t>> shard, unsigned threads,
                           const std::vector<std::string>& command_line, const nb::object& progress) {
  return sweep_result(run_interruptibly(
      [&](const std::atomic<bool>& stop, ProgressBoard& board) {
        SweepOptions options{.threads = threads, .stop = &stop, .command_line = command_line};
        options.progress = [&](const SweepProgress& now) { board.show(now.finished, static_cast<double>(now.total)); };
        if (shard) options.shard = Shard{shard->first, shard->second};
        return run_config(config, folder, options);
      },
      progress));
}

nb::tuple merge(const std::vector<std::string>& shards, const std::string& folder,
                const std::vector<std::string>& command_line) {
  return sweep_result(run_interruptibly(
      [&](const std::atomic<bool>& stop, ProgressBoard&) {
        return merge_shards(shards, folder, {.stop = &stop, .command_line = command_line});
      },
      nb::none()));
}

nb::tuple repeat(const std::string& folder, unsigned threads, const nb::object& progress) {
  const RepeatedFolder run = run_interruptibly(
      [&](const std::atomic<bool>& stop, ProgressBoard& board) {
        return repeat_folder(folder, threads, &stop, [&](double finished, std::uint64_t total) {
          board.show(finished, static_cast<double>(total));
        });
      },
      progress);
  return nb::make_tuple(run.points, run.hash, run.version);
}

nb::dict reproduce(const std::vector<std::string>& names, std::uint64_t seed, unsigned threads,
                   const std::optional<std::string>& folder, const std::optional<std::string>& validation,
                   const std::vector<std::string>& command_line, const nb::object& progress) {
  const Reproduced all = run_interruptibly(
      [&](const std::atomic<bool>& stop, ProgressBoard& board) {
        return reproduce_experiments(names,
                                     {.seed = seed,
                                      .threads = threads,
                                      .folder = folder,
                                      .validation = validation,
                                      .command_line = command_line,
                                      .stop = &stop,
                                      .progress = [&](double finished, double total) { board.show(finished, total); }});
      },
      progress);
  nb::list experiments;
  for (const ReproducedExperiment& one : all.experiments) {
    experiments.append(nb::make_tuple(one.id, one.summary, one.text, one.files));
  }
  nb::dict reproduced;
  reproduced["experiments"] = experiments;
  reproduced["scorecard"] = all.scorecard;
  reproduced["summary"] = all.summary;
  reproduced["failed"] = all.failed;
  return reproduced;
}

nb::dict validate(const std::string& profile, bool steps, const std::string& text, const std::string& source,
                  const std::optional<std::string>& folder, const std::vector<std::string>& command_line) {
  const ValidatedSpeedups found = run_interruptibly(
      [&](const std::atomic<bool>& /*stop*/, ProgressBoard&) {
        return validate_speedups(profile, steps, text, source, folder, command_line);
      },
      nb::none());
  nb::dict validated;
  validated["csv"] = found.csv;
  validated["text"] = found.text;
  validated["device"] = found.device;
  validated["valid"] = found.valid;
  return validated;
}

}  // namespace

void bind_sweeps(nb::module_& module) {
  module.def("config_of_file", config_of_file);
  module.def("config_of_document", config_of_document);
  module.def("config_points", config_points);
  module.def("holds_whole_sweep", holds_whole_sweep);
  module.def("run_sweep", run_sweep_config, nb::arg("config"), nb::arg("folder"), nb::arg("shard").none(),
             nb::arg("threads"), nb::arg("command_line"), nb::arg("progress").none());
  module.def("merge_shards", merge);
  module.def("repeat_folder", repeat, nb::arg("folder"), nb::arg("threads"), nb::arg("progress").none());
  module.def("reproduce", reproduce, nb::arg("names"), nb::arg("seed"), nb::arg("threads"), nb::arg("folder").none(),
             nb::arg("validation").none(), nb::arg("command_line"), nb::arg("progress").none());
  module.def("validate", validate, nb::arg("profile"), nb::arg("steps"), nb::arg("text"), nb::arg("source"),
             nb::arg("folder").none(), nb::arg("command_line"));
}

}  // namespace foredraft::python
