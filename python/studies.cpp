// SPDX-License-Identifier: Apache-2.0
// Folders of results, experiments, validation and lists for Python.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/validation.hpp"
#include "core/digest.hpp"
#include "experiments/reproduce/reproduction.hpp"
#include "experiments/reproduce/scorecard.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/sweep/repeat_run.hpp"
#include "inputs/devices.hpp"
#include "latency/profile/profile.hpp"
#include "python/internal.hpp"

namespace foredraft::python {

RepeatedFolder repeat_folder(const std::string& folder, unsigned threads, const std::atomic<bool>* stop,
                             const std::function<void(double, std::uint64_t)>& progress) {
  experiments::RepeatedRun run =
      experiments::repeat_run(folder, {.threads = threads, .progress = progress, .stop = stop});
  return {.points = run.points, .hash = std::move(run.hash), .version = std::move(run.version)};
}

Reproduced reproduce_experiments(const std::vector<std::string>& names, const ReproductionOptions& options) {
  const std::vector<experiments::ExperimentEntry> chosen = experiments::chosen_experiments(names, names.empty());
  const experiments::ExperimentSettings settings{
      .seed = options.seed, .threads = options.threads, .note = [](std::string_view /*text*/) {}, .stop = options.stop};
  std::optional<experiments::ExperimentResult> validation;
  if (options.validation) validation = experiments::validation_artifacts(*options.validation);
  std::optional<experiments::ResultFolder> folder;
  if (options.folder) {
    folder.emplace(*options.folder, experiments::reproduction_kind(chosen, options.seed), options.command_line,
                   options.threads);
  }
  double begun = 0.0;
  const auto run = [&](const experiments::ExperimentEntry& entry, const experiments::ExperimentSettings& with) {
    options.progress(begun++, static_cast<double>(chosen.size()));
    return experiments::run_experiment(entry, with);
  };
  std::vector<experiments::ExperimentResult> results = experiments::reproduce(
      {.experiments = chosen, .settings = settings, .validation = validation, .folder = folder ? &*folder : nullptr},
      run);
  options.progress(begun, static_cast<double>(chosen.size()));
  const std::vector<experiments::ScorecardRow> rows = experiments::rows_of(results);
  Reproduced all{.experiments = {},
                 .scorecard = to_csv(rows),
                 .summary = experiments::summary_line(rows),
                 .failed = experiments::any_failed(rows)};
  for (std::size_t i = 0; i < results.size(); ++i) {
    ReproducedExperiment one{.id = chosen[i].id, .summary = chosen[i].summary, .text = results[i].text, .files = {}};
    for (experiments::Artifact& artifact : results[i].artifacts) {
      one.files.emplace_back(std::move(artifact.name), std::move(artifact.content));
    }
    all.experiments.push_back(std::move(one));
  }
  return all;
}

ValidatedSpeedups validate_speedups(const std::string& profile, bool steps, const std::string& text,
                                    const std::string& source, const std::optional<std::string>& folder,
                                    const std::vector<std::string>& command_line) {
  const inputs::ReadProfile read = steps ? inputs::read_steps(profile) : inputs::read_profile(profile);
  const latency::Profile& times = read.profile;
  app::PredictedSpeedups speedups = app::predict_speedups(text, source, times);
  app::MeasuredCells measured{.cells = std::move(speedups.measured)};
  const bool valid = !times.aa_test || times.aa_test->valid();
  if (folder) {
    const app::ValidationInputs inputs{.files = {read.digest, digest_text(source, text)},
                                       .measured_by = app::MeasuredBy::user,
                                       .valid = valid,
                                       .command_line = command_line};
    measured =
        app::run_validation(*folder, inputs, speedups.predictions, [&](const auto& /*keep*/) { return measured; });
  }
  return {.csv = app::validation_csv(speedups.predictions, measured.cells),
          .text = app::validation_text(speedups.predictions, measured, app::MeasuredBy::user, times.device.name),
          .device = times.device.name,
          .valid = valid};
}

std::string list_document(const std::string& name) { return experiments::document_text(app::list_document(name)); }

std::string page_text() { return std::string(app::page_text()); }

}  // namespace foredraft::python
