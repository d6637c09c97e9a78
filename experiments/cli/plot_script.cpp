// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/plot_script.hpp"

#include <optional>
#include <vector>

#include "core/problems.hpp"
#include "core/streams.hpp"
#include "experiments/cli/child_process.hpp"
#include "experiments/cli/exit_codes.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/script_folder.hpp"
#include "experiments/results/build_info.hpp"

namespace foredraft::experiments {
namespace {

std::optional<std::string> python_with_matplotlib() {
  // Looked for in a folder without a matplotlibrc.
  return python_that_runs("import matplotlib", {"/usr/bin/python3", find_on_path("python3")});
}

PlotResult run_plot_scripts(const std::vector<std::string>& scripts, const std::string& folder) {
  const std::atomic<bool>& stop = catch_interrupts();
  if (stop) throw Interrupted();
  const auto plots = script_folder({.variable = "FOREDRAFT_PLOTS",
                                    .beside = "plots",
                                    .installed = build_info().installed_plots,
                                    .script = "plot.py"});
  if (!plots) {
    say("no figures: plots/plot.py is not found (set FOREDRAFT_PLOTS to its folder)");
    return PlotResult::unavailable;
  }
  const auto python = python_with_matplotlib();
  if (stop) throw Interrupted();
  if (!python) {
    say("no figures: no Python with matplotlib is found; their numbers are there");
    return PlotResult::unavailable;
  }
  constexpr int nothing_to_do = 2;  // a folder may have a report and no figure
  bool done = false;
  bool failed = false;
  for (const std::string& script : scripts) {
    const int code = run_and_wait({*python, isolated_python, (*plots / script).string(), folder},
                                  ChildOutput::to_stderr, ChildSignals::held_back);
    if (stop || code == exit_interrupted) throw Interrupted();
    done = done || code == 0;
    failed = failed || (code != 0 && code != nothing_to_do);
  }
  return done && !failed ? PlotResult::drawn : PlotResult::failed;
}

}  // namespace

PlotResult draw_figures(const std::string& folder) { return run_plot_scripts({"plot.py", "report.py"}, folder); }

PlotResult write_report(const std::string& folder) { return run_plot_scripts({"report.py"}, folder); }

}  // namespace foredraft::experiments
