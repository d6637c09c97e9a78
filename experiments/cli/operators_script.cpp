// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/operators_script.hpp"

#include <vector>

#include "experiments/cli/child_process.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/script_folder.hpp"
#include "experiments/results/build_info.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::experiments {
namespace {

constexpr auto script_name = "aisimulate_steps.py";

/// One that has the package, else one that can say what to install.
std::string python_for_operators() {
  const std::vector<std::string> candidates{find_on_path("python3"), "/usr/bin/python3"};
  for (const char* line : {"import importlib.util as u; raise SystemExit(u.find_spec('aisimulate') is None)", "0"}) {
    if (const auto python = python_that_runs(line, candidates)) return *python;
  }
  throw InputError(
      "no python3 is found on the PATH or in /usr/bin (operators of engines are asked for in Python) - install Python "
      "3.11 or newer");
}

}  // namespace

std::string ask_operators(const std::string& request) {
  const std::atomic<bool>& stop = catch_interrupts();
  const auto folder = script_folder({.variable = "FOREDRAFT_OPERATORS",
                                     .beside = "operators",
                                     .installed = build_info().installed_operators,
                                     .script = script_name});
  if (!folder) {
    throw InputError(
        "operators/aisimulate_steps.py is not found beside the program or in its installation - set "
        "FOREDRAFT_OPERATORS "
        "to its folder");
  }
  const std::string python = python_for_operators();
  if (stop) throw Interrupted();
  const ChildAnswer answer = ask_and_wait({python, isolated_python, (*folder / script_name).string()}, request);
  if (stop) throw Interrupted();
  if (answer.output.empty()) throw RunError("aisimulate_steps.py ended without an answer; its words are above");
  return answer.output;
}

}  // namespace foredraft::experiments
