// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace foredraft::experiments {

/// From now on SIGINT, SIGTERM and SIGHUP set the returned flag; a second one ends the program at once (130). A SIGHUP
/// that was ignored at the start stays ignored.
[[nodiscard]] const std::atomic<bool>& catch_interrupts();

}  // namespace foredraft::experiments
