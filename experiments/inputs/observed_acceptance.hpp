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
#include "foredraft/scenario.hpp"
#include "logs/observation.hpp"
#include "logs/observations_file.hpp"

/// Logs as files: plain or gzip, of any length, in constant memory.
namespace foredraft::experiments {

/// Told how many bytes of the files were read since the last call.
using BytesRead = std::function<void(std::uint64_t bytes)>;

/// Reads logs, each with the digest of its bytes. `paths`: "-" is standard input; `format`: as LogReader takes it.
/// Throws InputError with the problems of all files: one that cannot be read or holds no log, two that hold the same
/// bytes. Throws Interrupted.
[[nodiscard]] std::vector<logs::ObservedLog> read_logs(std::span<const std::string> paths, std::string_view format,
                                                       StopToken stop = {}, const BytesRead& progress = {});

// ---- The acceptance that a log, or an observations file, tells: docs/logs.md.

/// The process that takes the place of Observed.
struct ObservedAcceptance {
  FileDigest file;
  AcceptanceProcess process;        ///< a Trace where each observation recorded its steps or text positions, else Runs
  std::int64_t recorded_gamma = 0;  ///< of recorded steps, the smallest; 0: there are none
};

/// What was fitted to the counts of a log.
struct FittedAcceptance {
  FileDigest file;
  analytic::AcceptanceFit fit;  ///< with a model
};

/// Reads one log. Throws InputError for a file that is no log, whose observations tell no acceptance (no counts, too
/// few, all accepted, one draft length that identifies no model) or do not belong together (settings of sampling,
/// several drafters).
[[nodiscard]] ObservedAcceptance read_observed_acceptance(const std::string& path, StopToken stop = {});

/// The same, fitted also where it could be replayed; acceptance by text position only is an InputError too.
[[nodiscard]] FittedAcceptance read_fitted_acceptance(const std::string& path, StopToken stop = {});

/// Whether all steps drafted gamma tokens but for the few that the ends of texts cut short: of other drafts no position
/// tells how often it was tested. False without gamma or steps.
[[nodiscard]] bool drafts_are_whole(const logs::Observation& observation);

/// As a fit takes them; nothing where drafts are not whole or nothing of what they accepted was counted. Positions
/// behind the last that was accepted are 0.
[[nodiscard]] std::optional<analytic::AcceptanceCounts> counts_for_fit(const logs::Observation& observation);

/// The fitted runs. Precondition: there is a fit.
[[nodiscard]] Runs fitted_runs(const analytic::AcceptanceFit& fit);

/// The class of the drafter that an engine calls `method`: "eagle3", "ngram", "draft_model".
[[nodiscard]] analytic::DrafterClass drafter_class(std::string_view method);

}  // namespace foredraft::experiments
