// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/reproduce/registry.hpp"
#include "experiments/results/manifest.hpp"

/// Runs several experiments and stores their results in a folder.
namespace foredraft::experiments {

/// The named experiments, or all, in the order of the registry. Throws InputError, which lists all unknown names, and
/// if none is named.
[[nodiscard]] std::vector<ExperimentEntry> chosen_experiments(const std::vector<std::string>& wanted, bool all);

/// The kind of a results folder with these experiments and this seed.
[[nodiscard]] ResultFolder::Kind reproduction_kind(const std::vector<ExperimentEntry>& experiments, std::uint64_t seed);

/// Results of `foredraft validate` in a folder, as artifacts of an experiment. Throws InputError if there are none.
[[nodiscard]] ExperimentResult validation_artifacts(const std::string& folder);

struct ReproductionRequest {
  std::vector<ExperimentEntry> experiments;
  ExperimentSettings settings;
  std::optional<ExperimentResult> validation = {};  ///< validation on this machine, added to the results
  ResultFolder* folder = nullptr;                   ///< receives all results and scorecard.csv; null: not stored
};

/// Runs one experiment; callers can wrap it, for example to show progress.
using RunExperiment = std::function<ExperimentResult(const ExperimentEntry& entry, const ExperimentSettings& settings)>;
/// Runs one experiment. Throws RunError, which names the experiment, for an argument outside its domain.
[[nodiscard]] ExperimentResult run_experiment(const ExperimentEntry& entry, const ExperimentSettings& settings);

/// Runs the experiments and returns their results. Throws Interrupted and RunError; the folder is then incomplete.
[[nodiscard]] std::vector<ExperimentResult> reproduce(const ReproductionRequest& request, const RunExperiment& run);

/// The rows of all scorecards.
[[nodiscard]] std::vector<ScorecardRow> rows_of(const std::vector<ExperimentResult>& results);

}  // namespace foredraft::experiments
