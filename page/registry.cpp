// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "app/commands/commands.hpp"

namespace foredraft::app {

const std::vector<Command>& command_registry() {
  static const std::vector<Command> commands{predict_command(), simulate_command(), tree_command(), methods_command(),
                                             advise_command(),  compare_command(),  list_command(), help_command()};
  return commands;
}

}  // namespace foredraft::app
