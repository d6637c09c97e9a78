// SPDX-License-Identifier: Apache-2.0
#include "app/scripts.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "core/problems.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "experiments/results/manifest.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::app {
namespace {

namespace fs = std::filesystem;
constexpr auto between_looks = std::chrono::milliseconds(5);

bool can_run(const fs::path& program) {
  std::error_code error;
  return fs::is_regular_file(program, error) && ::access(program.c_str(), X_OK) == 0;
}

/// Runs a program with the streams set by `actions`, and waits.
int spawn_and_wait(const std::vector<std::string>& command, const posix_spawn_file_actions_t& actions,
                   ChildSignals signals) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t blocked;
  sigemptyset(&blocked);
  if (signals == ChildSignals::held_back) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked, number);
  }
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return -1;
  const std::atomic<bool>& stop = catch_interrupts();
  bool passed_on = false;
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return -1;
    if (stop && !passed_on) passed_on = ::kill(child, SIGTERM) == 0;
    std::this_thread::sleep_for(between_looks);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A file in memory: it never blocks, and there is no pipe to break.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& content) : descriptor_(::memfd_create("foredraft", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw RunError("cannot create a file in memory");
    for (std::size_t written = 0; written < content.size();) {
      const ssize_t bytes = ::write(descriptor_, content.data() + written, content.size() - written);
      if (bytes < 0) {
        ::close(descriptor_);
        throw RunError("cannot write a file in memory");
      }
      written += static_cast<std::size_t>(bytes);
    }
    ::lseek(descriptor_, 0, SEEK_SET);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  MemoryFile(MemoryFile&&) = delete;
  MemoryFile& operator=(MemoryFile&&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  [[nodiscard]] int descriptor() const { return descriptor_; }

  [[nodiscard]] std::string content() const {
    constexpr std::size_t piece = 65'536;
    std::string text;
    while (true) {
      const std::size_t before = text.size();
      text.resize(before + piece);
      const ssize_t bytes = ::pread(descriptor_, text.data() + before, piece, static_cast<off_t>(before));
      text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
      if (bytes <= 0) return text;
    }
  }

 private:
  int descriptor_;
};

struct ChildAnswer {
  int code;            ///< as of run_and_wait
  std::string output;  ///< its standard output
};

/// Runs a program with `input` as standard input. Its standard error is ours.
ChildAnswer ask_and_wait(const std::vector<std::string>& command, const std::string& input) {
  const MemoryFile question(input);
  const MemoryFile answer("");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, question.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answer.descriptor(), STDOUT_FILENO);
  const int code = spawn_and_wait(command, actions, ChildSignals::delivered);
  posix_spawn_file_actions_destroy(&actions);
  return {code, answer.content()};
}

std::string find_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): no thread sets it
  std::istringstream list(path == nullptr ? "" : path);
  for (std::string folder; std::getline(list, folder, ':');) {
    const fs::path candidate = fs::path(folder) / name;
    if (candidate.is_absolute() && can_run(candidate)) return candidate.string();
  }
  return {};
}

}  // namespace

int run_and_wait(const std::vector<std::string>& command, ChildOutput output, ChildSignals signals) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output == ChildOutput::dropped) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  }
  const int code = spawn_and_wait(command, actions, signals);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

std::string program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::string find_program(const std::string& name) {
  const fs::path beside = fs::path(program_folder()) / name;
  return beside.is_absolute() && can_run(beside) ? beside.string() : find_on_path(name);
}

namespace {

/// The option of Python to ignore the current directory, the user's packages and the environment.
constexpr auto isolated_python = "-I";

/// The folder of a script: from the environment variable, else beside the program in a build folder or in an
/// installation, if it contains the script.
std::optional<fs::path> script_folder(const char* variable, std::string_view beside, std::string_view installed,
                                      std::string_view script) {
  std::vector<fs::path> folders;
  if (const char* stated = std::getenv(variable)) {  // NOLINT(concurrency-mt-unsafe): no thread sets it
    folders.push_back(fs::absolute(stated));
  } else {
    for (const std::string_view relative : {beside, installed}) {
      folders.push_back((fs::path(program_folder()) / relative).lexically_normal());
    }
  }
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (folder.is_absolute() && fs::is_regular_file(folder / script, error)) return folder;
  }
  return std::nullopt;
}

