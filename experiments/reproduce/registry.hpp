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

// ---- One function per experiment. The list that users see is in registry.cpp.

[[nodiscard]] ExperimentResult leviathan_table1(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_table2(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_table3(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_table4(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_table5(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_figure2(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_figure3(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_figure4(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult leviathan_figure5(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult ngram_iid_check(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult rule_lossiness(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_table1(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_table2(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_table3(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_table4(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_table5(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_figure3(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_figure4(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult wagner_figure5(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult survey(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult claims(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult survey_batch_context(const ExperimentSettings& settings);
[[nodiscard]] ExperimentResult survey_medusa_tree(const ExperimentSettings& settings);

}  // namespace foredraft::experiments
