// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/reproduction_folder.hpp"

namespace foredraft::experiments {

std::vector<Artifact> table_artifacts(const std::string& stem, const Table& table) {
  return {{stem + ".csv", to_csv(table)}, {stem + ".tex", to_latex(table)}, {stem + ".md", to_markdown(table)}};
}

std::vector<Artifact> table_artifacts(const std::string& stem, const Table& table, const DataText& data) {
  return {{stem + ".csv", data.csv()}, {stem + ".tex", to_latex(table)}, {stem + ".md", to_markdown(table)}};
}

namespace {

ResultFolder::Kind reproduction_kind(const std::vector<ExperimentEntry>& experiments, std::uint64_t seed) {
  nlohmann::ordered_json ids = nlohmann::ordered_json::array();
  nlohmann::ordered_json summaries = nlohmann::ordered_json::object();
  for (const ExperimentEntry& experiment : experiments) {
    ids.push_back(experiment.id);
    summaries[std::string(experiment.id)] = experiment.summary;
  }
  return {.schema = reproduction_schema,
          .content = {{"experiments", ids}, {"seed", seed}},
          .notes = {{"summaries", summaries}}};
}

}  // namespace

ReproductionFolder::ReproductionFolder(std::string path, const std::vector<ExperimentEntry>& experiments,
                                       std::uint64_t seed, unsigned threads,
                                       const std::vector<std::string>& command_line)
    : folder_(std::move(path), reproduction_kind(experiments, seed), command_line, threads) {}

void ReproductionFolder::add(const ExperimentResult& result) {
  for (const Artifact& artifact : result.artifacts) folder_.write(artifact.name, artifact.content);
  for (const FileDigest& file : result.inputs) folder_.add_input(file);
}

void ReproductionFolder::complete(const std::vector<ScorecardRow>& rows) {
  folder_.write("scorecard.csv", to_csv(rows));
  folder_.complete();
}

}  // namespace foredraft::experiments
