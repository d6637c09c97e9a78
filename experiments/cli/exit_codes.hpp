// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foredraft::experiments {

enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,         ///< a check failed, or the run did
  exit_bad_input = 2,      ///< bad usage or bad input; nothing was written
  exit_interrupted = 130,  ///< by a signal; the same command resumes
};

}  // namespace foredraft::experiments
