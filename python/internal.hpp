// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "foredraft/predict.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "foredraft/sweep.hpp"

namespace foredraft::scenario {
struct Parameter;
}

/// Questions, parameters and quantities as the Python package sees them.
namespace foredraft::python {

/// Name (as in TOML: "process.conditional"), type (real, integer, choice, text, reals, texts, schedule) and summary of
/// every parameter.
[[nodiscard]] std::vector<std::tuple<std::string, std::string, std::string>> parameter_facts();

struct QuantityFacts {
  std::string_view name, unit, meaning;
  double ClosedForm::*closed_form;  ///< null: no closed form
  Estimate Estimates::*estimate;    ///< null: not simulated
};

[[nodiscard]] const std::vector<QuantityFacts>& quantity_facts();

/// A checked question, whose numbers can be replaced without checking everything again.
class CheckedQuestion {
 public:
  /// Data instead of files and drawn models: none, outcomes of a process "trace", or distributions of fidelity "token".
  /// Throws InputError with every problem.
  using Replacement =
      std::variant<std::monostate, std::shared_ptr<const Recording>, std::shared_ptr<const GivenDistributions>>;
  explicit CheckedQuestion(std::vector<Input> inputs, Replacement replacement = {});

  [[nodiscard]] const std::vector<Input>& inputs() const { return inputs_; }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  /// Whether the answer depends on files, which may change between two questions.
  [[nodiscard]] bool names_files() const { return names_files_; }

 private:
  std::vector<Input> inputs_;
  Scenario scenario_;
  bool names_files_ = false;
};

/// The name of every quantity and parameter, with its words and its unit in figures.
[[nodiscard]] std::vector<std::tuple<std::string, std::string, std::string>> figure_labels();

/// The parameter of a number; null for an unknown name and for a parameter of another type.
[[nodiscard]] const scenario::Parameter* find_number(std::string_view name);
[[nodiscard]] bool is_integer(const scenario::Parameter& parameter);
/// Whether the table of parameters allows the number.
[[nodiscard]] bool is_legal(const scenario::Parameter& parameter, double number);
/// Stores a legal number.
void assign(const scenario::Parameter& parameter, double number, Scenario& scenario);

/// The program; `arguments` without its name. Returns its exit code.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments);

}  // namespace foredraft::python
