// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foredraft::experiments {

enum class ChildOutput { to_stderr, dropped };

enum class ChildSignals {
  delivered,
  held_back,  ///< SIGINT, SIGTERM and SIGHUP wait until the child is ready for them and unblocks them
};

/// Runs a program and waits. `command.front()` is its path; nothing is looked for. What it prints goes to our stderr or
/// nowhere. An interrupt of ours is passed on to it. Its exit code; 128 and the signal where a signal ended it; -1
/// where it cannot be started.
[[nodiscard]] int run_and_wait(const std::vector<std::string>& command, ChildOutput output,
                               ChildSignals signals = ChildSignals::delivered);

struct ChildAnswer {
  int code;            ///< as of run_and_wait
  std::string output;  ///< what it printed to its standard output
};

/// The same with `input` as standard input. What it prints to standard error goes to ours. Throws RunError where the
/// system has no memory for input and output.
[[nodiscard]] ChildAnswer ask_and_wait(const std::vector<std::string>& command, const std::string& input);

/// The folder of this program; empty where the system does not say.
[[nodiscard]] std::string program_folder();

/// Where a program lies: in one of the absolute folders of the PATH; empty where it is not found. The current directory
/// may hold anything, so empty and relative folders of the PATH are passed over.
[[nodiscard]] std::string find_on_path(const std::string& name);

/// Where a program of ours lies: beside this one, else on the PATH as above; empty where it is not found.
[[nodiscard]] std::string find_program(const std::string& name);

// ---- Where the Python scripts of this program lie, and the Python that runs them.

/// Python's option that keeps the current directory, the user's packages and the environment from adding code.
inline constexpr auto isolated_python = "-I";

struct ScriptPlace {
  const char* variable;        ///< of the environment: names the folder
  std::string_view beside;     ///< the folder seen from the program in a build folder ...
  std::string_view installed;  ///< ... and in an installation
  std::string_view script;     ///< a file that it holds
};

/// The folder that the variable names, else the first of the other two that holds the script; nothing where none does.
[[nodiscard]] std::optional<std::filesystem::path> script_folder(const ScriptPlace& place);

/// The first of `candidates` that runs `line` without an error, started isolated in the root folder, its words dropped;
/// empty names are passed over.
[[nodiscard]] std::optional<std::string> python_that_runs(const std::string& line,
                                                          const std::vector<std::string>& candidates);

enum class PlotResult { drawn, failed, unavailable };

/// Draws the figures of a results folder, whose WriteLock the caller holds, with plots/plot.py and writes its
/// report.html with plots/report.py, their words on stderr. `drawn` where there was something to do for one of them and
/// neither failed; `unavailable`, said on stderr, where there are no scripts or no Python with matplotlib. Throws
/// Interrupted.
///
/// Python is /usr/bin/python3, else the python3 of an absolute folder on the PATH, and is started isolated: neither the
/// current directory nor the environment adds code. The scripts are those in the folder that FOREDRAFT_PLOTS names,
/// else beside the program, else of the source tree the program was built from.
[[nodiscard]] PlotResult draw_figures(const std::string& folder);

/// report.html alone, for a folder without figures.
[[nodiscard]] PlotResult write_report(const std::string& folder);

/// Throws InputError, which says what to install, where write_parquet() would find no script or no Python with pyarrow.
void check_parquet();

/// points.parquet beside the points.csv of a complete results folder, with plots/parquet.py. Python is the python3 on
/// the PATH, else /usr/bin/python3, the one of them that has pyarrow, and is started isolated. Throws RunError where
/// the script fails, Interrupted.
void write_parquet(const std::string& folder);

/// What scripts/operators/aisimulate_steps.py answers to a request: a document, of an error as well. Throws InputError
/// where no script or no Python is found, RunError where the script ends without a document, Interrupted.
///
/// Python is the python3 on the PATH, else /usr/bin/python3, the one of them that has the package first, and is started
/// isolated: of the environment only the PATH counts. The script is that in the folder that FOREDRAFT_OPERATORS names,
/// else beside the program, else of its installation.
[[nodiscard]] std::string ask_operators(const std::string& request);

}  // namespace foredraft::experiments
