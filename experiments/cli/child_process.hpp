#pragma once

#include <string>
#include <vector>

namespace foredraft::experiments {

enum class ChildOutput { to_stderr, dropped };

/// Runs a program, looked for on the PATH where its name has no slash, and waits. What it prints goes to our stderr or
/// nowhere. Its exit code; -1 where it cannot be started or was ended by a signal.
[[nodiscard]] int run_and_wait(const std::vector<std::string>& command, ChildOutput output);

/// The folder of this program; empty where the system does not say.
[[nodiscard]] std::string program_folder();

/// Where a program lies: beside this one, else on the PATH; empty where it is not found.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace foredraft::experiments
