#include "experiments/cli/plot_script.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "experiments/results/build_info.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

/// Runs a program and waits. Its stdout becomes our stderr, or nothing where `quiet`. -1 where it cannot be started.
int run_and_wait(const std::vector<std::string>& command, bool quiet) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  }
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::optional<std::string> python_with_matplotlib() {
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    if (run_and_wait({python, "-c", "import matplotlib"}, true) == 0) return python;
  }
  return std::nullopt;
}

std::optional<fs::path> plots_folder() {
  std::vector<fs::path> folders;
  if (const char* stated = std::getenv("FOREDRAFT_PLOTS")) {  // NOLINT(concurrency-mt-unsafe): nobody sets it
    folders.emplace_back(stated);
  } else {
    folders.emplace_back(build_info().plots_folder);
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    for (const char* relative : {"plots", "../plots", "../../plots"}) {
      folders.push_back(program.parent_path() / relative);
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
    const int code = run_and_wait({*python, (*plots / script).string(), folder}, false);
    done = done || code == 0;
    failed = failed || (code != 0 && code != nothing_to_do);
  }
  return done && !failed ? PlotResult::drawn : PlotResult::failed;
}

}  // namespace

PlotResult draw_figures(const std::string& folder) { return run_plot_scripts({"plot.py", "report.py"}, folder); }

PlotResult write_report(const std::string& folder) { return run_plot_scripts({"report.py"}, folder); }

}  // namespace foredraft::experiments
