#pragma once

#include <atomic>

namespace foredraft::experiments {

/// From now on SIGINT, SIGTERM and SIGHUP set the returned flag; a second one ends the program at once (130).
[[nodiscard]] const std::atomic<bool>& catch_interrupts();

}  // namespace foredraft::experiments
