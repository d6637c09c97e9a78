// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/digest.hpp"
#include "latency/engines/engines.hpp"

/// The serving engines for servers under load.
namespace foredraft::inputs {

/// An engine and its digest: that of the bytes of a file, or for a shipped engine that of its TOML.
struct ReadEngine {
  latency::Engine engine;
  FileDigest digest;
  bool shipped;  ///< compiled in, not a file
};

/// The shipped engine of this name or alias (latency::find_engine), else that of a TOML file with one engine
/// (docs/load.md). Throws InputError if there is neither, with the nearest names, and for a file that is no engine,
/// with all its problems.
[[nodiscard]] ReadEngine read_engine(const std::string& name);

}  // namespace foredraft::inputs
