// SPDX-License-Identifier: Apache-2.0
#include <emscripten.h>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/commands.hpp"

// The function that page/program.js calls.
extern "C" {

/// Runs the program with words that each end with a NUL. Returns its exit code.
EMSCRIPTEN_KEEPALIVE int foredraft_run(const char* words, std::size_t bytes) {
  std::vector<std::string> arguments;
  for (std::string_view rest(words, bytes); !rest.empty(); rest.remove_prefix(arguments.back().size() + 1)) {
    arguments.emplace_back(rest.substr(0, rest.find('\0')));
  }
  return foredraft::app::run_program(arguments);
}
}
