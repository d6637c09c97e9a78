// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/reproduce/registry.hpp"
#include "experiments/results/manifest.hpp"

/// Several experiments one after another, and the folder that keeps what they leave.
namespace foredraft::experiments {

/// The named experiments, or all, in the order of the registry. Throws InputError with every unknown name, and where
/// none is named.
[[nodiscard]] std::vector<ExperimentEntry> chosen_experiments(const std::vector<std::string>& wanted, bool all);

/// What a folder of `reproduce` is: these experiments at this seed.
[[nodiscard]] ResultFolder::Kind reproduction_kind(const std::vector<ExperimentEntry>& experiments, std::uint64_t seed);

/// What `foredraft validate` left in a folder, as the artifacts of an experiment. Throws InputError where it left
/// nothing.
[[nodiscard]] ExperimentResult validation_artifacts(const std::string& folder);

struct ReproductionRequest {
  std::vector<ExperimentEntry> experiments;
  ExperimentSettings settings;
  std::optional<ExperimentResult> validation = {};  ///< of this machine, beside them
  ResultFolder* folder = nullptr;                   ///< that keeps everything, with scorecard.csv; null: none
};

/// Runs one experiment, with what else is done around it.
using RunExperiment = std::function<ExperimentResult(const ExperimentEntry& entry, const ExperimentSettings& settings)>;
/// Throws RunError that names the experiment for an argument that is out of its domain.
[[nodiscard]] ExperimentResult run_experiment(const ExperimentEntry& entry, const ExperimentSettings& settings);

/// Runs them, and returns what each leaves. Throws Interrupted, RunError; a folder is then not complete.
[[nodiscard]] std::vector<ExperimentResult> reproduce(const ReproductionRequest& request, const RunExperiment& run);

/// The rows of all scorecards.
[[nodiscard]] std::vector<ScorecardRow> rows_of(const std::vector<ExperimentResult>& results);

}  // namespace foredraft::experiments
