// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "foredraft/lossiness.hpp"
#include "foredraft/predict.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "foredraft/sweep.hpp"

/// Internal functions of the library that the Python package uses. All includes of internal headers are in
/// internal.cpp.
namespace foredraft::python {

/// A parameter of a question.
struct ParameterFacts {
  std::string name;     ///< as in TOML: "process.conditional"
  std::string type;     ///< real, integer, choice, text, reals, texts, schedule
  std::string summary;  ///< one line, with the unit
};

[[nodiscard]] std::vector<ParameterFacts> parameter_facts();

struct QuantityFacts {
  std::string_view name, unit, meaning;
  double ClosedForm::*closed_form;  ///< null: no closed form
  Estimate Estimates::*estimate;    ///< null: not simulated
};

[[nodiscard]] const std::vector<QuantityFacts>& quantity_facts();

/// A checked question, whose numbers can be replaced without checking everything again.
class Question {
 public:
  /// Data instead of files and drawn models: none, outcomes of a process "trace", or distributions of fidelity "token".
  /// Throws InputError with every problem.
  using Replacement =
      std::variant<std::monostate, std::shared_ptr<const Recording>, std::shared_ptr<const GivenDistributions>>;
  explicit Question(std::vector<Input> inputs, Replacement replacement = {});

  [[nodiscard]] const std::vector<Input>& inputs() const { return inputs_; }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  /// Whether the answer depends on files, which may change between two questions.
  [[nodiscard]] bool names_files() const { return names_files_; }

