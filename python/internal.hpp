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
#include <variant>
#include <vector>

#include "foredraft/lossiness.hpp"
#include "foredraft/predict.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "foredraft/sweep.hpp"

/// What the Python package asks of the library beyond the public headers. All includes of internal headers are in
/// internal.cpp.
namespace foredraft::python {

/// What can stand for a parameter in a question.
struct ParameterFacts {
  std::string name;     ///< as in TOML: "process.conditional"
  std::string type;     ///< real, integer, choice, text, reals, texts, schedule
  std::string summary;  ///< one line, with the unit
};

[[nodiscard]] std::vector<ParameterFacts> parameter_facts();

struct QuantityFacts {
  std::string_view name, unit, meaning;
  double ClosedForm::*closed_form;  ///< null: there is none
  Estimate Estimates::*estimate;    ///< null: no simulation counts it
};

[[nodiscard]] const std::vector<QuantityFacts>& quantity_facts();

/// A checked question, whose numbers can be replaced without checking all of it again.
class Question {
 public:
  /// What takes the place of files and of drawn models: nothing, outcomes of a process "trace", or distributions of
  /// fidelity "token". Throws InputError with every problem.
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

/// The parameter of a number; null for an unknown name and for a parameter that takes no number.
struct NumberParameter;
[[nodiscard]] const NumberParameter* find_number(std::string_view name);
[[nodiscard]] bool is_integer(const NumberParameter& parameter);
/// Whether the table of parameters allows the number.
[[nodiscard]] bool is_legal(const NumberParameter& parameter, double number);
/// Stores a legal number.
void assign(const NumberParameter& parameter, double number, Scenario& scenario);

/// A parameter whose value differs from point to point.
struct Varying {
  std::string parameter;
  std::span<const double> values;  ///< one a point
};

/// Closed forms of many points.
struct Columns {
  std::vector<std::unique_ptr<double[]>> quantities;  ///< as quantity_facts(); null: NaN at every point
  std::unique_ptr<double[]> gamma;                    ///< the best one, where it was asked for; else null
};

/// The closed forms of `points` questions that differ from `base` in `varying`. `best`: each at its draft length of the
/// greatest speedup. Throws InputError with a line for each parameter with an illegal number, DomainError for a point
/// that has no answer, both with the index of the first one; Interrupted.
[[nodiscard]] Columns predict_points(const Question& base, const std::vector<Varying>& varying, std::size_t points,
                                     bool best, unsigned threads, const std::atomic<bool>* stop);

/// The configuration of a TOML file as JSON, resolved, with its figures.
[[nodiscard]] std::string config_of_file(const std::string& path);
/// The same of a JSON document in the shape of the TOML file. `source` names it in messages.
[[nodiscard]] std::string config_of_document(const std::string& json, const std::string& source);
[[nodiscard]] std::uint64_t config_points(const std::string& json);
/// Reads what the configuration names, and says whether the folder holds its complete run. Throws InputError where a
/// run of it could not go there.
[[nodiscard]] bool holds_whole_sweep(const std::string& json, const std::string& folder);
/// run_sweep() of such a configuration.
SweepResult run_config(const std::string& json, const std::string& folder, const SweepOptions& options);

/// The document of `foredraft import --json`, schema foredraft.observations/1.
[[nodiscard]] std::string observations_document(const std::vector<std::string>& paths, const std::string& format,
                                                const std::atomic<bool>* stop);

struct AdviceTexts {
  std::string json;  ///< schema foredraft.advise/1
  std::string text;
};
/// The answer of `foredraft advise` to these arguments.
[[nodiscard]] AdviceTexts advice(const std::vector<std::string>& arguments, const std::atomic<bool>* stop);

/// What a data sheet says of a device, as JSON.
[[nodiscard]] std::string device_document(const std::string& name);
/// A model's shape and what its forward passes read, as JSON. Empty formats: as its own config says, else fp16.
[[nodiscard]] std::string model_document(const std::string& name, const std::string& format,
                                         const std::string& kv_format, std::int64_t tensor_parallel);
[[nodiscard]] std::vector<std::string> shipped_models();

/// The program; `arguments` without its name. Returns its exit code.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments);

}  // namespace foredraft::python
