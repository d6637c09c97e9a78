// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytic/observed/acceptance_fit.hpp"
#include "core/parallel.hpp"
#include "experiments/text/digest.hpp"
#include "foredraft/acceptance.hpp"
#include "logs/observation.hpp"
#include "logs/observations_file.hpp"

/// Reads logs from files: plain or gzip, of any length, in constant memory.
namespace foredraft::experiments {

/// Receives the number of bytes read since the last call.
using BytesRead = std::function<void(std::uint64_t bytes)>;

/// Reads logs, each with the digest of its bytes. `paths`: "-" is standard input; `format`: as in LogReader. Throws
/// InputError with the problems of all files: unreadable ones, no logs, two with the same bytes; and Interrupted.
[[nodiscard]] std::vector<logs::ObservedLog> read_logs(std::span<const std::string> paths, std::string_view format,
                                                       StopToken stop = {}, const BytesRead& progress = {});

// ---- Acceptance from a log or an observations file: docs/logs.md.

/// The process that replaces Observed.
struct ObservedAcceptance {
  FileDigest file;
  AcceptanceProcess process;        ///< a Trace if each observation recorded its steps or text positions, else Runs
  std::int64_t recorded_gamma = 0;  ///< smallest gamma of the recorded steps; 0: none were recorded
};

/// Fit to the counts of a log.
struct FittedAcceptance {
  FileDigest file;
  analytic::AcceptanceFit fit;  ///< with a model
};

/// Reads one log. Throws InputError for a file that is no log and for observations that do not determine acceptance (no
/// counts, too few, all accepted, one draft length that identifies no model) or are not comparable.
[[nodiscard]] ObservedAcceptance read_observed_acceptance(const std::string& path, StopToken stop = {});

/// Always fitted, even if the log could be replayed. Also throws InputError for acceptance only by text position.
[[nodiscard]] FittedAcceptance read_fitted_acceptance(const std::string& path, StopToken stop = {});

/// Whether all steps drafted gamma tokens, except the few that were cut short by the ends of texts: for varying draft
/// lengths the number of tests of a position is unknown. False without gamma or steps.
[[nodiscard]] bool drafts_are_whole(const logs::Observation& observation);

/// Counts for a fit; nullopt if draft lengths vary or acceptance was not counted.
[[nodiscard]] std::optional<analytic::AcceptanceCounts> counts_for_fit(const logs::Observation& observation);

/// The fitted runs. Precondition: there is a fit.
[[nodiscard]] Runs fitted_runs(const analytic::AcceptanceFit& fit);

/// The class of the drafter that an engine calls `method`: "eagle3", "ngram", "draft_model".
[[nodiscard]] analytic::DrafterClass drafter_class(std::string_view method);

}  // namespace foredraft::experiments
