// SPDX-License-Identifier: Apache-2.0
// Sweeps and their folders, experiments of papers, validation.
#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/validation.hpp"
#include "core/digest.hpp"
#include "core/files.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/reproduce/reproduction.hpp"
#include "experiments/reproduce/scorecard.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/sweep/repeat_run.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "foredraft/sweep.hpp"
#include "inputs/devices.hpp"
#include "inputs/inputs.hpp"
#include "inputs/table_reader.hpp"
#include "latency/profile/profile.hpp"
#include "python/bind.hpp"
#include "python/long_work.hpp"

namespace nb = nanobind;

namespace foredraft::python {
namespace {

using Json = nlohmann::ordered_json;

experiments::SweepConfig config_of(const std::string& json, const std::string& source) {
  return experiments::read_sweep_config(inputs::parse_json_document(json, source), source);
}

/// What resolved_config() reads again. A string of JSON, so that a worker of an executor can be sent it.
std::string resolved(const experiments::SweepConfig& config) {
  Json json = experiments::to_json(config);
  Json figures = experiments::figures_json(config);
  if (!figures.empty()) json["figure"] = std::move(figures);
  return Json{{"config", json.dump()}, {"folder", config.folder}}.dump();
}

experiments::SweepConfig resolved_config(const std::string& document) {
  const Json json = Json::parse(document);
  experiments::SweepConfig config = config_of(json.at("config").get<std::string>(), "foredraft");
  config.folder = json.at("folder").get<std::string>();
  return config;
}

/// Reads the files that the configuration names; returns whether the folder has its complete run. Throws InputError if
/// a run of it could not be written there.
bool holds_whole_sweep(const std::string& resolved, const std::string& folder) {
  const experiments::SweepConfig config = resolved_config(resolved);
  inputs::Inputs inputs(config.folder);
  experiments::read_inputs(experiments::sweep_of(config), inputs);
  if (!std::filesystem::exists(folder)) return false;
  const WriteLock lock = WriteLock::of_folder(folder);
  const auto before =
      experiments::claim_folder(folder, experiments::new_manifest(config, std::nullopt, inputs.files(), {}, 1));
  return before && before->state == "complete";
}

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
        return experiments::run_sweep(resolved_config(config), folder, options).result;
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
  const experiments::RepeatedRun run = run_interruptibly(
      [&](const std::atomic<bool>& stop, ProgressBoard& board) {
        const auto show = [&](double finished, std::uint64_t total) {
          board.show(finished, static_cast<double>(total));
        };
        return experiments::repeat_run(folder, {.threads = threads, .progress = show, .stop = &stop});
      },
      progress);
  return nb::make_tuple(run.points, run.hash, run.version);
}

nb::tuple reproduce(const std::vector<std::string>& names, std::uint64_t seed, unsigned threads,
                    const std::optional<std::string>& folder, const std::optional<std::string>& validation,
                    const std::vector<std::string>& command_line, const nb::object& progress) {
  const std::vector<experiments::ExperimentEntry> chosen = experiments::chosen_experiments(names, names.empty());
  const std::vector<experiments::ExperimentResult> results = run_interruptibly(
      [&](const std::atomic<bool>& stop, ProgressBoard& board) {
        std::optional<experiments::ExperimentResult> validated;
        if (validation) validated = experiments::validation_artifacts(*validation);
        std::optional<experiments::ResultFolder> kept;
        if (folder) kept.emplace(*folder, experiments::reproduction_kind(chosen, seed), command_line, threads);
        double begun = 0.0;
        const auto total = static_cast<double>(chosen.size());
        const auto run = [&](const experiments::ExperimentEntry& entry, const experiments::ExperimentSettings& with) {
          board.show(begun++, total);
          return experiments::run_experiment(entry, with);
        };
        auto found = experiments::reproduce(
            {.experiments = chosen,
             .settings = {.seed = seed, .threads = threads, .note = [](std::string_view /*text*/) {}, .stop = &stop},
             .validation = validated,
             .folder = kept ? &*kept : nullptr},
            run);
        board.show(begun, total);
        return found;
      },
      progress);
  nb::list experiments;
  for (std::size_t i = 0; i < results.size(); ++i) {
    nb::list files;
    for (const experiments::Artifact& artifact : results[i].artifacts) {
      files.append(nb::make_tuple(artifact.name, artifact.content));
    }
    experiments.append(nb::make_tuple(chosen[i].id, results[i].text, files));
  }
  const std::vector<experiments::ScorecardRow> rows = experiments::rows_of(results);
  return nb::make_tuple(experiments, to_csv(rows), experiments::summary_line(rows), experiments::any_failed(rows));
}

/// `foredraft validate --against` of the text of a file `source`: validation.csv, the printed text, the device, and
/// whether the profile is valid. `steps`: the profile is a CSV of steps.
std::tuple<std::string, std::string, std::string, bool> validate(const std::string& profile, bool steps,
                                                                 const std::string& text, const std::string& source,
                                                                 const std::optional<std::string>& folder,
                                                                 const std::vector<std::string>& command_line) {
  const auto work = [&](const std::atomic<bool>& /*stop*/, ProgressBoard&) {
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
    return std::tuple(app::validation_csv(speedups.predictions, measured.cells),
                      app::validation_text(speedups.predictions, measured, app::MeasuredBy::user, times.device.name),
                      times.device.name, valid);
  };
  return run_interruptibly(work, nb::none());
}

}  // namespace

void bind_sweeps(nb::module_& module) {
  module.def("config_of_file", [](const std::string& path) { return resolved(experiments::load_sweep_config(path)); });
  module.def("config_of_document",
             [](const std::string& json, const std::string& source) { return resolved(config_of(json, source)); });
  module.def("config_points",
             [](const std::string& resolved) { return experiments::point_count(resolved_config(resolved)); });
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
