// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// Starts other programs: foredraft-gpu, and the Python scripts that draw figures, write Parquet and ask for operators.
namespace foredraft::app {

enum class ChildOutput { to_stderr, dropped };

enum class ChildSignals {
  delivered,
  held_back,  ///< SIGINT, SIGTERM and SIGHUP wait until the child is ready for them and unblocks them
};

/// Runs a program and waits. `command.front()` is its path. Its output goes to stderr or nowhere. Passes an interrupt
/// on to it. Returns its exit code, 128 plus the number of the signal that ended it, or -1 if it cannot be started.
[[nodiscard]] int run_and_wait(const std::vector<std::string>& command, ChildOutput output,
                               ChildSignals signals = ChildSignals::delivered);

/// The folder of this program; empty if unknown.
[[nodiscard]] std::string program_folder();

/// The path of a program of the project: beside this one, else in an absolute folder of the PATH; empty if not found.
/// Skips empty and relative folders of the PATH, because the current directory may contain anything.
[[nodiscard]] std::string find_program(const std::string& name);

enum class PlotResult { drawn, failed, unavailable };

/// Draws the figures of a results folder, whose WriteLock the caller holds, with plots/plot.py and writes its
/// report.html with plots/report.py, with their output on stderr. Returns `drawn` if one of them had work and neither
/// failed, and `failed` otherwise. Returns `unavailable`, with a message on stderr, without the scripts or a Python
/// with matplotlib. Throws Interrupted.
///
/// Python is /usr/bin/python3, else the python3 of an absolute folder on the PATH. It runs isolated: neither the
/// current directory nor the environment adds code. The scripts come from the folder in FOREDRAFT_PLOTS, else from
/// beside the program, else from its installation.
[[nodiscard]] PlotResult draw_figures(const std::string& folder);

/// Writes only report.html, for a folder without figures.
[[nodiscard]] PlotResult write_report(const std::string& folder);

/// Throws InputError with what to install if write_parquet() would find no script or no Python with pyarrow.
void check_parquet();

/// Writes points.parquet beside the points.csv of a complete results folder, with plots/parquet.py. Python is the
/// python3 on the PATH, else /usr/bin/python3, whichever has pyarrow, and runs isolated. Throws RunError if the script
/// fails, and Interrupted.
void write_parquet(const std::string& folder);

/// The answer of scripts/operators/aisimulate_steps.py to a request: a document, also for an error. Throws InputError
/// without the script or a Python, RunError if the script ends without a document, and Interrupted.
///
/// Python is the python3 on the PATH, else /usr/bin/python3, preferably one that has the package. It runs isolated:
/// neither the current directory nor the environment adds code. The script comes from the folder in
/// FOREDRAFT_OPERATORS, else from beside the program, else from its installation.
[[nodiscard]] std::string ask_operators(const std::string& request);

}  // namespace foredraft::app
