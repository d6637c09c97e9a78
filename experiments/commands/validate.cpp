// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/files.hpp"
#include "core/streams.hpp"
#include "experiments/calibrate/calibration_text.hpp"
#include "experiments/cli/device_options.hpp"
#include "experiments/cli/exit_codes.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/plot_script.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/commands/validate_loops.hpp"
#include "experiments/validate/run_validation.hpp"
#include "experiments/validate/speedups_file.hpp"
#include "experiments/validate/validation_grid.hpp"
#include "gpu_bench/run/model_pairs.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::experiments {
namespace {

constexpr double usual_validate_minutes = 2.0;
constexpr double most_validate_minutes = 1440.0;
constexpr std::int64_t most_validate_count = 1'000'000;

struct ValidateOptions {
  std::string profile;
  std::string out;
  std::string against;              ///< empty: loops are run
  std::vector<std::string> models;  ///< target and drafter; empty: the usual pairs
  GridRequest grid;
  double minutes = usual_validate_minutes;
  unsigned threads = 0;
};

ValidateOptions read_validate_options(CommandLine& line) {
  if (!names_device(line)) {
    line.require("profile", "the times to predict from", "e.g. --profile cpu.json, as foredraft calibrate leaves it");
  }
  if (line.has("device") && !line.has("against")) {
    line.refuse("device", "given without --against", "loops that run here are held against a profile of this machine",
                "use --profile");
  }
  line.require("out", "where the results go", "e.g. --out results/validation");
  for (const std::string_view name : {"target", "draft", "gamma", "alpha", "batch", "context", "minutes", "threads"}) {
    if (line.has("against") && line.has(name)) {
      line.refuse(name, "given beside --against", "its file says what was measured, and nothing is run", "remove one");
    }
  }
  if (line.has("target")) line.require("draft", "a target is validated with its drafter", "e.g. --draft t5-small");
  if (line.has("draft")) line.require("target", "a drafter is validated with its target", "e.g. --target t5-base");
  ValidateOptions options;
  if (names_device(line)) options.profile = named_device(line);
  options.out = line.text("out").value_or("");
  options.against = line.text("against").value_or("");
  for (const char* option : {"target", "draft"}) {
    if (const auto name = line.text(option)) options.models.push_back(*name);
  }
  options.grid.gammas = line.integers("gamma", 1, 1023);
  options.grid.alphas = line.probabilities("alpha");
  options.grid.batches = line.integers("batch", 1, most_validate_count);
  options.grid.contexts = line.integers("context", 0, most_validate_count);
  options.minutes = line.real("minutes", 0.001, most_validate_minutes).value_or(usual_validate_minutes);
  options.threads = line.threads();
  line.done();
  return options;
}

struct Validated {
  std::vector<CellPrediction> predictions;
  Measurement measured;
};

std::vector<gpu_bench::PlannedPair> validated_pairs(const latency::Profile& profile, const ValidateOptions& options) {
  if (!options.models.empty()) return gpu_bench::pairs_of(latency::model_registry(), options.models);
  std::vector<gpu_bench::PlannedPair> pairs = pairs_in(profile);
  if (pairs.empty()) {
    throw InputError(
        fmt::format("{}: has times of none of the usual pairs - name one with --target and --draft", options.profile));
  }
  return pairs;
}

bool says_valid(const latency::Profile& profile) { return !profile.against_itself || profile.against_itself->valid(); }

Validated validate_against(const ValidateOptions& options, const latency::Profile& profile, ValidationInputs inputs) {
  const std::string text = read_file(options.against);
  inputs.files.push_back(digest_text(options.against, text));
  PredictedSpeedups speedups = predict_speedups(text, options.against, profile);
  Measurement measured = run_validation(options.out, inputs, speedups.predictions, [&speedups](const auto& /*keep*/) {
    return Measurement{.cells = std::move(speedups.measured)};
  });
  return {.predictions = std::move(speedups.predictions), .measured = std::move(measured)};
}

Validated validate_here(const ValidateOptions& options, const latency::Profile& profile,
                        const ValidationInputs& inputs) {
  const RunLoops run = loops_of(
      profile,
      {.profile = options.profile, .folder = options.out, .minutes = options.minutes, .threads = options.threads});
  GridRequest grid = options.grid;
  grid.pairs = validated_pairs(profile, options);
  const std::vector<gpu_bench::LoopCell> cells = validation_cells(profile, grid);
  std::vector<CellPrediction> predictions = predict_cells(cells, profile, options.profile);
  Measurement measured =
      run_validation(options.out, inputs, predictions, [&](const KeepCells& keep) { return run(cells, keep); });
  return {.predictions = std::move(predictions), .measured = std::move(measured)};
}

}  // namespace

