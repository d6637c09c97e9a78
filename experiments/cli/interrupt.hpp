// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>

namespace foredraft::experiments {

enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,         ///< a check failed, or the run did
  exit_bad_input = 2,      ///< bad usage or bad input; nothing was written
  exit_interrupted = 130,  ///< by a signal; the same command resumes
};

/// From now on SIGINT, SIGTERM and SIGHUP end the program at once (130): for what writes nothing. A SIGHUP that was
/// ignored at the start stays ignored.
void leave_at_interrupts();

/// From now on they set the returned flag instead; a second one ends the program at once (130).
[[nodiscard]] const std::atomic<bool>& catch_interrupts();

/// The same for what may be killed at any moment without a loss: where the program has not ended `patience` after the
/// first signal, because it does something that looks at no flag, it is ended as by a second one.
[[nodiscard]] const std::atomic<bool>& catch_interrupts(std::chrono::milliseconds patience);

/// Within a second, with some room for a machine that is busy.
inline constexpr std::chrono::milliseconds usual_patience{700};

}  // namespace foredraft::experiments
