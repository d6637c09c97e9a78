// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/calibration_texts.hpp"
#include "app/commands/commands.hpp"
#include "app/scenario_options.hpp"
#include "app/scripts.hpp"
#include "app/validation.hpp"
#include "core/files.hpp"
#include "core/parallel.hpp"
#include "core/problems.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "gpu_bench/cpu/cpu_facts.hpp"
#include "gpu_bench/cpu/cpu_loop.hpp"
#include "gpu_bench/loop/loop_table.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "gpu_bench/run/profile_folder.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/verification_surface.hpp"

namespace foredraft::app {
namespace {

using gpu_bench::LoopCell;
using gpu_bench::LoopRow;

constexpr double default_validate_minutes = 2.0;
constexpr double max_validate_minutes = 1440.0;
constexpr std::int64_t max_validate_count = 1'000'000;

struct ValidateOptions {
  std::string profile;
  std::string out;                  ///< also for cells.csv and rows.csv of foredraft-gpu
  std::string against;              ///< empty: run loops
  std::vector<std::string> models;  ///< target and drafter; empty: the default pairs
  answers::GridRequest grid;
  double minutes;    ///< for all loops
  unsigned threads;  ///< CPU threads; 0: one per hardware thread
};

// ---- Decoding loops, on this CPU or on a GPU by foredraft-gpu.

void reject_other_processor(const latency::Profile& profile, const ValidateOptions& request) {
  const std::string here = gpu_bench::profile_device(gpu_bench::cpu_facts(), resolve_threads(request.threads)).name;
  if (profile.device.name == here) return;
  throw InputError(
      fmt::format("{}: is a profile of {}, and this is {} (times of one device do not apply to another) - give the "
                  "--threads that it was calibrated with, or calibrate this machine",
                  request.profile, profile.device.name, here));
}

MeasuredCells run_on_processor(const std::vector<LoopCell>& cells, const ValidateOptions& request,
                               const KeepCells& keep) {
  const std::atomic<bool>& wanted_to_end = catch_interrupts();
  gpu_bench::CpuLoop loop(latency::model_registry(), resolve_threads(request.threads), [&wanted_to_end] {
    if (wanted_to_end) throw Interrupted();
  });
  const gpu_bench::LoopDevice device{.side_of = [&loop](const LoopCell& cell) { return loop.side_of(cell); },
                                     .now_s = gpu_bench::steady_now_s};
  const auto keep_rows = [&keep](const std::vector<LoopRow>& rows) { keep(answers::measured_cells(rows)); };
  const auto note = [](const std::string& text) { say("{}", text); };
  gpu_bench::LoopResult result = gpu_bench::run_loop(cells, 60.0 * request.minutes, device, keep_rows, note);
  return {.end = result.end, .cells = answers::measured_cells(result.rows), .missing = std::move(result.missing)};
}

/// The path of foredraft-gpu, after checking that its GPU is that of the profile.
std::string find_gpu_program(const latency::Profile& profile, const ValidateOptions& request) {
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
      fmt::format("{}, and the GPU here is another, or there is none (times of one device do not apply to another) - "
                  "foredraft-gpu facts says what is here",
                  measured));
}

MeasuredCells run_on_gpu(const std::string& program, const std::vector<LoopCell>& cells,
                         const ValidateOptions& request) {
  const std::filesystem::path folder(request.out);
  const std::string asked = (folder / "cells.csv").string();
  const std::string answered = (folder / "rows.csv").string();
  replace_file(asked, gpu_bench::loop_cells_csv(cells));
  static_cast<void>(catch_interrupts());  // the child ends at the same signal and keeps its results
  const int code = run_and_wait(
      {program, "loop", "--cells", asked, "--out", answered, "--minutes", fmt::format("{}", request.minutes)},
      ChildOutput::to_stderr);
  if (code != exit_done && code != exit_interrupted) {
    throw RunError(
        fmt::format("foredraft validate: {} failed; completed measurements are in {}", program, folder.string()));
  }
  std::vector<LoopRow> rows;
  if (std::filesystem::exists(answered)) rows = gpu_bench::read_loop_rows(read_result_file(answered), answered);
  MeasuredCells measured{.cells = answers::measured_cells(rows)};
  if (code == exit_interrupted) {
    measured.end = gpu_bench::MeasureEnd::interrupted;
    return measured;
  }
  for (const LoopCell& cell : cells) {
    const auto is_cell = [&cell](const LoopRow& row) { return row.cell == cell; };
    if (std::ranges::any_of(rows, is_cell)) continue;
    measured.missing.push_back({.what = to_text(cell), .why = "foredraft-gpu could not run it; its reason is above"});
  }
  return measured;
}

using RunLoops = std::function<MeasuredCells(const std::vector<LoopCell>& cells, const KeepCells& keep)>;

/// A function that runs loops on the device of the profile, and that throws RunError if foredraft-gpu fails. Throws
/// InputError for a device of another machine.
RunLoops loops_of(const latency::Profile& profile, const ValidateOptions& request) {
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
  reject_other_processor(profile, request);
  return [request](const auto& cells, const KeepCells& keep) { return run_on_processor(cells, request, keep); };
}

ValidateOptions read_validate_options(CommandLine& line) {
  if (!names_device(line)) {
    line.require("profile", "the times to predict from", "e.g. --profile cpu.json, from foredraft calibrate");
  }
  if (line.has("device") && !line.has("against")) {
    line.reject("device", "given without --against", "loops on this machine need a profile of this machine",
                "use --profile");
  }
  line.require("out", "where the results go", "e.g. --out results/validation");
  if (line.has("against")) {
    for (const char* name : {"target", "draft", "gamma", "alpha", "batch", "context", "minutes", "threads"}) {
      line.reject_any({name}, "mutually exclusive with --against",
                      "its file holds the measurements, and nothing is run", "remove one");
    }
  }
  if (line.has("target")) line.require("draft", "a target is validated with its drafter", "e.g. --draft t5-small");
  if (line.has("draft")) line.require("target", "a drafter is validated with its target", "e.g. --target t5-base");
  ValidateOptions options{
      .profile = names_device(line) ? named_device(line) : "",
      .out = line.text("out").value_or(""),
      .against = line.text("against").value_or(""),
      .models = named_pair(line),
      .grid = {.pairs = {},
               .gammas = line.integers("gamma", 1, 1023),
               .alphas = line.probabilities("alpha"),
               .batches = line.integers("batch", 1, max_validate_count),
               .contexts = line.integers("context", 0, max_validate_count)},
      .minutes = line.real("minutes", 0.001, max_validate_minutes).value_or(default_validate_minutes),
      .threads = line.threads()};
  line.done();
  return options;
}

struct Validated {
  std::vector<answers::CellPrediction> predictions;
  MeasuredCells measured;
};

std::vector<gpu_bench::PlannedPair> validated_pairs(const latency::Profile& profile, const ValidateOptions& options) {
  if (!options.models.empty()) return gpu_bench::pairs_of(latency::model_registry(), options.models);
  std::vector<gpu_bench::PlannedPair> pairs = answers::pairs_in(profile);
  if (pairs.empty()) {
    throw InputError(
        fmt::format("{}: has no times of a default pair - name one with --target and --draft", options.profile));
  }
  return pairs;
}

Validated validate_against(const ValidateOptions& options, const latency::Profile& profile, ValidationInputs inputs) {
  const std::string text = read_input(options.against, inputs.files);
  PredictedSpeedups speedups = predict_speedups(text, options.against, profile);
  MeasuredCells measured = run_validation(options.out, inputs, speedups.predictions, [&speedups](const auto& /*keep*/) {
    return MeasuredCells{.cells = std::move(speedups.measured)};
  });
  return {.predictions = std::move(speedups.predictions), .measured = std::move(measured)};
}

Validated validate_here(const ValidateOptions& options, const latency::Profile& profile,
                        const ValidationInputs& inputs) {
  const RunLoops run = loops_of(profile, options);
  answers::GridRequest grid = options.grid;
  grid.pairs = validated_pairs(profile, options);
  const answers::ValidationGrid chosen = answers::validation_cells(profile, grid);
  for (const std::string& what : chosen.left_out) say("left out: {}", what);
  std::vector<answers::CellPrediction> predictions = answers::predict_cells(chosen.cells, profile, options.profile);
  MeasuredCells measured =
      run_validation(options.out, inputs, predictions, [&](const KeepCells& keep) { return run(chosen.cells, keep); });
  return {.predictions = std::move(predictions), .measured = std::move(measured)};
}

int run_validate(CommandLine& line) {
  const ValidateOptions options = read_validate_options(line);
  const inputs::ReadProfile read = read_named_device(line);
  const latency::Profile& profile = read.profile;
  const ValidationInputs inputs{.files = {read.digest},
                                .measured_by = options.against.empty() ? MeasuredBy::loop : MeasuredBy::user,
                                .valid = profile.valid(),
                                .command_line = line.words()};
  if (const auto ignored = latency::ignored_verifications(profile)) say("{}", *ignored);
  static_cast<void>(catch_interrupts());  // before anything is written
  const auto [predictions, measured] =
      options.against.empty() ? validate_here(options, profile, inputs) : validate_against(options, profile, inputs);
  if (measured.end == gpu_bench::MeasureEnd::interrupted) {
    say("interrupted; {}/validation.csv holds {} of {} cells; use another --out to start again", options.out,
        measured.cells.size(), predictions.size());
    return exit_interrupted;
  }
  if (measured.cells.empty()) {
    throw RunError(fmt::format("foredraft validate: no loop could run: {}", measured.missing.front().why));
  }
  PlotResult figures = PlotResult::drawn;
  if (!line.has("no-figures")) {
    const WriteLock lock = WriteLock::of_folder(options.out);
    figures = draw_figures(options.out);
  }
  print_result(validation_text(predictions, measured, inputs.measured_by, profile.device.name));
  if (figures == PlotResult::failed) return exit_failed;
  if (inputs.valid) return exit_done;
  const bool accepted = line.has("accept-noise");
  say("{}", noise_message(fmt::format("{} is not valid: {}. Its predictions are not reliable", options.profile,
                                      noise_text(profile)),
                          "calibrate again on a quiet machine", accepted));
  return accepted ? exit_done : exit_failed;
}

}  // namespace

