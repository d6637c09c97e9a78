#include "experiments/cli/plot_script.hpp"

#include <fmt/format.h>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "experiments/cli/child_process.hpp"
#include "experiments/results/build_info.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> python_with_matplotlib() {
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    if (run_and_wait({python, "-c", "import matplotlib"}, ChildOutput::dropped) == 0) return python;
  }
  return std::nullopt;
}

std::optional<fs::path> plots_folder() {
  std::vector<fs::path> folders;
  if (const char* stated = std::getenv("FOREDRAFT_PLOTS")) {  // NOLINT(concurrency-mt-unsafe): nobody sets it
    folders.emplace_back(stated);
  } else {
    folders.emplace_back(build_info().plots_folder);
    for (const char* relative : {"plots", "../plots", "../../plots"}) {
      folders.push_back(fs::path(program_folder()) / relative);
    }
  }
  for (const fs::path& folder : folders) {
    if (fs::is_regular_file(folder / "plot.py")) return folder;
  }
  return std::nullopt;
}

PlotResult run_plot_scripts(const std::vector<std::string>& scripts, const std::string& folder) {
  const auto plots = plots_folder();
  if (!plots) {
    fmt::print(stderr, "no figures: plots/plot.py is not found (set FOREDRAFT_PLOTS to its folder)\n");
    return PlotResult::failed;
  }
  const auto python = python_with_matplotlib();
  if (!python) {
    fmt::print(stderr, "no figures: no Python with matplotlib is found; their numbers are there\n");
    return PlotResult::no_matplotlib;
  }
  std::fflush(stderr);
  constexpr int nothing_to_do = 2;  // a folder may have a report and no figure
  bool done = false;
  bool failed = false;
  for (const std::string& script : scripts) {
    const int code = run_and_wait({*python, (*plots / script).string(), folder}, ChildOutput::to_stderr);
    done = done || code == 0;
    failed = failed || (code != 0 && code != nothing_to_do);
  }
  return done && !failed ? PlotResult::drawn : PlotResult::failed;
}

}  // namespace

PlotResult draw_figures(const std::string& folder) { return run_plot_scripts({"plot.py", "report.py"}, folder); }

PlotResult write_report(const std::string& folder) { return run_plot_scripts({"report.py"}, folder); }

}  // namespace foredraft::experiments
