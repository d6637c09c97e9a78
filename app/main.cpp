// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "core/streams.hpp"

int main(int count, char** arguments) {
  foredraft::open_standard_streams();
  return foredraft::app::run_program({arguments + 1, arguments + count});
}
