// SPDX-License-Identifier: Apache-2.0
#include "core/streams.hpp"
#include "experiments/commands/commands.hpp"

int main(int count, char** arguments) {
  foredraft::open_standard_streams();
  return foredraft::experiments::run_program({arguments + 1, arguments + count});
}
