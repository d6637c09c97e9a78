// SPDX-License-Identifier: Apache-2.0
#include "experiments/commands/validate_loops.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "core/files.hpp"
#include "core/parallel.hpp"
#include "core/problems.hpp"
#include "core/streams.hpp"
#include "experiments/cli/child_process.hpp"
#include "experiments/cli/exit_codes.hpp"
#include "experiments/cli/interrupt.hpp"
#include "gpu_bench/cpu/cpu_facts.hpp"
#include "gpu_bench/cpu/cpu_loop.hpp"
#include "gpu_bench/loop/loop_table.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "gpu_bench/run/run_errors.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::experiments {
namespace {

using gpu_bench::LoopCell;
using gpu_bench::LoopRow;

void refuse_other_processor(const latency::Profile& profile, const LoopsRequest& request) {
  const std::string here = gpu_bench::profile_device(gpu_bench::cpu_facts(), resolve_threads(request.threads)).name;
  if (profile.device.name == here) return;
  throw InputError(
      fmt::format("{}: is a profile of {}, and this is {} (times of one say nothing of the other) - give the "
                  "--threads that it was calibrated with, or calibrate this machine",
                  request.profile, profile.device.name, here));
}

Measurement run_on_processor(const std::vector<LoopCell>& cells, const LoopsRequest& request, const KeepCells& keep) {
  const std::atomic<bool>& wanted_to_end = catch_interrupts();
  gpu_bench::CpuLoop loop(latency::model_registry(), resolve_threads(request.threads), [&wanted_to_end] {
    if (wanted_to_end) throw gpu_bench::Interrupted{};
  });
  const gpu_bench::LoopDevice device{.side_of = [&loop](const LoopCell& cell) { return loop.side_of(cell); },
                                     .now_s = gpu_bench::steady_now_s};
  const auto keep_rows = [&keep](const std::vector<LoopRow>& rows) { keep(measured_cells(rows)); };
  const auto note = [](const std::string& text) { say("{}", text); };
  gpu_bench::LoopResult result = gpu_bench::run_loop(cells, 60.0 * request.minutes, device, keep_rows, note);
  return {.end = result.end, .cells = measured_cells(result.rows), .missing = std::move(result.missing)};
}

/// Where foredraft-gpu lies, once it has said that its GPU is that of the profile.
std::string find_gpu_program(const latency::Profile& profile, const LoopsRequest& request) {
  const std::string measured = fmt::format("{}: was measured on a GPU ({})", request.profile, profile.device.name);
  if (request.threads != 0) throw InputError(measured + ", which has no --threads to choose - leave it out");
  std::string program = find_program("foredraft-gpu");
  if (program.empty()) {
    throw InputError(
        fmt::format("{}, and foredraft-gpu is neither beside this program ({}) nor on the PATH - build it where the "
                    "CUDA toolkit is (gpu_bench/README.md)",
                    measured, program_folder()));
  }
  const int code = run_and_wait({program, "facts", "--device", profile.device.name}, ChildOutput::dropped);
  if (code == exit_done) return program;
  throw InputError(
      fmt::format("{}, and the GPU here is another, or there is none (times of one say nothing of the other) - "
                  "foredraft-gpu facts says what is here",
                  measured));
}

Measurement run_on_gpu(const std::string& program, const std::vector<LoopCell>& cells, const LoopsRequest& request) {
  const std::filesystem::path folder(request.folder);
  const std::string asked = (folder / "cells.csv").string();
  const std::string answered = (folder / "rows.csv").string();
  replace_file(asked, gpu_bench::loop_cells_csv(cells));
  static_cast<void>(catch_interrupts());  // the child ends at the same signal and leaves what it has
  const int code = run_and_wait(
      {program, "loop", "--cells", asked, "--out", answered, "--minutes", fmt::format("{}", request.minutes)},
      ChildOutput::to_stderr);
  if (code != exit_done && code != exit_interrupted) {
    throw RunError(
        fmt::format("foredraft validate: {} failed; what it had measured is in {}", program, folder.string()));
  }
  std::vector<LoopRow> rows;
  if (std::filesystem::exists(answered)) rows = gpu_bench::read_loop_rows(read_result_file(answered), answered);
  Measurement measured{.cells = measured_cells(rows)};
  if (code == exit_interrupted) {
    measured.end = gpu_bench::MeasureEnd::interrupted;
    return measured;
  }
  for (const LoopCell& cell : cells) {
    const auto is_cell = [&cell](const LoopRow& row) { return row.cell == cell; };
    if (std::any_of(rows.begin(), rows.end(), is_cell)) continue;
    measured.missing.push_back({.what = to_text(cell), .why = "foredraft-gpu could not run it; its reason is above"});
  }
  return measured;
}

}  // namespace

RunLoops loops_of(const latency::Profile& profile, const LoopsRequest& request) {
  if (profile.source != latency::Source::measured) {
    throw InputError(
        fmt::format("{}: its times were not measured here (source {}) - foredraft calibrate measures this machine",
                    request.profile, to_string(profile.source)));
  }
  if (!profile.identity.cuda_runtime.empty()) {
    return [program = find_gpu_program(profile, request), request](const auto& cells, const KeepCells& /*keep*/) {
      return run_on_gpu(program, cells, request);
    };
  }
  refuse_other_processor(profile, request);
  return [request](const auto& cells, const KeepCells& keep) { return run_on_processor(cells, request, keep); };
}

}  // namespace foredraft::experiments