 private:
  std::vector<Input> inputs_;
  Scenario scenario_;
  bool names_files_ = false;
};

/// The name of every quantity and parameter, with its label and unit in figures.
[[nodiscard]] std::vector<std::tuple<std::string, std::string, std::string>> figure_labels();

/// The parameter of a number; null for an unknown name and for a parameter of another type.
struct NumberParameter;
[[nodiscard]] const NumberParameter* find_number(std::string_view name);
[[nodiscard]] bool is_integer(const NumberParameter& parameter);
/// Whether the table of parameters allows the number.
[[nodiscard]] bool is_legal(const NumberParameter& parameter, double number);
/// Stores a legal number.
void assign(const NumberParameter& parameter, double number, Scenario& scenario);

/// The configuration of a TOML file, resolved, with its figures and its folder, as a string that the functions below
/// read.
[[nodiscard]] std::string config_of_file(const std::string& path);
/// The same for a JSON document in the shape of the TOML file. `source` names it in messages.
[[nodiscard]] std::string config_of_document(const std::string& json, const std::string& source);
[[nodiscard]] std::uint64_t config_points(const std::string& resolved);
/// Reads the files that the configuration names; returns whether the folder has its complete run. Throws InputError if
/// a run of it could not be written there.
[[nodiscard]] bool holds_whole_sweep(const std::string& resolved, const std::string& folder);
/// run_sweep() for such a configuration.
SweepResult run_config(const std::string& resolved, const std::string& folder, const SweepOptions& options);

/// repeat_run() of a results folder: its points, the hash of its configuration, the version that made it.
struct RepeatedFolder {
  std::uint64_t points;
  std::string hash, version;
};
[[nodiscard]] RepeatedFolder repeat_folder(const std::string& folder, unsigned threads, const std::atomic<bool>* stop,
                                           const std::function<void(double finished, std::uint64_t total)>& progress);

/// The results of one experiment.
struct ReproducedExperiment {
  std::string id, summary, text;
  std::vector<std::pair<std::string, std::string>> files;  ///< name, contents
};
struct Reproduced {
  std::vector<ReproducedExperiment> experiments;
  std::string scorecard;  ///< CSV, columns as in docs/metrics.md
  std::string summary;    ///< "24 results: 12 pass, 0 fail, ..."
  bool failed;            ///< some exact result does not agree
};
struct ReproductionOptions {
  std::uint64_t seed;
  unsigned threads;
  std::optional<std::string> folder;      ///< that keeps everything
  std::optional<std::string> validation;  ///< a folder of validate() beside it
  std::vector<std::string> command_line;
  const std::atomic<bool>* stop;
  std::function<void(double finished, double total)> progress;
};
/// `foredraft reproduce` of these experiments, none: all. Throws InputError with every unknown name.
[[nodiscard]] Reproduced reproduce_experiments(const std::vector<std::string>& names,
                                               const ReproductionOptions& options);

/// Speedups measured in an engine, and those that a profile predicts.
struct ValidatedSpeedups {
  std::string csv;  ///< as validation.csv
  std::string text;
  std::string device;
  bool valid;  ///< of the profile: the result of its A/A test
};
/// `foredraft validate --against` of the text of a file `source`, with a results folder if one is named. `steps`: the
/// profile is a CSV of steps.
[[nodiscard]] ValidatedSpeedups validate_speedups(const std::string& profile, bool steps, const std::string& text,
                                                  const std::string& source, const std::optional<std::string>& folder,
                                                  const std::vector<std::string>& command_line);

/// The document of `foredraft list NAME --json`, schema foredraft.list/1.
[[nodiscard]] std::string list_document(const std::string& name);
/// The page that the package was built with. Throws RunError if there is none.
[[nodiscard]] std::string page_text();

/// The document of `foredraft import --json`, schema foredraft.observations/1.
[[nodiscard]] std::string observations_document(const std::vector<std::string>& paths, const std::string& format,
                                                const std::atomic<bool>* stop);
/// Writes the observations of such a document into a new file, as `foredraft import --as FORMAT`. Throws InputError for
/// an unknown format, for one that cannot hold these logs, and for an existing file.
void write_observations(const std::string& document, const std::string& path, const std::string& format);

// ---- Questions in the keywords of the program's options.

/// The option of the program of that name, with hyphens.
struct Keyword {
  using Value = std::variant<bool, std::int64_t, double, std::string>;
  std::string name;
  Value value;
};

/// An answer of the program. The functions throw InputError with every problem; messages name keywords as options.
struct AnswerTexts {
  std::string json;
  std::string text;
  std::vector<std::string> notes = {};                           ///< on the models, one sentence each
  std::vector<std::pair<std::string, std::string>> tables = {};  ///< CSV files of `--out`: name and text
};

/// `foredraft advise`: schema foredraft.advise/1.
[[nodiscard]] AnswerTexts advice(const std::vector<std::string>& logs, const std::vector<std::string>& plain,
                                 const std::vector<Keyword>& keywords, const std::atomic<bool>* stop);

/// `foredraft advise --plan`, of an engine, the current draft length, the concurrency, and models: schema
/// foredraft.plan/1.
[[nodiscard]] AnswerTexts logging_plan(const std::string& engine, std::optional<std::int64_t> current_gamma,
                                       const std::vector<std::int64_t>& concurrency, const std::string& target,
                                       const std::string& draft);

struct ComparedLogs {
  std::vector<std::string> logs, plain, require;
  std::optional<std::string> baseline, save_baseline;
};
struct ComparisonTexts {
  AnswerTexts answer;
  bool passes;  ///< something was compared, and every requirement is met
};
/// `foredraft compare`: schema foredraft.compare/1.
[[nodiscard]] ComparisonTexts comparison(const ComparedLogs& files, const std::vector<Keyword>& keywords,
                                         const std::atomic<bool>* stop);

/// `foredraft predict` at a load, schema foredraft.predict.load/1; from the times of a device, with `cells`, schema
/// foredraft.predict/1; and of a measured number, schema foredraft.predict.inverse/1.
[[nodiscard]] AnswerTexts load_prediction(const std::vector<Keyword>& keywords, const std::atomic<bool>* stop);
[[nodiscard]] AnswerTexts times_prediction(const std::vector<Keyword>& keywords);
[[nodiscard]] AnswerTexts explanation(const std::vector<Keyword>& keywords);

/// How a tree is drafted. Throws InputError for an unknown word.
[[nodiscard]] Drafting tree_drafting(const std::string& drafter);

/// `foredraft methods`: schema foredraft.methods/1. `document`: a configuration as JSON, without the cost of
/// verification; `verification`: the time of a target pass over 1, 2, ... positions.
[[nodiscard]] AnswerTexts methods_comparison(const std::string& document, const std::vector<double>& verification,
                                             unsigned threads, const std::atomic<bool>* stop);

/// A device's data sheet as JSON.
[[nodiscard]] std::string device_document(const std::string& name);
/// A model's shape and the bytes that its forward passes read, as JSON. Empty formats: those of its config, else fp16.
[[nodiscard]] std::string model_document(const std::string& name, const std::string& format,
                                         const std::string& kv_format, std::int64_t tensor_parallel);
[[nodiscard]] std::vector<std::string> shipped_models();

/// The program; `arguments` without its name. Returns its exit code.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments);

}  // namespace foredraft::python
