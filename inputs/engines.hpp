// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/digest.hpp"
#include "latency/engines/engines.hpp"

/// The serving engines for servers under load.
namespace foredraft::inputs {

/// An engine and its digest: of the file's bytes or, for a shipped engine, of its TOML.
struct ReadEngine {
  latency::Engine engine;
  FileDigest digest;
  bool shipped;  ///< compiled in, not a file
};

/// Why the name is not an engine, with the nearest names; nullopt if it is shipped or a file.
[[nodiscard]] std::optional<std::string> unknown_engine(const std::string& name);

/// Reads a shipped engine by name or alias (latency::find_engine), or a TOML file with one engine (docs/load.md).
/// Throws InputError for an unknown name, and for an invalid file, with all problems.
[[nodiscard]] ReadEngine read_engine(const std::string& name);

}  // namespace foredraft::inputs
