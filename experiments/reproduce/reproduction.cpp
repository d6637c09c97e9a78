// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/reproduction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/digest.hpp"
#include "core/files.hpp"
#include "core/problems.hpp"
#include "core/table.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::experiments {
namespace {

/// Writes the artifacts of one experiment and remembers its inputs.
void keep_result(ResultFolder& folder, const ExperimentResult& result) {
  for (const Artifact& artifact : result.artifacts) folder.write(artifact.name, artifact.content);
  for (const FileDigest& file : result.inputs) folder.add_input(file);
}

}  // namespace

std::vector<ExperimentEntry> chosen_experiments(const std::vector<std::string>& wanted, bool all) {
  const std::vector<std::string> known = texts_of(experiment_registry(), &ExperimentEntry::id);
  ProblemList problems("foredraft reproduce");
  for (const std::string& id : wanted) {
    if (std::ranges::find(known, id) == known.end()) {
      problems.add({.key = id, .text = "unknown experiment", .suggestion = suggestion_for(id, known, "experiments")});
    }
  }
  if (wanted.empty() && !all) {
    problems.add({.text = "no experiment named",
                  .suggestion = "--all, or some of: " + fmt::format("{}", fmt::join(known, ", "))});
  }
  problems.raise();
  std::vector<ExperimentEntry> chosen;
  std::ranges::copy_if(experiment_registry(), std::back_inserter(chosen), [&](const ExperimentEntry& entry) {
    return all || std::ranges::find(wanted, entry.id) != wanted.end();
  });
  return chosen;
}

ResultFolder::Kind reproduction_kind(const std::vector<ExperimentEntry>& experiments, std::uint64_t seed) {
  nlohmann::ordered_json ids = nlohmann::ordered_json::array();
  nlohmann::ordered_json summaries = nlohmann::ordered_json::object();
  for (const ExperimentEntry& experiment : experiments) {
    ids.push_back(experiment.id);
    summaries[experiment.id] = experiment.summary;
  }
  return {.schema = "foredraft.reproduction/1",
          .content = {{"experiments", ids}, {"seed", seed}},
          .notes = {{"summaries", summaries}}};
}

ExperimentResult validation_artifacts(const std::string& folder) {
  ExperimentResult result;
  for (const auto& [from, to] : {std::pair{"validation.csv", "validation.csv"}, {"manifest.json", "validation.json"}}) {
    const std::string path = (std::filesystem::path(folder) / from).string();
    result.artifacts.push_back({to, read_result_file(path)});
    result.inputs.push_back(digest_text(path, result.artifacts.back().content));
  }
  return result;
}

ExperimentResult run_experiment(const ExperimentEntry& entry, const ExperimentSettings& settings) {
  try {
    return entry.run(settings);
  } catch (const DomainError& error) {  // elsewhere invalid input; here, after a manifest was written, a failed run
    throw RunError(fmt::format("foredraft reproduce: {}: {}", entry.id, error.what()));
  }
}

std::vector<ExperimentResult> reproduce(const ReproductionRequest& request, const RunExperiment& run) {
  std::vector<ExperimentResult> results;
  for (const ExperimentEntry& entry : request.experiments) {
    request.settings.stop.check();
    results.push_back(run(entry, request.settings));
    if (request.folder != nullptr) keep_result(*request.folder, results.back());
  }
  request.settings.stop.check();
  if (request.folder != nullptr) {
    if (request.validation) keep_result(*request.folder, *request.validation);
    request.folder->write("scorecard.csv", to_csv(rows_of(results)));
    request.folder->complete();
  }
  return results;
}

std::vector<ScorecardRow> rows_of(const std::vector<ExperimentResult>& results) {
  std::vector<ScorecardRow> rows;
  for (const ExperimentResult& result : results) rows.insert(rows.end(), result.rows.begin(), result.rows.end());
  return rows;
}

}  // namespace foredraft::experiments
