// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "python/internal.hpp"

/// The parts of the module foredraft._core, one per file.
namespace foredraft::python {

void bind_answers(nanobind::module_& module);
void bind_questions(nanobind::module_& module);
void bind_arrays(nanobind::module_& module, nanobind::class_<CheckedQuestion>& question_class);
void bind_sweeps(nanobind::module_& module);
void bind_devices(nanobind::module_& module);
void bind_logs(nanobind::module_& module);

/// The name in TOML of a keyword, whose underscores stand for dots; an unknown one is returned unchanged.
[[nodiscard]] std::string name_of(const std::string& keyword);

/// Parameters by keyword. Python has converted arrays, ranges and tuples to lists. Throws InputError for a value that
/// is neither a number nor a word nor a list of them.
[[nodiscard]] std::vector<Input> inputs_of(const nanobind::dict& parameters);

}  // namespace foredraft::python
