// SPDX-License-Identifier: Apache-2.0
// The module foredraft._core: converts values between Python and C++. The interface for users is the Python code of
// foredraft/.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "foredraft/errors.hpp"
#include "foredraft/profile.hpp"
#include "foredraft/tree.hpp"
#include "foredraft/version.hpp"
#include "python/internal.hpp"

namespace nb = nanobind;

namespace foredraft::python {
namespace {

// ---- Long work: without the GIL and in a separate thread, so that Python handles Ctrl-C and progress.

constexpr std::chrono::milliseconds between_looks{50};

/// Progress of a run.
class ProgressBoard {
 public:
  void show(double finished, double total) {
    finished_.store(finished, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
  }
  [[nodiscard]] double finished() const { return finished_.load(std::memory_order_relaxed); }
  [[nodiscard]] double total() const { return total_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> finished_ = 0.0;
  std::atomic<double> total_ = 0.0;
};

/// The result of work(stop, board). Calls `progress` with (finished, total) meanwhile. An exception of a signal or of
/// `progress` ends the work and is rethrown.
template <class Work>
auto run_interruptibly(Work work, const nb::object& progress) {
  using Result = std::invoke_result_t<Work&, const std::atomic<bool>&, ProgressBoard&>;
  std::atomic<bool> stop = false;
  ProgressBoard board;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::optional<Result> result;
  std::exception_ptr failure;
  std::thread worker([&] {
    try {
      result.emplace(work(stop, board));
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_one();
  });
  const auto wait = [&](bool to_the_end) {
    const nb::gil_scoped_release release;
    std::unique_lock lock(mutex);
    const auto is_done = [&] { return done; };
    if (!to_the_end) return changed.wait_for(lock, between_looks, is_done);
    changed.wait(lock, is_done);
    return true;
  };
  const auto end = [&] {
    stop = true;
    wait(true);
    worker.join();
  };
  while (!wait(false)) {
    if (PyErr_CheckSignals() != 0) {
      nb::python_error raised;
      end();
      throw raised;
    }
    if (progress.is_none()) continue;
    try {
      progress(board.finished(), board.total());
    } catch (...) {
      end();
      throw;
    }
  }
  worker.join();
  if (failure) std::rethrow_exception(failure);
  if (!progress.is_none() && board.total() > 0.0) progress(board.finished(), board.total());
  return std::move(*result);
}

// ---- Parameters.

/// Names in Python (underscores for dots) and in TOML, each with that in TOML.
const std::unordered_map<std::string, std::string>& names() {
  static const std::unordered_map<std::string, std::string> all = [] {
    std::unordered_map<std::string, std::string> known;
    for (const ParameterFacts& facts : parameter_facts()) {
      std::string keyword = facts.name;
      std::replace(keyword.begin(), keyword.end(), '.', '_');
      known.emplace(std::move(keyword), facts.name);
      known.emplace(facts.name, facts.name);
    }
    return known;
  }();
  return all;
}

std::string name_of(const std::string& keyword) {
  const auto found = names().find(keyword);
  return found == names().end() ? keyword : found->second;
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

std::vector<Input> inputs_of(const nb::dict& parameters) {
  std::vector<Input> inputs;
  for (const auto& [key, value] : parameters) {
    std::string name = name_of(nb::cast<std::string>(key));
    Value held = value_of(name, value);
    inputs.push_back({std::move(name), std::move(held)});
  }
  return inputs;
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

nb::dict parameters_of(const Question& question) {
  nb::dict parameters;
  for (const Input& input : question.inputs()) parameters[input.parameter.c_str()] = python_value(input.value);
  return parameters;
}

// ---- Single points, asked often: a combination of words is checked once, not again for other numbers.

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
      const NumberParameter& parameter = *found->second.parameters[i];
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
    std::vector<const NumberParameter*> parameters;  ///< in the order of the keywords
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
    return foredraft::predict(Question(inputs_of(parameters)).scenario());
  }

  ClosedForm prepare(const nb::dict& parameters) {
    const Question question(inputs_of(parameters));
    const ClosedForm answer = foredraft::predict(question.scenario());
    Prepared prepared{question.scenario(), {}};
    for (const Input& input : question.inputs()) {
      if (std::holds_alternative<std::string>(input.value)) continue;
      const NumberParameter* parameter = find_number(input.parameter);
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

// ---- Arrays.

using RealArray = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using RealInput = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutcomeInput = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MatrixInput = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object array_of(std::unique_ptr<double[]> values, std::size_t size) {
  double* const data = values.release();
  const nb::capsule owner(data, [](void* held) noexcept { delete[] static_cast<double*>(held); });
  return nb::cast(RealArray(data, {size}, owner));
}

/// The quantities that are known at some point, and "gamma" if the best one was requested.
nb::dict predict_arrays(const Question& base, const std::vector<std::pair<std::string, RealInput>>& arrays, bool best,
                        unsigned threads) {
  std::vector<Varying> varying;
  std::size_t points = 1;
  for (const auto& [keyword, values] : arrays) {
    varying.push_back({name_of(keyword), {values.data(), values.size()}});
    points = values.size();
  }
  Columns columns =
      run_interruptibly([&](const std::atomic<bool>& stop,
                            ProgressBoard&) { return predict_points(base, varying, points, best, threads, &stop); },
                        nb::none());
  nb::dict known;
  for (std::size_t i = 0; i < columns.quantities.size(); ++i) {
    if (!columns.quantities[i]) continue;
    const std::string_view name = quantity_facts()[i].name;
    known[nb::str(name.data(), name.size())] = array_of(std::move(columns.quantities[i]), points);
  }
  if (columns.gamma) known["gamma"] = array_of(std::move(columns.gamma), points);
  return known;
}

std::shared_ptr<const Recording> recording_of(const OutcomeInput& outcomes) {
  auto recording = std::make_shared<Recording>();
  for (std::size_t row = 0; row < outcomes.shape(0); ++row) {
    const std::int8_t* first = outcomes.data() + row * outcomes.shape(1);
    recording->sequences.emplace_back(first, first + outcomes.shape(1));
  }
  return recording;
}

std::vector<std::vector<double>> rows_of(const MatrixInput& matrix) {
  std::vector<std::vector<double>> rows;
  rows.reserve(matrix.shape(0));
  for (std::size_t row = 0; row < matrix.shape(0); ++row) {
    const double* first = matrix.data() + row * matrix.shape(1);
    rows.emplace_back(first, first + matrix.shape(1));
  }
  return rows;
}

/// `rule`: acceptance, replacement and optionally bonus; or empty.
Question question_of_distributions(const nb::dict& parameters, const MatrixInput& target, const MatrixInput& draft,
                                   const std::vector<MatrixInput>& rule) {
  auto given = std::make_shared<GivenDistributions>();
  given->target = rows_of(target);
  given->draft = rows_of(draft);
  if (!rule.empty()) given->acceptance = rows_of(rule[0]);
  if (rule.size() > 1) given->replacement = rows_of(rule[1]);
  if (rule.size() > 2) given->bonus = rows_of(rule[2]);
  return Question(inputs_of(parameters), std::shared_ptr<const GivenDistributions>(std::move(given)));
}

nb::object matrix_of(const std::vector<std::vector<double>>& rows) {
  const std::size_t columns = rows.front().size();
  auto values = std::make_unique_for_overwrite<double[]>(rows.size() * columns);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::copy(rows[row].begin(), rows[row].end(), values.get() + row * columns);
  }
  double* const data = values.release();
  const nb::capsule owner(data, [](void* held) noexcept { delete[] static_cast<double*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<2>>(data, {rows.size(), columns}, owner));
}

/// The lossiness of a rule, and the emitted distributions.
nb::dict loss_of(const Question& question, std::uint64_t seed) {
  const auto [loss, emitted] = run_interruptibly(
      [&](const std::atomic<bool>&, ProgressBoard&) {
        return std::pair(lossiness(question.scenario(), seed), emitted_distributions(question.scenario(), seed));
      },
      nb::none());
  nb::dict answer;
  answer["acceptance"] = loss.acceptance;
  answer["acceptance_gain"] = loss.acceptance_gain;
  answer["total_variation"] = loss.total_variation;
  answer["kl_divergence"] = loss.kl_divergence;
  answer["top1_agreement"] = loss.top1_agreement;
  answer["top1_probability"] = loss.top1_probability;
  answer["emitted"] = matrix_of(emitted);
  return answer;
}

// ---- Simulation, sweeps.

Simulated simulate_question(const Question& question, const SimulationPlan& plan, unsigned threads) {
  return run_interruptibly(
      [&](const std::atomic<bool>& stop, ProgressBoard&) {
        return foredraft::simulate(question.scenario(), plan, threads, &stop);
      },
      nb::none());
}

std::optional<Path> path_of(const std::string& word) {
  if (word == "fast") return Path::fast;
  if (word == "reference") return Path::reference;
  throw InputError("foredraft: path: unknown path \"" + word + "\" - fast, reference");
}

nb::tuple sweep_result(const SweepResult& result) {
  return nb::make_tuple(result.points, result.resumed, result.already_complete);
}

nb::tuple run_sweep_config(const std::string& config, const std::string& folder,
                           std::optional<std::pair<std::uint64_t, std::uint64_t>> shard, unsigned threads,
                           const std::vector<std::string>& command_line, const nb::object& progress) {
  return sweep_result(run_interruptibly(
      [&](const std::atomic<bool>& stop, ProgressBoard& board) {
        SweepOptions options{.threads = threads, .stop = &stop, .command_line = command_line};
        options.progress = [&](const SweepProgress& now) { board.show(now.finished, static_cast<double>(now.total)); };
        if (shard) options.shard = Shard{shard->first, shard->second};
        return run_config(config, folder, options);
      },
      progress));
}

nb::tuple merge(const std::vector<std::string>& shards, const std::string& folder,
                const std::vector<std::string>& command_line) {
  return sweep_result(run_interruptibly(
      [&](const std::atomic<bool>& stop, ProgressBoard&) {
        return merge_shards(shards, folder, {.stop = &stop, .command_line = command_line});
      },
      nb::none()));
}

// ---- Trees.

nb::dict judged_tree(const JudgedTree& judged) {
  std::vector<TreePath> paths;
  for (std::int64_t node = 1; node < judged.tree.size(); ++node) paths.push_back(judged.tree.path(node));
  nb::dict json;
  json["paths"] = nb::cast(paths);
  json["nodes"] = judged.tree.size();
  json["depth"] = judged.tree.depth();
  json["tokens"] = judged.tokens;
  json["variance"] = judged.variance;
  json["iteration_cost"] = nb::cast(judged.iteration_cost);
  json["speedup"] = nb::cast(judged.speedup);
  return json;
}

nb::dict find_tree(const std::vector<std::vector<double>>& accuracies, std::int64_t nodes, std::int64_t depth,
                   const std::optional<std::vector<TreePath>>& given,
                   const std::optional<std::vector<double>>& verification, double c, const std::string& drafter) {
  TreeQuestion question{.accuracies = accuracies, .nodes = nodes, .depth = depth};
  if (given) question.given = tree_from_paths(*given);
  if (verification) {
    const auto drafting = parse_drafting(drafter);
    if (!drafting) throw InputError("foredraft: drafter: unknown drafter \"" + drafter + "\" - autoregressive, block");
    question.price = TreePrice{.verification = *verification, .c = c, .drafting = *drafting};
  }
  const TreeAnswer answer = [&] {
    const nb::gil_scoped_release release;
    return best_tree(question);
  }();
  nb::dict json;
  json["chosen"] = judged_tree(answer.chosen);
  if (answer.best) json["best"] = judged_tree(*answer.best);
  json["dense"] = judged_tree(answer.dense);
  json["dense_widths"] = nb::cast(answer.dense_widths);
  json["chain"] = judged_tree(answer.chain);
  json["pmf"] = nb::cast(answer.pmf);
  json["probabilities"] = nb::cast(answer.probabilities);
  json["notes"] = nb::cast(answer.notes);
  return json;
}

// ---- Profiles.

nb::object pass_time(const ForwardPassTime& time) {
  nb::dict json;
  json["time_us"] = time.time_us;
  json["spread"] = nb::cast(time.spread);
  json["origin"] = std::string(to_string(time.origin));
  json["inside"] = time.inside;
  return json;
}

nb::dict speedups_of(const Profile& profile, const Question& question, const std::string& target,
                     const std::string& draft, std::int64_t batch, std::int64_t context, std::int64_t max_gamma,
                     double overhead_us) {
  const Scenario& scenario = question.scenario();
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  if (process == nullptr) throw InputError("foredraft: fidelity: must be process");
  const SpeedupTable table = [&] {
    const nb::gil_scoped_release release;
    return profile.speedups({.target = target,
                             .draft = draft,
                             .drafter = scenario.drafter,
                             .acceptance = process->acceptance,
                             .convention = scenario.convention,
                             .batch = batch,
                             .context = context,
                             .max_gamma = max_gamma,
                             .overhead_us = overhead_us});
  }();
  nb::list lengths;
  for (const SpeedupAtGamma& at : table.lengths) {
    nb::dict length;
    length["gamma"] = at.gamma;
    length["tokens_per_iteration"] = at.tokens_per_iteration;
    length["drafting_us"] = at.drafting.time_us;
    length["verify_us"] = at.verify.time_us;
    length["sampling_us"] = at.sampling ? nb::cast(at.sampling->time_us) : nb::none();
    length["speedup"] = at.speedup;
    length["spread"] = nb::cast(at.spread);
    lengths.append(length);
  }
  nb::dict json;
  json["plain"] = pass_time(table.plain);
  json["lengths"] = lengths;
  json["best_gamma"] = table.best_gamma;
  return json;
}

// ---- Quantities as values: NaN is not known, and equal to itself.

bool is_known(double number) { return !std::isnan(number); }
bool is_known(const Estimate& estimate) { return is_known(estimate.mean); }
bool same(double one, double other) { return one == other || (!is_known(one) && !is_known(other)); }
bool same(const Estimate& one, const Estimate& other) {
  return same(one.mean, other.mean) && same(one.standard_error, other.standard_error);
}

/// The known quantities by name. `which`: the member of a quantity, for closed forms or for estimates.
template <class Number, class Which>
nb::dict known_of(const Quantities<Number>& quantities, Which which) {
  nb::dict known;
  for (const QuantityFacts& facts : quantity_facts()) {
    if (facts.*which == nullptr || !is_known(quantities.*(facts.*which))) continue;
    known[nb::str(facts.name.data(), facts.name.size())] = nb::cast(quantities.*(facts.*which));
  }
  return known;
}

template <class Number>
Quantities<Number> quantities_of(const nb::dict& known, Number Quantities<Number>::*QuantityFacts::*which) {
  Quantities<Number> quantities;
  for (const QuantityFacts& facts : quantity_facts()) {
    const nb::str name(facts.name.data(), facts.name.size());
    if (facts.*which != nullptr && known.contains(name)) quantities.*(facts.*which) = nb::cast<Number>(known[name]);
  }
  return quantities;
}

template <class Number, class Which>
bool same_quantities(const Quantities<Number>& one, const Quantities<Number>& other, Which which) {
  return std::ranges::all_of(quantity_facts(), [&](const QuantityFacts& facts) {
    return facts.*which == nullptr || same(one.*(facts.*which), other.*(facts.*which));
  });
}

void bind_answers(nb::module_& module) {
  nb::class_<Estimate>(module, "Estimate", "A mean with its standard error (NaN: not known).")
      .def(nb::init<double, double>(), nb::arg("mean"), nb::arg("standard_error"))
      .def_ro("mean", &Estimate::mean, "The estimate.")
      .def_ro("standard_error", &Estimate::standard_error, "Of the mean; NaN: not known.")
      .def_prop_ro(
          "ci95",
          [](const Estimate& one) {
            constexpr double normal_quantile = 1.959963984540054;
            const double half = normal_quantile * one.standard_error;
            return std::pair(one.mean - half, one.mean + half);
          },
          "The 95 % interval (low, high).")
      .def("__float__", [](const Estimate& one) { return one.mean; })
      .def(
          "__eq__", [](const Estimate& one, const Estimate& other) { return same(one, other); }, nb::is_operator())
      .def("__reduce__",
           [](const Estimate& one) {
             return nb::make_tuple(nb::type<Estimate>(), nb::make_tuple(one.mean, one.standard_error));
           })
      .def("__repr__", [](const Estimate& one) {
        return nb::str("Estimate({:.6g} +- {:.2g})").attr("format")(one.mean, one.standard_error);
      });
  nb::class_<ClosedForm> closed_form(module, "Prediction",
                                     "Closed forms of one scenario. NaN: not known, or not asked for; infinite: "
                                     "unbounded.");
  nb::class_<Simulated> simulated(module, "Simulation", "Estimates of one scenario, each with its standard error.");
  for (const QuantityFacts& facts : quantity_facts()) {
    std::string text(facts.meaning);
    if (!facts.unit.empty()) text += " (" + std::string(facts.unit) + ")";
    const std::string name(facts.name);
    if (facts.closed_form != nullptr) closed_form.def_ro(name.c_str(), facts.closed_form, text.c_str());
    if (facts.estimate != nullptr) {
      simulated.def_prop_ro(
          name.c_str(), [which = facts.estimate](const Simulated& one) { return one.estimates.*which; }, text.c_str());
    }
  }
  closed_form.def(
      "to_dict", [](const ClosedForm& one) { return known_of(one, &QuantityFacts::closed_form); },
      nb::sig("def to_dict(self) -> dict[str, float]"), "The quantities that are known.");
  closed_form.def("__repr__",
                  [](nb::handle self) { return nb::str("Prediction({})").attr("format")(self.attr("to_dict")()); });
  closed_form.def("__getstate__", [](const ClosedForm& one) { return known_of(one, &QuantityFacts::closed_form); })
      .def("__setstate__",
           [](ClosedForm& one, const nb::dict& known) {
             new (&one) ClosedForm(quantities_of(known, &QuantityFacts::closed_form));
           })
      .def(
          "__eq__",
          [](const ClosedForm& one, const ClosedForm& other) {
            return same_quantities(one, other, &QuantityFacts::closed_form);
          },
          nb::is_operator());
  simulated.def_ro("iterations", &Simulated::iterations, "Simulated draft-and-verify iterations.")
      .def_ro("units", &Simulated::units, "Independent units that the standard errors rest on.")
      .def_ro("unsteady", &Simulated::unsteady,
              "Why a server's estimates are not those of a steady state, and what to set; empty: nothing speaks "
              "against it.")
      .def(
          "to_dict", [](const Simulated& one) { return known_of(one.estimates, &QuantityFacts::estimate); },
          nb::sig("def to_dict(self) -> dict[str, Estimate]"), "The quantities that were estimated.")
      .def("__getstate__",
           [](const Simulated& one) {
             return nb::make_tuple(known_of(one.estimates, &QuantityFacts::estimate), one.iterations, one.units,
                                   one.unsteady);
           })
      .def("__setstate__",
           [](Simulated& one, const std::tuple<nb::dict, std::uint64_t, std::uint64_t, std::string>& state) {
             const auto& [known, iterations, units, unsteady] = state;
             new (&one) Simulated{quantities_of(known, &QuantityFacts::estimate), iterations, units, unsteady};
           })
      .def(
          "__eq__",
          [](const Simulated& one, const Simulated& other) {
            return one.iterations == other.iterations && one.units == other.units &&
                   same_quantities(one.estimates, other.estimates, &QuantityFacts::estimate);
          },
          nb::is_operator())
      .def("__repr__",
           [](nb::handle self) { return nb::str("Simulation({})").attr("format")(self.attr("to_dict")()); });
  nb::class_<BestDraftLength>(module, "BestGamma", "The constant draft length with the maximum speedup.")
      .def_ro("gamma", &BestDraftLength::gamma,
              "Drafted tokens per iteration; None: unbounded, the speedup grows with every length.")
      .def_ro("speedup", &BestDraftLength::speedup, "Over autoregressive decoding; the limit if gamma is None.")
      .def_ro("first_near_best", &BestDraftLength::first_near_best, "Shortest draft within 1 % of the best speedup.")
      .def_ro("last_near_best", &BestDraftLength::last_near_best, "Longest draft within 1 % of the best speedup.")
      .def("__getstate__",
           [](const BestDraftLength& best) {
             return nb::make_tuple(best.gamma, best.speedup, best.first_near_best, best.last_near_best);
           })
      .def("__setstate__",
           [](BestDraftLength& best, const std::tuple<std::optional<std::int64_t>, double, std::optional<std::int64_t>,
                                                      std::optional<std::int64_t>>& state) {
             const auto& [gamma, speedup, first, last] = state;
             new (&best) BestDraftLength{gamma, speedup, first, last};
           })
      .def(
          "__eq__",
          [](const BestDraftLength& one, const BestDraftLength& other) {
            return one.gamma == other.gamma && same(one.speedup, other.speedup) &&
                   one.first_near_best == other.first_near_best && one.last_near_best == other.last_near_best;
          },
          nb::is_operator())
      .def("__repr__", [](const BestDraftLength& best) {
        return nb::str("BestGamma(gamma={}, speedup={:.6g})").attr("format")(nb::cast(best.gamma), best.speedup);
      });
}

void bind_questions(nb::module_& module) {
  nb::class_<Question>(module, "Question")
      .def("__init__", [](Question* self, const nb::dict& parameters) { new (self) Question(inputs_of(parameters)); })
      .def_static("replay",
                  [](const nb::dict& parameters, const OutcomeInput& outcomes) {
                    return Question(inputs_of(parameters), std::shared_ptr<const Recording>(recording_of(outcomes)));
                  })
      .def_static("of_distributions", question_of_distributions)
      .def_prop_ro("parameters", parameters_of);
  auto* cache = new QuestionCache;  // guarded by the GIL; lives as long as the process
  module.def("predict_plain", [cache](const nb::dict& parameters) { return cache->predict(parameters); });
  module.def("predict", [](const Question& question) { return foredraft::predict(question.scenario()); });
  module.def("predict_arrays", predict_arrays);
  module.def("best_gamma", [](const Question& question) { return best_draft_length(question.scenario()); });
  module.def("lossiness", loss_of);
  module.attr("as_load_needs") = as_load_needs;
  module.def("simulate", [](const Question& question, std::uint64_t iterations, std::uint64_t sequences,
                            std::uint64_t requests, std::uint64_t replicas, std::uint64_t warmup_requests,
                            std::uint64_t seed, const std::string& path, unsigned threads) {
    return simulate_question(question,
                             {.iterations = iterations,
                              .sequences = sequences,
                              .seed = seed,
                              .path = *path_of(path),
                              .requests = requests,
                              .replicas = replicas,
                              .warmup_requests = warmup_requests},
                             threads);
  });
}

void bind_sweeps(nb::module_& module) {
  module.def("config_of_file", config_of_file);
  module.def("config_of_document", config_of_document);
  module.def("config_points", config_points);
  module.def("holds_whole_sweep", holds_whole_sweep);
  module.def("run_sweep", run_sweep_config, nb::arg("config"), nb::arg("folder"), nb::arg("shard").none(),
             nb::arg("threads"), nb::arg("command_line"), nb::arg("progress").none());
  module.def("merge_shards", merge);
}

void bind_others(nb::module_& module) {
  module.def("parameters", [] {
    std::vector<std::tuple<std::string, std::string, std::string>> rows;
    for (const ParameterFacts& facts : parameter_facts()) rows.emplace_back(facts.name, facts.type, facts.summary);
    return rows;
  });
  module.def("quantities", [] {
    std::vector<std::string> quantities;
    for (const QuantityFacts& facts : quantity_facts()) quantities.emplace_back(facts.name);
    return quantities;
  });
  module.def("figure_labels", figure_labels);
  module.def("find_tree", find_tree, nb::arg("accuracies"), nb::arg("nodes"), nb::arg("depth"), nb::arg("given").none(),
             nb::arg("verification").none(), nb::arg("c"), nb::arg("drafter"));
  nb::class_<Profile>(module, "ReadProfile")
      .def_static("read", &Profile::read)
      .def_static("read_steps", &Profile::read_steps)
      .def_prop_ro("device", [](const Profile& profile) { return std::string(profile.device()); })
      .def_prop_ro("source", [](const Profile& profile) { return std::string(to_string(profile.source())); })
      .def_prop_ro("sha256", [](const Profile& profile) { return std::string(profile.sha256()); })
      .def_prop_ro("valid", &Profile::valid)
      .def("speedups", speedups_of);
  module.def("shipped_devices", shipped_devices);
  module.def("shipped_models", shipped_models);
  module.def("device_document", device_document);
  module.def("model_document", model_document);
  module.def("observations_document", [](const std::vector<std::string>& paths, const std::string& format) {
    return run_interruptibly(
        [&](const std::atomic<bool>& stop, ProgressBoard&) { return observations_document(paths, format, &stop); },
        nb::none());
  });
  module.def("advice", [](const std::vector<std::string>& logs, const std::vector<std::string>& plain,
                          const std::vector<std::pair<std::string, Keyword::Value>>& options) {
    std::vector<Keyword> keywords;
    for (const auto& [name, value] : options) keywords.push_back({name, value});
    const AdviceTexts texts = run_interruptibly(
        [&](const std::atomic<bool>& stop, ProgressBoard&) { return advice(logs, plain, keywords, &stop); },
        nb::none());
    return std::tuple(texts.json, texts.text, texts.notes);
  });
  module.def("load_prediction", [](const std::vector<std::pair<std::string, Keyword::Value>>& options) {
    std::vector<Keyword> keywords;
    for (const auto& [name, value] : options) keywords.push_back({name, value});
    const LoadTexts texts = run_interruptibly(
        [&](const std::atomic<bool>& stop, ProgressBoard&) { return load_prediction(keywords, &stop); }, nb::none());
    return std::tuple(texts.json, texts.text, texts.notes);
  });
  module.def("logging_plan",
             [](const std::string& engine, std::optional<std::int64_t> current_gamma,
                const std::vector<std::int64_t>& concurrency, const std::string& target, const std::string& draft) {
               const PlanTexts texts = logging_plan(engine, current_gamma, concurrency, target, draft);
               return std::pair(texts.json, texts.text);
             });
  module.def("run_program", run_program, nb::call_guard<nb::gil_scoped_release>());
  module.def("version", [] { return std::string(version()); });
}

}  // namespace

NB_MODULE(_core, module) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const InputError& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const RunError& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
  });
  bind_answers(module);
  bind_questions(module);
  bind_sweeps(module);
  bind_others(module);
}

}  // namespace foredraft::python
