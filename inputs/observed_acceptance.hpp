// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/observed.hpp"
#include "answers/prediction.hpp"
#include "core/digest.hpp"
#include "core/parallel.hpp"
#include "foredraft/acceptance.hpp"
#include "logs/observation.hpp"
#include "logs/observations_file.hpp"

/// Reads logs from plain or gzip files of any length in constant memory.
namespace foredraft::inputs {

/// Receives the number of bytes read since the last call.
using BytesRead = std::function<void(std::uint64_t bytes)>;

/// What becomes of files of no known format, such as a note beside the logs.
enum class OtherFiles {
  rejected,
  left_out,  ///< if another file is a log, which then has a warning (W18)
};

/// Reads logs and their digests. `paths`: "-" is standard input; `format`: as in LogReader. Throws InputError, which
/// lists the problems of all files (unreadable, not a log, equal bytes), and Interrupted.
[[nodiscard]] std::vector<logs::ObservedLog> read_logs(std::span<const std::string> paths, std::string_view format,
                                                       OtherFiles others = OtherFiles::rejected, StopToken stop = {},
                                                       const BytesRead& progress = {});

// ---- Acceptance from a log or an observations file: docs/logs.md.

/// The process that replaces Observed.
struct ObservedAcceptance {
  FileDigest file;
  AcceptanceProcess process;        ///< a Trace if each observation recorded its steps or text positions, else Runs
  std::int64_t recorded_gamma = 0;  ///< smallest gamma of the recorded steps; 0: no recorded steps
};

/// Reads one log. Throws InputError for a file that is not a log and for observations that are not comparable or do not
/// determine acceptance (no counts, too few, all accepted, a single draft length that does not identify the model).
[[nodiscard]] ObservedAcceptance read_observed_acceptance(const std::string& path, StopToken stop = {});

/// The same, but always fitted, even if the log could be replayed. Also throws InputError if acceptance is given only
/// by text position.
[[nodiscard]] answers::FittedAcceptance read_fitted_acceptance(const std::string& path, StopToken stop = {});

}  // namespace foredraft::inputs
