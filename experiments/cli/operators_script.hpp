// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace foredraft::experiments {

/// What scripts/operators/aisimulate_steps.py answers to a request: a document, of an error as well. Throws InputError
/// where no script or no Python is found, RunError where the script ends without a document, Interrupted.
///
/// Python is the python3 on the PATH, else /usr/bin/python3, the one of them that has the package first, and is started
/// isolated: of the environment only the PATH counts. The script is that in the folder that FOREDRAFT_OPERATORS names,
/// else beside the program, else of its installation.
[[nodiscard]] std::string ask_operators(const std::string& request);

}  // namespace foredraft::experiments
