#pragma once

#include <string>

namespace foredraft::experiments {

enum class PlotResult { drawn, failed, no_matplotlib };

/// Draws the figures of a results folder with plots/plot.py and writes its report.html with plots/report.py, their
/// words on stderr. `drawn` where there was something to do for one of them and neither failed. Says on stderr where no
/// Python with matplotlib is found: /usr/bin/python3 first, then python3 on the PATH. The scripts are looked for in
/// FOREDRAFT_PLOTS, in the source tree the program was built from, and beside the program.
[[nodiscard]] PlotResult draw_figures(const std::string& folder);

/// report.html alone, for a folder without figures.
[[nodiscard]] PlotResult write_report(const std::string& folder);

}  // namespace foredraft::experiments