/// The first of `candidates` that runs `line` without an error, in the root folder; empty names are skipped.
std::optional<std::string> python_that_runs(const std::string& line, const std::vector<std::string>& candidates) {
  for (const std::string& python : candidates) {
    const std::vector<std::string> look{python, isolated_python, "-c", "import os; os.chdir('/'); " + line};
    if (!python.empty() && run_and_wait(look, ChildOutput::dropped) == 0) return python;
  }
  return std::nullopt;
}

std::optional<fs::path> plots_folder() {
  return script_folder("FOREDRAFT_PLOTS", "plots", experiments::build_info().installed_plots, "plot.py");
}

PlotResult run_plot_scripts(const std::vector<std::string>& scripts, const std::string& folder) {
  const std::atomic<bool>& stop = catch_interrupts();
  if (stop) throw Interrupted();
  const auto plots = plots_folder();
  if (!plots) {
    say("no figures: plots/plot.py is not found (set FOREDRAFT_PLOTS to its folder)");
    return PlotResult::unavailable;
  }
  const auto python = python_that_runs("import matplotlib", {"/usr/bin/python3", find_on_path("python3")});
  if (stop) throw Interrupted();
  if (!python) {
    say("no figures: no Python with matplotlib found; their data was written");
    return PlotResult::unavailable;
  }
  constexpr int nothing_to_do = 2;  // a folder may have a report but no figure
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

/// Python and the script.
std::vector<std::string> parquet_command() {
  const auto plots = plots_folder();
  if (!plots) throw InputError("plots/parquet.py is not found - set FOREDRAFT_PLOTS to its folder");
  const auto python = python_that_runs("import pyarrow.parquet", {find_on_path("python3"), "/usr/bin/python3"});
  if (!python) {
    throw InputError(
        "no python3 with pyarrow is found on the PATH or in /usr/bin - pip install pyarrow, or leave out "
        "--format parquet");
  }
  return {*python, isolated_python, (*plots / "parquet.py").string()};
}

constexpr auto script_name = "aisimulate_steps.py";

/// A Python with the package, else one that can report what to install.
std::string python_for_operators() {
  const std::vector<std::string> candidates{find_on_path("python3"), "/usr/bin/python3"};
  for (const char* line : {"import importlib.util as u; raise SystemExit(u.find_spec('aisimulate') is None)", "0"}) {
    if (const auto python = python_that_runs(line, candidates)) return *python;
  }
  throw InputError(
      "no python3 is found on the PATH or in /usr/bin (operator times are queried in Python) - install Python "
      "3.11 or newer");
}

}  // namespace

PlotResult draw_figures(const std::string& folder) { return run_plot_scripts({"plot.py", "report.py"}, folder); }

PlotResult write_report(const std::string& folder) { return run_plot_scripts({"report.py"}, folder); }

void check_parquet() { static_cast<void>(parquet_command()); }

void write_parquet(const std::string& folder) {
  std::vector<std::string> command = parquet_command();
  command.push_back(folder);
  const int code = run_and_wait(command, ChildOutput::to_stderr);
  if (catch_interrupts()) throw Interrupted();
  if (code != 0) throw RunError(folder + ": points.parquet was not written; the reason is above");
}

std::string ask_operators(const std::string& request) {
  const std::atomic<bool>& stop = catch_interrupts();
  const auto folder =
      script_folder("FOREDRAFT_OPERATORS", "operators", experiments::build_info().installed_operators, script_name);
  if (!folder) {
    throw InputError(
        "operators/aisimulate_steps.py is not found beside the program or in its installation - set "
        "FOREDRAFT_OPERATORS to its folder");
  }
  const std::string python = python_for_operators();
  if (stop) throw Interrupted();
  const ChildAnswer answer = ask_and_wait({python, isolated_python, (*folder / script_name).string()}, request);
  if (stop) throw Interrupted();
  if (answer.output.empty()) throw RunError("aisimulate_steps.py ended without an answer; its output is above");
  return answer.output;
}

}  // namespace foredraft::app