CommandSpec validate_spec() {
  return {
      .name = "validate",
      .arguments = "--profile PROFILE.json --out DIR [options]",
      .summary = "Predicts decoding loops from a profile, then runs them on this machine and compares.",
      .options = {{"profile", "PROFILE.json",
                   "of this machine, as foredraft calibrate leaves it; with --against any, or a "
                   "shipped device (foredraft list devices)"},
                  {"device", "D", "with --against, in its place: a shipped device, or FILE.toml"},
                  {"out", "DIR", "new: prediction.csv, written first; validation.csv; manifest.json; figures"},
                  {"against", "FILE.csv",
                   "speedups that you measured in an engine (docs/validation.md); no loop is run"},
                  {"target", "T", "one target instead of the pairs of the profile"},
                  {"draft", "D", "its drafter"},
                  {"gamma", "G,...", "drafts an iteration; with any of these four lists all combinations are run,"},
                  {"alpha", "A,...", "  else at least 24 cells over gamma 2 to 7, alpha 0.5 to 0.9, and batches and"},
                  {"batch", "B,...", "  contexts between those of the profile; a list that is not given has then one"},
                  {"context", "N,...", "  value: gamma 3, alpha 0.7, the first batch and context between"},
                  {"minutes", "M", "for all loops (default 2)"},
                  {"threads", "N", "of a CPU; 0 (default): one per hardware thread; as the profile was calibrated"},
                  {"accept-noise", "", "exit with 0 although the profile says that it is not valid"},
                  {"no-figures", "", "data alone"}},
      .fewest_positional = 0,
      .most_positional = 0,
      .examples = {"foredraft validate --profile cpu.json --out results/validation",
                   "foredraft validate --profile h200 --against speedups.csv --out results/engine",
                   "foredraft validate --profile t5.json --target t5-base --draft t5-small --batch 2,3 --gamma 2,5 "
                   "--out results/t5"}};
}

int run_validate(const std::vector<std::string>& arguments) {
  CommandLine line(validate_spec(), arguments);
  if (line.wants_help()) {
    print_result(help_text(validate_spec()));
    return exit_done;
  }
  const ValidateOptions options = read_validate_options(line);
  const ReadProfile read = read_named_device(line);
  const latency::Profile& profile = read.profile;
  const ValidationInputs inputs{.files = {read.digest},
                                .measured_by = options.against.empty() ? MeasuredBy::loop : MeasuredBy::user,
                                .valid = says_valid(profile),
                                .command_line = line.words()};
  static_cast<void>(catch_interrupts());  // before anything is written
  const auto [predictions, measured] =
      options.against.empty() ? validate_here(options, profile, inputs) : validate_against(options, profile, inputs);
  if (measured.end == gpu_bench::MeasureEnd::interrupted) {
    say("interrupted: {}/validation.csv keeps {} of {} cells; another --out starts again", options.out,
        measured.cells.size(), predictions.size());
    return exit_interrupted;
  }
  if (measured.cells.empty()) {
    throw RunError(fmt::format("foredraft validate: no loop could be run: {}", measured.missing.front().why));
  }
  PlotResult figures = PlotResult::drawn;
  if (!line.has("no-figures")) {
    const WriteLock lock = WriteLock::of_folder(options.out);
    figures = draw_figures(options.out);
  }
  print_result(validation_text(predictions, measured, inputs.measured_by, profile.device.name));
  if (figures == PlotResult::failed) return exit_failed;
  if (inputs.valid) return exit_done;
  say("{} is not valid: {}. Its predictions say little - calibrate again on a quiet machine, or take "
      "them as they are with --accept-noise",
      options.profile, noise_text(profile));
  return line.has("accept-noise") ? exit_done : exit_failed;
}

}  // namespace foredraft::experiments