Command validate_command() {
  return {
      {.name = "validate",
       .arguments = "--profile PROFILE.json --out DIR [options]",
       .summary = "Predicts decoding loops from a profile, runs them on this machine, and compares.",
       .options = {{"profile", "PROFILE.json",
                    "of this machine, from foredraft calibrate; with --against any profile or a "
                    "shipped device (foredraft list devices)"},
                   {"device", "D", "with --against, instead of --profile: a shipped device, or FILE.toml"},
                   {"out", "DIR", "new folder: prediction.csv (written first), validation.csv, manifest.json, figures"},
                   {"against", "FILE.csv", "speedups measured in an engine (docs/validation.md); runs no loop"},
                   {"target", "T", "one target instead of the pairs of the profile"},
                   {"draft", "D", "its drafter"},
                   {"gamma", "G,...", "draft lengths; all combinations of these four lists run"},
                   {"alpha", "A,...", "acceptance rates"},
                   {"batch", "B,...", "batch sizes"},
                   {"context", "N,...", "context lengths in tokens"},
                   {"minutes", "M", "time limit for all loops (default 2)"},
                   {"threads", "N", "CPU threads, as in the calibration (default 0: one per hardware thread)"},
                   {"accept-noise", "", "exit with 0 even if the profile is marked as not valid"},
                   {"no-figures", "", "only data: no figures"}},
       .min_positional = 0,
       .max_positional = 0,
       .examples = {"foredraft validate --profile cpu.json --out results/validation",
                    "foredraft validate --profile h200 --against speedups.csv --out results/engine",
                    "foredraft validate --profile t5.json --target t5-base --draft t5-small --batch 2,3 --gamma 2,5 "
                    "--out results/t5"},
       .notes =
           "Without --gamma, --alpha, --batch and --context: at least 24 cells over gamma 2 to 7, alpha 0.5 to 0.9, "
           "and "
           "batch sizes and context lengths between those of the profile. With one of them, each of the others takes "
           "one value: gamma 3, alpha 0.7, the first batch size and context length between.\n"},
      run_validate};
}

}  // namespace foredraft::app
