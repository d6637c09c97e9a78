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

/// Of every quantity and parameter its name, and its words and its unit in figures.
[[nodiscard]] std::vector<std::tuple<std::string, std::string, std::string>> figure_labels();

/// The parameter of a number; null for an unknown name and for a parameter of another type.
struct NumberParameter;
[[nodiscard]] const NumberParameter* find_number(std::string_view name);
[[nodiscard]] bool is_integer(const NumberParameter& parameter);
/// Whether the table of parameters allows the number.
[[nodiscard]] bool is_legal(const NumberParameter& parameter, double number);
/// Stores a legal number.
void assign(const NumberParameter& parameter, double number, Scenario& scenario);

/// A parameter whose value varies between points.
struct Varying {
  std::string parameter;
  std::span<const double> values;  ///< one per point
};

/// Closed forms of many points.
struct Columns {
  std::vector<std::unique_ptr<double[]>> quantities;  ///< as quantity_facts(); null: NaN at every point
  std::unique_ptr<double[]> gamma;                    ///< the best one, if requested; else null
};

/// The closed forms of `points` questions that differ from `base` in `varying`. `best`: each at its best draft length.
/// Throws InputError with a line for each parameter with an illegal number, DomainError for a point without an answer,
/// both with the index of the first one; Interrupted.
[[nodiscard]] Columns predict_points(const Question& base, const std::vector<Varying>& varying, std::size_t points,
                                     bool best, unsigned threads, const std::atomic<bool>* stop);

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

/// The document of `foredraft import --json`, schema foredraft.observations/1.
[[nodiscard]] std::string observations_document(const std::vector<std::string>& paths, const std::string& format,
                                                const std::atomic<bool>* stop);

/// A keyword of advise(): the option of the program of that name, with hyphens.
struct Keyword {
  using Value = std::variant<bool, std::int64_t, double, std::string>;
  std::string name;
  Value value;
};

struct AdviceTexts {
  std::string json;  ///< schema foredraft.advise/1
  std::string text;
  std::vector<std::string> notes;  ///< on the models, one sentence each
};
/// The answer of `foredraft advise` for these files and keywords. Throws InputError with every problem, which name
/// keywords as options.
[[nodiscard]] AdviceTexts advice(const std::vector<std::string>& logs, const std::vector<std::string>& plain,
                                 const std::vector<Keyword>& keywords, const std::atomic<bool>* stop);

struct PlanTexts {
  std::string json;  ///< schema foredraft.plan/1
  std::string text;
};
/// The answer of `foredraft advise --plan`: of an engine, the current draft length, requests at once, and models.
/// Throws InputError with every problem, which name options.
[[nodiscard]] PlanTexts logging_plan(const std::string& engine, std::optional<std::int64_t> current_gamma,
                                     const std::vector<std::int64_t>& concurrency, const std::string& target,
                                     const std::string& draft);

struct LoadTexts {
  std::string json;  ///< schema foredraft.predict.load/1
  std::string text;
  std::vector<std::string> notes;  ///< on the models, one sentence each
};
/// The answer of `foredraft predict` at a load for these keywords. Throws InputError with every problem, which name
/// keywords as options.
[[nodiscard]] LoadTexts load_prediction(const std::vector<Keyword>& keywords, const std::atomic<bool>* stop);

/// A device's data sheet as JSON.
[[nodiscard]] std::string device_document(const std::string& name);
/// A model's shape and what its forward passes read, as JSON. Empty formats: those of its config, else fp16.
[[nodiscard]] std::string model_document(const std::string& name, const std::string& format,
                                         const std::string& kv_format, std::int64_t tensor_parallel);
[[nodiscard]] std::vector<std::string> shipped_models();

/// The program; `arguments` without its name. Returns its exit code.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments);

}  // namespace foredraft::python
