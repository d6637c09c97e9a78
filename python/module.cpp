// SPDX-License-Identifier: Apache-2.0
// The module foredraft._core: converts values between Python and C++. The interface for users is the Python code of
// foredraft/.
#include <nanobind/nanobind.h>

#include <exception>
#include <string>
#include <vector>

#include "foredraft/errors.hpp"
#include "foredraft/version.hpp"
#include "python/bind.hpp"

namespace nb = nanobind;

namespace foredraft::python {
namespace {

void bind_others(nb::module_& module) {
  module.def("parameters", parameter_facts);
  module.def("quantities", [] {
    std::vector<std::string> quantities;
    for (const QuantityFacts& facts : quantity_facts()) quantities.emplace_back(facts.name);
    return quantities;
  });
  module.def("figure_labels", figure_labels);
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
  bind_devices(module);
  bind_logs(module);
  bind_others(module);
}

}  // namespace foredraft::python
