// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/reproduce/experiment.hpp"
#include "experiments/results/result_folder.hpp"

namespace foredraft::experiments {

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
