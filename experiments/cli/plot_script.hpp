// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace foredraft::experiments {

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

}  // namespace foredraft::experiments
