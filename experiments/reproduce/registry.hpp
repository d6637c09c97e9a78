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

/// An experiment turns settings into texts and scorecard rows. It writes no file and prints nothing: the command does.
/// What it says is declared in experiments/published/*.toml; code is only where something is computed.
namespace foredraft::experiments {

struct ExperimentSettings {
  std::uint64_t seed;
  unsigned threads;
  std::function<void(std::string_view)> note;  ///< progress for users; never part of the result
  StopToken stop = {};                         ///< simulations then throw Interrupted
};

/// A file that an experiment leaves in the results folder.
struct Artifact {
  std::string name;
  std::string content;
};

struct ExperimentResult {
  std::string text = {};                 ///< what the command prints, headed by the experiment's id
  std::vector<Artifact> artifacts = {};  ///< tables and figure data
  std::vector<ScorecardRow> rows = {};
  std::vector<FileDigest> inputs = {};  ///< files that it read

  /// Adds `stem`.csv, .tex and .md of a table.
  void add_table(const std::string& stem, const Table& table, std::string csv);

  /// Texts and artifacts of a part of the experiment.
  void append(const ExperimentResult& part);
};

/// One line of the inventory of experiments.
struct ExperimentEntry {
  std::string id;
  std::string summary;
  bool has_figure;  ///< plots/ draws something from its data
  std::function<ExperimentResult(const ExperimentSettings& settings)> run;
};

/// Every experiment, in the order in which `reproduce --all` runs them.
[[nodiscard]] const std::vector<ExperimentEntry>& experiment_registry();

/// One of them. Throws std::logic_error on an unknown id.
[[nodiscard]] ExperimentResult run_experiment(std::string_view id, const ExperimentSettings& settings);

// ---- Code by the id of its experiment, from each file of this folder that has some.

class TableAccount;
class FigureAccount;

/// Defines what the formulas of a printed table name; or makes the whole of an experiment that is no printed table, or
/// one of its own shape.
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
