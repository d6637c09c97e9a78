// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/intervals.hpp"

/// Fits the time that an engine adds to forward passes from the times of its iterations.
namespace foredraft::analytic {

/// Mean times of the iterations of a window, request or run.
struct TimedIterations {
  double iteration_us = 0.0;  ///< mean time, > 0
  double passes_us = 0.0;     ///< predicted time of the forward passes, > 0
  double known_us = 0.0;      ///< known time in addition to the passes, not fitted
  double requests = 1.0;      ///< requests in an iteration, > 0
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
  std::vector<FittedTerm> terms;              ///< terms that the windows identify, in the order of EngineTerm
  std::vector<double> loads, drafting_loads;  ///< minimum requests of each load level, without and with drafts
  std::size_t windows = 0;
  double median_error = 0.0;  ///< of |fitted / measured time of a window - 1|
};

/// Least-squares fit of relative errors, with all terms >= 0. Windows without drafts at two loads identify step and
/// host, at three loads also host_request. Windows with drafts at one load identify draft_host, at two loads also
/// draft_host_request. A term per request is set to 0, but keeps its interval, if the interval reaches 0. Errors come
/// from the scatter of windows, which may depend on their predecessors (scatter_of). Loads within 25 % count as one.
/// Throws DomainError for fewer windows than the number of terms plus two, and unless windows without drafts have at
/// least two loads.
[[nodiscard]] EngineFit fit_engine(std::span<const TimedIterations> windows);

}  // namespace foredraft::analytic
