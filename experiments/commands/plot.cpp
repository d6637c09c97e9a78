// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <filesystem>

#include "core/files.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/cli/scripts.hpp"
#include "experiments/commands/commands.hpp"

namespace foredraft::experiments {

CommandSpec plot_spec() {
  return {.name = "plot",
          .arguments = "DIR",
          .summary = "Draws the figures and the report of a results folder again (needs Python with matplotlib).",
          .options = {},
          .min_positional = 1,
          .max_positional = 1,
          .examples = {"foredraft plot results/quickstart"}};
}

int run_plot(const std::vector<std::string>& arguments) {
  CommandLine line(plot_spec(), arguments);
  line.done();
  const std::string& folder = line.positional().front();
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    throw InputError(fmt::format("{}: no such folder", readable(folder)));
  if (!std::filesystem::exists(std::filesystem::path(folder) / "manifest.json", ignored)) {
    throw InputError(fmt::format("{}: holds no manifest.json (it is not a results folder)", readable(folder)));
  }
  static_cast<void>(catch_interrupts());  // before anything is written
  const WriteLock lock = WriteLock::of_folder(folder);
  return draw_figures(folder) == PlotResult::drawn ? exit_done : exit_failed;
}

}  // namespace foredraft::experiments
