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

/// Runs a program and waits. `command.front()` is its path. What it prints goes to our stderr or nowhere. An interrupt
/// of ours is passed on to it. Its exit code; 128 and the signal if a signal ended it; -1 if it cannot be started.
[[nodiscard]] int run_and_wait(const std::vector<std::string>& command, ChildOutput output,
                               ChildSignals signals = ChildSignals::delivered);

/// The folder of this program; empty if unknown.
[[nodiscard]] std::string program_folder();

/// The path of a program of ours: beside this one, else in one of the absolute folders of the PATH; empty if it is not
/// found. The current directory may hold anything: empty and relative folders of the PATH are skipped.
[[nodiscard]] std::string find_program(const std::string& name);

enum class PlotResult { drawn, failed, unavailable };

/// Draws the figures of a results folder, whose WriteLock the caller holds, with plots/plot.py and writes its
/// report.html with plots/report.py, their output on stderr. `drawn` if there was something to do for one of them and
/// neither failed; `unavailable`, said on stderr, without the scripts or a Python with matplotlib. Throws Interrupted.
///
/// Python is /usr/bin/python3, else the python3 of an absolute folder on the PATH, and is started isolated: neither the
/// current directory nor the environment adds code. The scripts are those in the folder that FOREDRAFT_PLOTS names,
/// else beside the program, else of its installation.
[[nodiscard]] PlotResult draw_figures(const std::string& folder);

/// report.html alone, for a folder without figures.
[[nodiscard]] PlotResult write_report(const std::string& folder);

/// Throws InputError, which says what to install, if write_parquet() would find no script or no Python with pyarrow.
void check_parquet();

/// points.parquet beside the points.csv of a complete results folder, with plots/parquet.py. Python is the python3 on
/// the PATH, else /usr/bin/python3, whichever has pyarrow, and is started isolated. Throws RunError if the script
/// fails, Interrupted.
void write_parquet(const std::string& folder);

/// What scripts/operators/aisimulate_steps.py answers to a request: a document, also of an error. Throws InputError
/// without the script or a Python, RunError if the script ends without a document, Interrupted.
///
/// Python is the python3 on the PATH, else /usr/bin/python3, preferably one that has the package, and is started
/// isolated: of the environment only the PATH counts. The script is that in the folder that FOREDRAFT_OPERATORS names,
/// else beside the program, else of its installation.
[[nodiscard]] std::string ask_operators(const std::string& request);

}  // namespace foredraft::app
