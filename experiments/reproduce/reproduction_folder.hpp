// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/reproduce/registry.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/text/digest.hpp"
#include "experiments/text/table.hpp"

namespace foredraft::experiments {

/// `stem`.csv, .tex and .md of one table, its texts as they are.
[[nodiscard]] std::vector<Artifact> table_artifacts(const std::string& stem, const Table& table);

/// The same with data of their own for the CSV: plain numbers, a cell for every value.
[[nodiscard]] std::vector<Artifact> table_artifacts(const std::string& stem, const Table& table, const DataText& data);

inline constexpr std::string_view reproduction_schema = "foredraft.reproduction/1";

/// The results folder of `reproduce`: what the experiments leave, and scorecard.csv.
class ReproductionFolder {
 public:
  /// Creates the folder. One of the same experiments, seed and program version is written again, as ResultFolder has
  /// it.
  ReproductionFolder(std::string path, const std::vector<ExperimentEntry>& experiments, std::uint64_t seed,
                     unsigned threads, const std::vector<std::string>& command_line);

  /// Writes the artifacts of one experiment and remembers its inputs.
  void add(const ExperimentResult& result);

  /// Writes the scorecard and the final manifest.
  void complete(const std::vector<ScorecardRow>& rows);

  [[nodiscard]] const std::string& path() const { return folder_.path(); }

  /// Names of the files written, in order.
  [[nodiscard]] std::vector<std::string> files() const { return folder_.files(); }

 private:
  ResultFolder folder_;
};

}  // namespace foredraft::experiments
