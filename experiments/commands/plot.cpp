#include <fmt/format.h>

#include "experiments/cli/exit_codes.hpp"
#include "experiments/cli/plot_script.hpp"
#include "experiments/commands/commands.hpp"
#include "experiments/results/files.hpp"

#include <filesystem>

namespace foredraft::experiments {

CommandSpec plot_spec() {
  return {.name = "plot",
          .arguments = "DIR",
          .summary = "Draws the figures of a results folder again, from its files alone (Python with matplotlib).",
          .options = {},
          .fewest_positional = 1,
          .most_positional = 1,
          .examples = {"foredraft plot results/quickstart"}};
}

int run_plot(const std::vector<std::string>& arguments) {
  CommandLine line(plot_spec(), arguments);
  if (line.wants_help()) {
    fmt::print("{}", help_text(plot_spec()));
    return exit_done;
  }
  line.done();
  const std::string& folder = line.positional().front();
  if (!std::filesystem::is_directory(folder)) throw InputError(fmt::format("{}: no such folder", folder));
  return draw_figures(folder) == PlotResult::drawn ? exit_done : exit_failed;
}

}  // namespace foredraft::experiments
