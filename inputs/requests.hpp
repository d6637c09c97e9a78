// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/digest.hpp"
#include "foredraft/server.hpp"

namespace foredraft::inputs {

/// Parses recorded requests with prompt tokens, output tokens and arrival time: CSV with a header, or JSONL with an
/// object per request. Accepts the names of engines and published traces (docs/load.md) and ignores other columns and
/// keys, blank lines and lines that begin with #. Times are dates or seconds (milliseconds if the name says so, and in
/// traces with `hash_ids`). The result is sorted by time, which starts at 0. Throws InputError `file:line: ...` with
/// the first twenty problems and the number of the others, also for fewer than two requests, and if all requests arrive
/// at the same time or over more than 1e7 s.
[[nodiscard]] RequestRecording parse_requests(std::string_view text, const std::string& file);

/// A recording and the digest of its file.
struct ReadRequests {
  std::shared_ptr<const RequestRecording> recording;
  FileDigest digest;
};

/// Reads the recording of a file. Throws InputError as parse_requests, and if the file cannot be read.
[[nodiscard]] ReadRequests read_requests(const std::string& path);

}  // namespace foredraft::inputs
