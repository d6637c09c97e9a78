// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/support/run_program.hpp"

namespace foredraft::tests {

inline const std::string figureless =
    "schema = \"foredraft.sweep/1\"\n[axes]\nalpha = [0.5, 0.9]\ngamma = [1, 3]\nc = [0.1]\n"
    "[simulation]\niterations = 20000\nseed = 1\n";
inline const std::string with_figure =
    figureless + "[[figure]]\nid = \"speed\"\nx = \"gamma\"\ny = \"speedup\"\nseries = \"alpha\"\n";

/// True if a script of the test can be executed.
inline bool has_python(const Outcome& outcome) {
  return outcome.err.find("no Python with matplotlib") == std::string::npos;
}

}  // namespace foredraft::tests
