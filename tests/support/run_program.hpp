// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <cstdlib>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace foredraft::tests {

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

/// Runs the program in `folder` with a shell-quoted argument line.
inline Outcome foredraft(const TemporaryFolder& folder, const std::string& arguments, const std::string& wrapper = "") {
  const std::string command = "cd " + folder.path() + " && " + wrapper + " " FOREDRAFT_PROGRAM " " + arguments + " > " +
                              (folder / "stdout") + " 2> " + (folder / "stderr");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(folder / "stdout"), content_of(folder / "stderr")};
}

}  // namespace foredraft::tests
