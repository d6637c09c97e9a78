// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/digest.hpp"
#include "core/parallel.hpp"
#include "core/table.hpp"
#include "experiments/reproduce/scorecard.hpp"

/// An experiment computes texts and scorecard rows from settings. The command, not the experiment, writes files and
/// prints. Texts are declared in experiments/published/*.toml; code is needed only for computations.
namespace foredraft::experiments {

struct ExperimentSettings {
  std::uint64_t seed;
  unsigned threads;
  std::function<void(std::string_view)> note;  ///< receives progress for display; not part of the result
  StopToken stop = {};                         ///< stops simulations, which throw Interrupted
};

/// A result file of an experiment.
struct Artifact {
  std::string name;
  std::string content;
};

struct ExperimentResult {
  std::string text = {};                 ///< printed text, starting with the experiment's id
  std::vector<Artifact> artifacts = {};  ///< tables and figure data
  std::vector<ScorecardRow> rows = {};
  std::vector<FileDigest> inputs = {};  ///< input files

  /// Adds a table as `stem`.csv, .tex and .md.
  void add_table(const std::string& stem, const Table& table, std::string csv);

  /// Appends text and artifacts of a part of the experiment.
  void append(const ExperimentResult& part);
};

/// An entry of the registry of experiments.
struct ExperimentEntry {
  std::string id;
  std::string summary;
  bool has_figure;  ///< plots/ draws a figure from its data
  std::function<ExperimentResult(const ExperimentSettings& settings)> run;
};

/// Every experiment, in the order in which `reproduce --all` runs them.
[[nodiscard]] const std::vector<ExperimentEntry>& experiment_registry();

/// Runs an experiment. Throws std::logic_error for an unknown id.
[[nodiscard]] ExperimentResult run_experiment(std::string_view id, const ExperimentSettings& settings);

// ---- Code of experiments, by id; each function is defined in one file of this folder.

class TableAccount;
class FigureAccount;

/// Code for a printed table defines names of its formulas. Code for any other experiment, or for a table with its own
/// layout, makes the whole result.
using ExperimentCode = std::variant<void (*)(TableAccount& account, const ExperimentSettings& settings),
                                    void (*)(FigureAccount& figure, const ExperimentSettings& settings)>;
using ExperimentCodes = std::map<std::string_view, ExperimentCode>;

[[nodiscard]] ExperimentCodes leviathan();
[[nodiscard]] ExperimentCodes ngram_studies();
[[nodiscard]] ExperimentCodes rule_checks();
[[nodiscard]] ExperimentCodes specdec_tables();
[[nodiscard]] ExperimentCodes specdec_figures();
[[nodiscard]] ExperimentCodes wagner();
[[nodiscard]] ExperimentCodes surveys();
[[nodiscard]] ExperimentCodes verification_examples();

}  // namespace foredraft::experiments
