// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "app/commands/commands.hpp"

namespace foredraft::app {

const std::vector<Command>& command_registry() {
  static const std::vector<Command> commands{
      predict_command(),   simulate_command(), sweep_command(),     merge_command(),     check_command(),
      reproduce_command(), tree_command(),     methods_command(),   calibrate_command(), validate_command(),
      import_command(),    advise_command(),   compare_command(),   plot_command(),      list_command(),
      page_command(),      help_command(),     completion_command()};
  return commands;
}

}  // namespace foredraft::app
