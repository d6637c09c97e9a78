// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
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

/// Why the name means no engine, with the nearest names; nothing: it is shipped, or there is a file of this name.
[[nodiscard]] std::optional<std::string> unknown_engine(const std::string& name);

/// The shipped engine of this name or alias (latency::find_engine), else that of a TOML file with one engine
/// (docs/load.md). Throws InputError for an unknown one, and for a file that is no engine, with all its problems.
[[nodiscard]] ReadEngine read_engine(const std::string& name);

}  // namespace foredraft::inputs
