// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/digest.hpp"
#include "foredraft/server.hpp"

namespace foredraft::inputs {

/// Recorded requests, of which each has tokens of its prompt, tokens of its answer, and when it arrived: CSV with a
/// header, or JSONL with an object per request. Names as engines and published traces have them (docs/load.md); other
/// columns and keys are not read; blank lines and lines that begin with # are skipped. Times are in seconds, in
/// milliseconds where the name says so and in traces with `hash_ids`, or dates; they count from the first arrival, and
/// the requests are sorted by them. Throws InputError `file:line: ...` with the first twenty problems and the number of
/// the others, also for fewer than two requests and for requests that all arrive at one time.
[[nodiscard]] RequestRecording parse_requests(std::string_view text, const std::string& file);

/// A recording and the digest of its file.
struct ReadRequests {
  std::shared_ptr<const RequestRecording> recording;
  FileDigest digest;
};

/// The recording of a file. Throws InputError likewise, and for a file that cannot be read.
[[nodiscard]] ReadRequests read_requests(const std::string& path);

}  // namespace foredraft::inputs
