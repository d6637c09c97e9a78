// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/log_format.hpp"

/// Observations as a document, schema foredraft.observations/1: docs/schemas/observations.schema.json.
namespace foredraft::logs {

/// One log in an observations file.
struct ObservedLog {
  std::string file;    ///< name as given
  std::string sha256;  ///< digest of the bytes read: 64 lower-case hexadecimal digits
  LogContents contents;
  std::uint64_t bytes = 0;  ///< bytes read; 0: unknown, because it is from an observations file
};

/// The document: one observation per line, values that were not logged as null. Replaces invalid UTF-8.
[[nodiscard]] std::string observations_text(std::span<const ObservedLog> logs);

/// The logs of a document, exactly as they were written. Throws InputError `source: key: ...` with every key that is
/// missing, unknown or of another type, and for impossible counts and lengths.
[[nodiscard]] std::vector<ObservedLog> parse_observations(std::string_view text, const std::string& source);

/// The reader of an observations file as a log: all of its observations.
[[nodiscard]] JsonFormat observations_format();

}  // namespace foredraft::logs
