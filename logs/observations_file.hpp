// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/log_format.hpp"

/// What was read of logs as one document, schema foredraft.observations/1: docs/schemas/observations.schema.json.
namespace foredraft::logs {

/// One log as an observations file holds it.
struct ObservedLog {
  std::string file;    ///< as it was named
  std::string sha256;  ///< of the bytes that were read: 64 lower-case hexadecimal digits
  LogContents contents;
  std::uint64_t bytes = 0;  ///< that were read; 0: of a document, which does not say it
};

/// The document: an observation a line, what was not logged null. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string observations_text(std::span<const ObservedLog> logs);

/// The logs of a document, exactly as they were written. Throws InputError `source: key: ...` with every key that is
/// missing, unknown or of another type, and on counts that contradict each other.
[[nodiscard]] std::vector<ObservedLog> parse_observations(std::string_view text, const std::string& source);

/// An observations file as a log: all of its observations.
[[nodiscard]] LogFormat observations_format();

}  // namespace foredraft::logs
