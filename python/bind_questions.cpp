// SPDX-License-Identifier: Apache-2.0
// Scenarios from keywords, their closed forms and simulations.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "foredraft/errors.hpp"
#include "python/bind.hpp"
#include "python/long_work.hpp"

namespace nb = nanobind;

namespace foredraft::python {
namespace {

/// The TOML name of each parameter, by its Python keyword (underscores for dots) and by the TOML name itself.
const std::unordered_map<std::string, std::string>& names() {
  static const std::unordered_map<std::string, std::string> all = [] {
    std::unordered_map<std::string, std::string> known;
    for (const auto& [name, type, summary] : parameter_facts()) {
      std::string keyword = name;
      std::replace(keyword.begin(), keyword.end(), '.', '_');
      known.emplace(std::move(keyword), name);
      known.emplace(name, name);
    }
    return known;
  }();
  return all;
}

/// A plain number or word; nullopt for anything else.
std::optional<Value> plain_value(nb::handle value) {
  if (PyFloat_Check(value.ptr()) != 0) return PyFloat_AsDouble(value.ptr());
  if (PyLong_Check(value.ptr()) != 0) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0) return PyLong_AsDouble(value.ptr());
    return static_cast<std::int64_t>(number);
  }
  if (PyUnicode_Check(value.ptr()) != 0) return nb::cast<std::string>(value);
  return std::nullopt;
}

/// Python has converted arrays, ranges and tuples to lists.
Value value_of(const std::string& name, nb::handle value) {
  if (auto plain = plain_value(value)) return *plain;
  if (nb::isinstance<nb::list>(value)) {
    const auto list = nb::borrow<nb::list>(value);
    if (list.size() > 0 && nb::isinstance<nb::list>(list[0])) {
      Schedule rows;
      if (nb::try_cast(value, rows)) return rows;
    }
    std::vector<double> numbers;
    if (nb::try_cast(value, numbers)) return numbers;
    std::vector<std::string> words;
    if (nb::try_cast(value, words)) return words;
  }
  throw InputError("foredraft: " + name + ": wrong type (must be a number, a word or a list, is " +
                   nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr()))))) + ")");
}

nb::object python_value(const Value& value) {
  return std::visit(
      [](const auto& held) -> nb::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, Schedule>) {
          nb::list rows;
          for (const auto& row : held) rows.append(nb::make_tuple(row[0], row[1], row[2]));
          return rows;
        } else {
          return nb::cast(held);
        }
      },
      value);
}

nb::dict parameters_of(const CheckedQuestion& question) {
  nb::dict parameters;
  for (const Input& input : question.inputs()) parameters[input.parameter.c_str()] = python_value(input.value);
  return parameters;
}

// ---- Single points, often requested: a combination of words is checked once, not again for other numbers.

class QuestionCache {
 public:
  /// Nullopt if some value is neither a number nor a word.
  std::optional<ClosedForm> predict(const nb::dict& parameters) {
    key_.clear();
    numbers_.clear();
    for (const auto& [key, value] : parameters) {
      auto plain = plain_value(value);
      if (!plain) return std::nullopt;
      append_key(key, *plain);
    }
    const auto found = prepared_.find(key_);
    if (found == prepared_.end()) return prepare(parameters);
    Scenario scenario = found->second.scenario;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const scenario::Parameter& parameter = *found->second.parameters[i];
      if (!is_legal(parameter, numbers_[i])) return answer_in_full(parameters);
      assign(parameter, numbers_[i], scenario);
    }
    try {
      return foredraft::predict(scenario);
    } catch (const DomainError&) {
      return answer_in_full(parameters);
    }
  }

 private:
  struct Prepared {
    Scenario scenario;
    std::vector<const scenario::Parameter*> parameters;  ///< in the order of the keywords
  };
  static constexpr std::size_t max_prepared = 1024;

  void append_key(nb::handle name, const Value& value) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
    if (text == nullptr) throw nb::python_error();
    key_.append(text, static_cast<std::size_t>(size));
    if (const auto* real = std::get_if<double>(&value)) {
      numbers_.push_back(*real);
      key_ += '\1';
    } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      numbers_.push_back(static_cast<double>(*whole));
      key_ += '\1';
    } else {
      key_ += '\2';
      key_ += std::get<std::string>(value);
      key_ += '\3';
    }
  }

  static ClosedForm answer_in_full(const nb::dict& parameters) {
    return foredraft::predict(CheckedQuestion(inputs_of(parameters)).scenario());
  }

  ClosedForm prepare(const nb::dict& parameters) {
    const CheckedQuestion question(inputs_of(parameters));
    const ClosedForm answer = foredraft::predict(question.scenario());
    Prepared prepared{question.scenario(), {}};
    for (const Input& input : question.inputs()) {
      if (std::holds_alternative<std::string>(input.value)) continue;
      const scenario::Parameter* parameter = find_number(input.parameter);
      if (parameter == nullptr) return answer;
      prepared.parameters.push_back(parameter);
    }
    if (question.names_files()) return answer;
    if (prepared_.size() == max_prepared) prepared_.clear();
    prepared_.emplace(key_, std::move(prepared));
    return answer;
  }

  std::unordered_map<std::string, Prepared> prepared_;
  std::string key_;
  std::vector<double> numbers_;
};

Simulated simulate_question(const CheckedQuestion& question, const SimulationPlan& plan, unsigned threads) {
  return run_interruptibly(
      [&](const std::atomic<bool>& stop, ProgressBoard&) {
        return foredraft::simulate(question.scenario(), plan, threads, &stop);
      },
      nb::none());
}

Path path_of(const std::string& word) {
  if (word == "fast") return Path::fast;
  if (word == "reference") return Path::reference;
  throw InputError("foredraft: path: unknown path \"" + word + "\" - fast, reference");
}

}  // namespace

std::string name_of(const std::string& keyword) {
  const auto found = names().find(keyword);
  return found == names().end() ? keyword : found->second;
}

std::vector<Input> inputs_of(const nb::dict& parameters) {
  std::vector<Input> inputs;
  for (const auto& [key, value] : parameters) {
    std::string name = name_of(nb::cast<std::string>(key));
    Value held = value_of(name, value);
    inputs.push_back({std::move(name), std::move(held)});
  }
  return inputs;
}

void bind_questions(nb::module_& module) {
  nb::class_<CheckedQuestion> question_class(module, "Question");
  question_class
      .def("__init__",
           [](CheckedQuestion* self, const nb::dict& parameters) { new (self) CheckedQuestion(inputs_of(parameters)); })
      .def_prop_ro("parameters", parameters_of);
  bind_arrays(module, question_class);
  auto* cache = new QuestionCache;  // guarded by the GIL; lives as long as the process
  module.def("predict_plain", [cache](const nb::dict& parameters) { return cache->predict(parameters); });
  module.def("predict", [](const CheckedQuestion& question) { return foredraft::predict(question.scenario()); });
  module.def("best_gamma", [](const CheckedQuestion& question) { return best_draft_length(question.scenario()); });
  module.attr("as_load_needs") = as_load_needs;
  module.def("simulate", [](const CheckedQuestion& question, std::uint64_t iterations, std::uint64_t sequences,
                            std::uint64_t requests, std::uint64_t replicas, std::uint64_t warmup_requests,
                            std::uint64_t seed, const std::string& path, unsigned threads) {
    return simulate_question(question,
                             {.iterations = iterations,
                              .sequences = sequences,
                              .seed = seed,
                              .path = path_of(path),
                              .requests = requests,
                              .replicas = replicas,
                              .warmup_requests = warmup_requests},
                             threads);
  });
}

}  // namespace foredraft::python
