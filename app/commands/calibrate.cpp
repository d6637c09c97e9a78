// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/calibrate_log.hpp"
#include "app/calibration_texts.hpp"
#include "app/commands/commands.hpp"
#include "app/scenario_options.hpp"
#include "app/scripts.hpp"
#include "core/files.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "experiments/results/manifest.hpp"
#include "gpu_bench/cpu/measure_cpu.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "inputs/devices.hpp"
#include "inputs/llama_bench.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::app {
namespace {

namespace fs = std::filesystem;
using gpu_bench::MeasureEnd;
using gpu_bench::PlannedPair;
using latency::Profile;
using Counts = std::vector<std::int64_t>;

constexpr double longest_minutes = 1440.0;
constexpr std::size_t max_bench_files = 1000;
constexpr std::int64_t max_count = 1'000'000;

struct CalibrateOptions {
  std::string out, backend;
  std::vector<std::string> models;  ///< target and drafter; empty: the default pairs
  std::optional<Counts> batches, contexts;
  std::optional<double> minutes;
  unsigned threads;
  bool quick, accept_noise;
  std::vector<std::string> files;
  std::string operators = {};     ///< for --backend aisimulate, from read_operators()
  latency::EngineLoop loop = {};  ///< for --backend llama-bench
};

/// Options that only some backends use.
const std::vector<std::string_view> operators_options{"device",       "engine",      "engine-version", "target-format",
                                                      "draft-format", "kv-format",   "target-tp",      "draft-tp",
                                                      "target-ep",    "attention-dp"};
const std::vector<std::string_view> loop_options{"draw-us", "draft-catch-up"};
const std::vector<std::string_view> plan_options{"target", "draft", "batch", "context"};
const std::vector<std::string_view> measuring_options{"minutes", "threads", "quick", "accept-noise"};

/// The request to scripts/operators/aisimulate_steps.py, one JSON object. The script checks names and has the defaults.
std::string read_operators(CommandLine& line) {
  line.require("device", "operator times belong to a device", "e.g. --device h100");
  line.require("target", "the target model", "e.g. --target llama-3.1-8b");
  line.reject_any(measuring_options, "given with --backend aisimulate", "nothing is measured here", "remove it");
  nlohmann::ordered_json request = nlohmann::ordered_json::object();
  const auto add = [&request](std::string option, const auto& value) {
    std::ranges::replace(option, '-', '_');
    if (value) request[option] = *value;
  };
  for (const char* option :
       {"device", "target", "engine", "engine-version", "draft", "target-format", "draft-format", "kv-format"}) {
    add(option, line.text(option));
  }
  for (const char* option : {"target-tp", "draft-tp", "target-ep", "attention-dp"}) {
    add(option, line.integer(option, 1, max_count));
  }
  add("batches", line.integers("batch", 1, max_count));
  add("contexts", line.integers("context", 0, max_count));
  return request.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Defaults are those of llama.cpp: common/speculative.cpp, draft-simple.
latency::EngineLoop read_loop(CommandLine& line) {
  line.reject_any(measuring_options, "given with --backend llama-bench", "nothing is measured here", "remove it");
  line.reject_any(plan_options, "given with --backend llama-bench", "its files say what was measured", "remove it");
  if (line.positional().empty()) {
    line.reject("backend", "llama-bench without files", "times are read from its files",
                "e.g. foredraft calibrate --backend llama-bench target.jsonl draft.jsonl --out engine.json");
  }
  latency::EngineLoop loop{.draft_catch_up = latency::CatchUp::verified};
  if (line.word("draft-catch-up", {"verified", "none"}) == "none") loop.draft_catch_up = latency::CatchUp::none;
  if (const auto us = line.real("draw-us", 0.001, 1e6))
    loop.draw_us = {.value = *us, .ci95 = {}, .origin = "--draw-us"};
  return loop;
}

std::vector<std::string> backend_names() { return {"cpu", "cuda", "aisimulate", "llama-bench", "log"}; }

CalibrateOptions read_calibrate_options(CommandLine& line) {
  line.require("out", "the profile to write", "e.g. --out cpu.json");
  const std::string backend = line.word("backend", backend_names()).value_or("cpu");
  const bool operators = backend == "aisimulate";
  const bool files = backend == "llama-bench";
  if (line.has("target") && !operators && !files)
    line.require("draft", "target and drafter are measured together", "e.g. --draft t5-small");
  if (line.has("draft") && !operators && !files)
    line.require("target", "target and drafter are measured together", "e.g. --target t5-base");
  CalibrateOptions options{.out = line.text("out").value_or(""),
                           .backend = backend,
                           .models = named_pair(line),
                           .batches = line.integers("batch", 1, max_count),
                           .contexts = line.integers("context", 0, max_count),
                           .minutes = line.real("minutes", 0.001, longest_minutes),
                           .threads = line.threads(),
                           .quick = line.has("quick"),
                           .accept_noise = line.has("accept-noise"),
                           .files = line.positional()};
  if (files) {
    options.loop = read_loop(line);
  } else {
    if (!options.files.empty()) {
      line.reject("backend", fmt::format("{} with the file {}", backend, options.files.front()),
                  "only llama-bench's output is read from files", "add --backend llama-bench, or remove it");
    }
    line.reject_any(loop_options, "given without --backend llama-bench", "it describes an engine's loop",
                    "add --backend llama-bench, or remove it");
  }
  line.reject_any({"plain"}, "given without --backend log", "only that backend reads logs",
                  "add --backend log, or remove it");
  if (operators) {
    options.operators = read_operators(line);
  } else {
    line.reject_any(operators_options, "given without --backend aisimulate", "it selects operators of engines",
                    "add --backend aisimulate, or remove it");
  }
  if (backend == "cuda") {
    line.reject_any({"threads"}, "given with --backend cuda", "a GPU has no threads to choose", "leave it out");
  }
  line.done();
  return options;
}

std::vector<PlannedPair> asked_pairs(const CalibrateOptions& options) {
  const auto& models = latency::model_registry();
  if (!options.models.empty()) return gpu_bench::pairs_of(models, options.models);
  return options.backend == "cpu" ? gpu_bench::default_cpu_pairs(models) : gpu_bench::default_pairs(models);
}

latency::Identity program_identity() {
  const experiments::BuildInfo build = experiments::build_info();
  latency::Identity identity;
  identity.tool_version = build.version;
  identity.commit = fmt::format("{} (changes: {})", build.commit, build.changes);
  identity.build_flags = build.flags;
  identity.host_compiler = build.compiler;
  return identity;
}

struct Calibration {
  MeasureEnd end;
  Profile profile;
};

Calibration calibrate_cpu(const CalibrateOptions& options, const std::vector<PlannedPair>& pairs) {
  const gpu_bench::PlanGrid grid{.dtypes = {"fp32"},
                                 .batches = options.batches.value_or(options.quick ? Counts{1} : Counts{1, 4}),
                                 .contexts = options.contexts.value_or(options.quick ? Counts{128} : Counts{0, 512}),
                                 .launch = latency::Launch::eager};
  const std::vector<latency::ModelShape>& models = latency::model_registry();
  const gpu_bench::CpuRequest request{.path = options.out,
                                      .identity = program_identity(),
                                      .budget_s = 60.0 * options.minutes.value_or(options.quick ? 0.5 : 2.0),
                                      .models = models,
                                      .plan = gpu_bench::plan_grid(pairs, grid),
                                      .verifications = gpu_bench::plan_sampling(pairs, models, grid),
                                      .threads = options.threads,
                                      .facts = gpu_bench::cpu_facts()};
  const auto note = [](const std::string& text) { say("{}", text); };
  gpu_bench::CpuResult result = gpu_bench::measure_cpu(request, catch_interrupts(), note);
  return {.end = result.end, .profile = std::move(result.profile)};
}

/// Runs foredraft-gpu in a folder beside the profile, which keeps its tables and its report.
Calibration calibrate_cuda(const CalibrateOptions& options) {
  static_cast<void>(latency::claim_profile_file(options.out));
  const std::string program = find_program("foredraft-gpu");
  if (program.empty()) {
    throw InputError(
        fmt::format("foredraft calibrate: --backend cuda: foredraft-gpu is neither beside this program ({}) nor on the "
                    "PATH - build it where the CUDA toolkit is (gpu_bench/README.md), or use --backend cpu",
                    program_folder()));
  }
  const std::string folder = options.out + ".measured";
  std::vector<std::string> command{program, "measure", "--out", folder};
  const auto add = [&command](const char* option, const auto& values) {
    command.insert(command.end(), {option, fmt::format("{}", fmt::join(values, ","))});
  };
  add("--minutes", std::array{options.minutes.value_or(options.quick ? 2.0 : 8.0)});
  if (!options.models.empty()) add("--models", options.models);
  if (options.batches) add("--batch", *options.batches);
  if (options.contexts) add("--context", *options.contexts);
  if (options.quick) command.emplace_back("--quick");
  static_cast<void>(catch_interrupts());  // the child ends at the same signal and keeps its results
  const int code = run_and_wait(command, ChildOutput::to_stderr);
  if (code == exit_bad_input) throw InputError("foredraft calibrate: foredraft-gpu could not run; its reason is above");
  if (code != exit_done && code != exit_interrupted) {
    throw RunError(fmt::format("foredraft calibrate: {} failed; completed measurements are in {}", program, folder));
  }
  const std::string measured = (fs::path(folder) / "profile.json").string();
  if (code == exit_interrupted && !fs::exists(measured)) throw Interrupted();
  replace_file(options.out, read_result_file(measured));
  return {.end = code == exit_interrupted ? MeasureEnd::interrupted : MeasureEnd::done,
          .profile = latency::read_profile(options.out)};
}

/// Writes a profile from times that were measured elsewhere.
int write_converted(const CalibrateOptions& options, Profile profile, std::string (*text)(const Profile&)) {
  const latency::Identity program = program_identity();
  profile.identity.commit = fmt::format("foredraft {} {}", program.tool_version, program.commit);
  latency::write_profile_file(options.out, profile);
  print_result(text(profile));
  return exit_done;
}

int calibrate_operators(const CalibrateOptions& options) {
  try {
    Profile profile = inputs::parse_operators(ask_operators(options.operators), "aisimulate_steps.py");
    return write_converted(options, std::move(profile), operators_text);
  } catch (const InputError& error) {
    throw InputError(fmt::format("foredraft calibrate: --backend aisimulate: {}", error.what()));
  }
}

int calibrate_llama_bench(const CalibrateOptions& options) {
  std::vector<inputs::BenchFile> files;
  for (const std::string& argument : options.files) {
    inputs::BenchFile& file = files.emplace_back(inputs::bench_file_of(argument));
    file.text = read_file(file.path);
  }
  return write_converted(options, inputs::parse_llama_bench(files, options.loop), inputs::bench_text);
}

int run_calibrate(CommandLine& line) {
  if (line.text("backend") == "log") return run_calibrate_log(line);
  const CalibrateOptions options = read_calibrate_options(line);
  if (options.backend == "aisimulate" || options.backend == "llama-bench") {
    static_cast<void>(catch_interrupts());
    const WriteLock lock = WriteLock::of_file(options.out);
    static_cast<void>(latency::claim_profile_file(options.out));
    return options.backend == "aisimulate" ? calibrate_operators(options) : calibrate_llama_bench(options);
  }
  const std::vector<PlannedPair> pairs = asked_pairs(options);
  static_cast<void>(catch_interrupts());  // before anything is written
  const WriteLock lock = WriteLock::of_file(options.out);
  const auto [end, profile] = options.backend == "cpu" ? calibrate_cpu(options, pairs) : calibrate_cuda(options);
  if (end == MeasureEnd::interrupted) {
    say("interrupted; {} holds the completed measurements; the same command continues", options.out);
    return exit_interrupted;
  }
  print_result(calibration_text(profile, pairs));
  if (profile.valid()) return exit_done;
  say("{}", noise_message(fmt::format("this machine is too noisy: {}. {} keeps what was measured and says that it is "
                                      "not valid",
                                      noise_text(profile), options.out),
                          "end other programs and calibrate into another file, give it more --minutes",
                          options.accept_noise));
  return options.accept_noise ? exit_done : exit_failed;
}

}  // namespace

Command calibrate_command() {
  return {{.name = "calibrate",
           .arguments = "--out PROFILE.json [options] [FILE|NAME=FILE...]",
           .summary =
               "Measures forward passes (random weights) and verifications on this machine, or converts what an engine "
               "measured, into a profile; or fits an engine's own time to its logs.",
           .options =
               {{"out", "PROFILE.json",
                 "a new file (log: ENGINE.toml), or an unfinished profile of this machine to continue"},
                {"backend", "B",
                 "cpu (default): fp32 on this processor; cuda: starts foredraft-gpu; aisimulate: operators of "
                 "engines; llama-bench: files of llama-bench, llama-batched-bench, llama-speculative-simple; log: fits "
                 "what an "
                 "engine adds to passes and the efficiency of one card to logs, into ENGINE.toml",
                 false, backend_names},
                {"target", "T", "one target instead of the default pairs; foredraft list models"},
                {"draft", "D", "its drafter"},
                {"batch", "B,...", "batch sizes (cpu: 1,4)"},
                {"context", "N,...",
                 "context lengths in tokens (cpu: 0,512); log: of requests, if the logs do not state it (512)"},
                {"minutes", "M", "time limit (cpu 2, with --quick 0.5; cuda 8, with --quick 2)"},
                {"threads", "N", "cpu: threads to measure with (default 0: one per hardware thread)"},
                {"quick", "", "fewer cells: batch 1 and context 128 on a CPU; fewer samples on a GPU"},
                {"plain", "LOG,...", "log: logs without speculation that do not state it"},
                {"device", "D",
                 "aisimulate: the measured device (h100, h200, b200, a100, l40s, ...); log: a data sheet or profile"},
                {"engine", "E",
                 "aisimulate: vllm (default), sglang, trtllm; log: engine of the numbers that are not fitted (default: "
                 "that of the logs)"},
                {"engine-version", "V", "aisimulate: version of the engine (default: the current one of the package)"},
                {"target-format", "F", "aisimulate, log: bf16, fp8, int4, nvfp4, ... (default: of the model's config)"},
                {"draft-format", "F", "aisimulate, log: the same for the drafter"},
                {"kv-format", "F", "aisimulate, log: bf16, fp8"},
                {"target-tp", "T", "aisimulate, log: tensor parallelism of the target (default 1)"},
                {"draft-tp", "T", "aisimulate, log: tensor parallelism of the drafter (default: the target's)"},
                {"target-ep", "E", "aisimulate: expert parallelism of the target (default 1)"},
                {"attention-dp", "A", "aisimulate: data parallelism of its attention (default 1)"},
                {"draft-catch-up", "C",
                 "llama-bench: what the drafter reads after a verification: verified (default: its gamma + 1 tokens), "
                 "none"},
                {"draw-us", "T", "llama-bench: time of sampling a token on the host (default 0)"},
                {"accept-noise", "", "exit with 0 even if the machine was too noisy; the profile records it"}},
           .min_positional = 0,
           .max_positional = max_bench_files,
           .examples = {"foredraft calibrate --out cpu.json",
                        "foredraft calibrate --target t5-base --draft t5-small --batch 1,8 --context 256 --out t5.json",
                        "foredraft calibrate --backend cuda --minutes 8 --out gpu.json",
                        ("foredraft calibrate --backend aisimulate --device h100 --target llama-3.1-8b "
                         "--draft eagle3-llama-3.1-8b --out h100.json"),
                        "foredraft calibrate --backend llama-bench target.jsonl draft.jsonl --out engine.json",
                        ("foredraft calibrate --backend log plain.log k3.log --device h100 --target llama-3.1-8b "
                         "--draft llama-3.2-1b --out engine.toml")}},
          run_calibrate};
}

}  // namespace foredraft::app
