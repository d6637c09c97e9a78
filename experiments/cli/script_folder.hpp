// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Where the Python scripts of this program lie, and the Python that runs them.
namespace foredraft::experiments {

/// Python's option that keeps the current directory, the user's packages and the environment from adding code.
inline constexpr auto isolated_python = "-I";

struct ScriptPlace {
  const char* variable;        ///< of the environment: names the folder
  std::string_view beside;     ///< the folder seen from the program in a build folder ...
  std::string_view installed;  ///< ... and in an installation
  std::string_view script;     ///< a file that it holds
};

/// The folder that the variable names, else the first of the other two that holds the script; nothing where none does.
[[nodiscard]] std::optional<std::filesystem::path> script_folder(const ScriptPlace& place);

/// The first of `candidates` that runs `line` without an error, started isolated in the root folder, its words dropped;
/// empty names are passed over.
[[nodiscard]] std::optional<std::string> python_that_runs(const std::string& line,
                                                          const std::vector<std::string>& candidates);

}  // namespace foredraft::experiments
