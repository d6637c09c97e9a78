// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiments/config/sweep_config.hpp"
#include "inputs/table_reader.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::tests {

/// Parses this text as a file e.toml, whose first line, the schema, is added.
inline experiments::SweepConfig config_of(const std::string& text) {
  return experiments::read_sweep_config(inputs::parse_toml("schema = \"foredraft.sweep/1\"\n" + text, "e.toml"),
                                        "e.toml");
}

/// The error message for this text; empty if it is valid.
inline std::string problem_of(const std::string& text) {
  return whole_rejection([&] { return config_of(text); });
}

}  // namespace foredraft::tests
