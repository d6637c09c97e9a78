// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/intervals.hpp"

/// What an engine adds to forward passes, from the times of its iterations.
namespace foredraft::analytic {

/// The iterations of one window, request or run.
struct TimedIterations {
  double iteration_us = 0.0;  ///< mean time, > 0
  double passes_us = 0.0;     ///< predicted of the forward passes, > 0
  double known_us = 0.0;      ///< of them beside the passes, not to be fitted
  double requests = 1.0;      ///< that share an iteration, > 0
  bool drafts = false;        ///< speculative decoding
};

/// The terms of an iteration: step passes + host + host_request requests, and with drafts + draft_host +
/// draft_host_request requests.
enum class EngineTerm { step, host, host_request, draft_host, draft_host_request };

struct FittedTerm {
  EngineTerm term;
  double value;       ///< step: measured over predicted; else us, >= 0
  Interval interval;  ///< 95 %, not below 0
};

struct EngineFit {
  std::vector<FittedTerm> terms;              ///< those that the windows tell apart, in the order of EngineTerm
  std::vector<double> loads, drafting_loads;  ///< requests without and with drafts, the least of each level
  std::size_t windows = 0;
  double median_error = 0.0;  ///< of the fitted over the measured time of a window, less 1
};

/// Least squares of relative errors, with no term below 0. Windows without drafts at two loads tell step and host
/// apart, at three also host_request; those with drafts at one load give draft_host, at two also draft_host_request. A
/// term that grows with the requests is 0 where its interval reaches 0, with that interval. Errors are those of the
/// scatter of windows, which may depend on those before (scatter_of). Loads within a quarter are one. Throws
/// DomainError for fewer windows than terms and two more, and where windows without drafts are missing or of one load.
[[nodiscard]] EngineFit fit_engine(std::span<const TimedIterations> windows);

}  // namespace foredraft::analytic
