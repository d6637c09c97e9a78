// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/script_folder.hpp"

#include <cstdlib>

#include "experiments/cli/child_process.hpp"

namespace foredraft::experiments {

namespace fs = std::filesystem;

std::optional<fs::path> script_folder(const ScriptPlace& place) {
  std::vector<fs::path> folders;
  if (const char* stated = std::getenv(place.variable)) {  // NOLINT(concurrency-mt-unsafe): nobody sets it
    folders.push_back(fs::absolute(stated));
  } else {
    for (const std::string_view relative : {place.beside, place.installed}) {
      folders.push_back((fs::path(program_folder()) / relative).lexically_normal());
    }
  }
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (folder.is_absolute() && fs::is_regular_file(folder / place.script, error)) return folder;
  }
  return std::nullopt;
}

std::optional<std::string> python_that_runs(const std::string& line, const std::vector<std::string>& candidates) {
  for (const std::string& python : candidates) {
    const std::vector<std::string> look{python, isolated_python, "-c", "import os; os.chdir('/'); " + line};
    if (!python.empty() && run_and_wait(look, ChildOutput::dropped) == 0) return python;
  }
  return std::nullopt;
}

}  // namespace foredraft::experiments
