// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "experiments/reproduce/scorecard.hpp"
#include "experiments/text/digest.hpp"

/// An experiment turns settings into texts and scorecard rows. It writes no file and prints nothing: the command does.
namespace foredraft::experiments {

struct ExperimentSettings {
  std::uint64_t seed;
  unsigned threads;
  std::function<void(std::string_view)> note;  ///< progress, for people; never part of the result
  StopToken stop = {};                         ///< simulations then throw Interrupted
};

/// A file that an experiment leaves in the results folder.
struct Artifact {
  std::string name;
  std::string content;
};

struct ExperimentResult {
  std::string text;                 ///< what the command prints, headed by the experiment's id
  std::vector<Artifact> artifacts;  ///< tables and figure data
  std::vector<ScorecardRow> rows;
  std::vector<FileDigest> inputs{};  ///< files that it read
};

/// One line of the inventory of experiments.
struct ExperimentEntry {
  std::string_view id;
  std::string_view summary;
  bool has_figure;  ///< plots/ draws something from its data
  ExperimentResult (*run)(const ExperimentSettings& settings);
};

/// Every experiment, in the order in which `reproduce --all` runs them.
[[nodiscard]] const std::vector<ExperimentEntry>& experiment_registry();

}  // namespace foredraft::experiments
