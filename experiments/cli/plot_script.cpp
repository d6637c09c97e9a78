// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/plot_script.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "core/problems.hpp"
#include "core/streams.hpp"
#include "experiments/cli/child_process.hpp"
#include "experiments/cli/exit_codes.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/results/build_info.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

/// Isolated: neither the current directory, nor the user's packages, nor the environment adds code.
constexpr auto isolated = "-I";

std::optional<std::string> python_with_matplotlib() {
  for (const std::string& python : {std::string("/usr/bin/python3"), find_on_path("python3")}) {
    // In a folder without a matplotlibrc.
    const std::vector<std::string> look{python, isolated, "-c", "import os; os.chdir('/'); import matplotlib"};
    if (!python.empty() && run_and_wait(look, ChildOutput::dropped) == 0) return python;
  }
  return std::nullopt;
}

std::optional<fs::path> plots_folder() {
  std::vector<fs::path> folders;
  if (const char* stated = std::getenv("FOREDRAFT_PLOTS")) {  // NOLINT(concurrency-mt-unsafe): nobody sets it
    folders.push_back(fs::absolute(stated));
  } else {
    // Beside the program, as in its build folder, or where it is installed.
    for (const std::string_view relative : {std::string_view("plots"), build_info().installed_plots}) {
      folders.push_back((fs::path(program_folder()) / relative).lexically_normal());
    }
  }
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (folder.is_absolute() && fs::is_regular_file(folder / "plot.py", error)) return folder;
  }
  return std::nullopt;
}

PlotResult run_plot_scripts(const std::vector<std::string>& scripts, const std::string& folder) {
  const std::atomic<bool>& stop = catch_interrupts();
  if (stop) throw Interrupted();
  const auto plots = plots_folder();
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
    const int code = run_and_wait({*python, isolated, (*plots / script).string(), folder}, ChildOutput::to_stderr,
                                  ChildSignals::held_back);
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
