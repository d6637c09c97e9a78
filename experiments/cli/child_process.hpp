// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace foredraft::experiments {

enum class ChildOutput { to_stderr, dropped };

enum class ChildSignals {
  delivered,
  held_back,  ///< SIGINT, SIGTERM and SIGHUP wait until the child is ready for them and unblocks them
};

/// Runs a program and waits. `command.front()` is its path; nothing is looked for. What it prints goes to our stderr or
/// nowhere. An interrupt of ours is passed on to it. Its exit code; 128 and the signal where a signal ended it; -1
/// where it cannot be started.
[[nodiscard]] int run_and_wait(const std::vector<std::string>& command, ChildOutput output,
                               ChildSignals signals = ChildSignals::delivered);

struct ChildAnswer {
  int code;            ///< as of run_and_wait
  std::string output;  ///< what it printed to its standard output
};

/// The same with `input` as standard input. What it prints to standard error goes to ours. Throws RunError where the
/// system has no memory for input and output.
[[nodiscard]] ChildAnswer ask_and_wait(const std::vector<std::string>& command, const std::string& input);

/// The folder of this program; empty where the system does not say.
[[nodiscard]] std::string program_folder();

/// Where a program lies: in one of the absolute folders of the PATH; empty where it is not found. The current directory
/// may hold anything, so empty and relative folders of the PATH are passed over.
[[nodiscard]] std::string find_on_path(const std::string& name);

/// Where a program of ours lies: beside this one, else on the PATH as above; empty where it is not found.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace foredraft::experiments
