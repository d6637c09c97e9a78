// SPDX-License-Identifier: Apache-2.0
// Sweeps and their folders.
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

}  // namespace

void bind_sweeps(nb::module_& module) {
  module.def("config_of_file", config_of_file);
  module.def("config_of_document", config_of_document);
  module.def("config_points", config_points);
  module.def("holds_whole_sweep", holds_whole_sweep);
  module.def("run_sweep", run_sweep_config, nb::arg("config"), nb::arg("folder"), nb::arg("shard").none(),
             nb::arg("threads"), nb::arg("command_line"), nb::arg("progress").none());
  module.def("merge_shards", merge);
}

}  // namespace foredraft::python
