// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/problems.hpp"

namespace foredraft {

unsigned resolve_threads(unsigned threads) {
  return threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

void parallel_for(std::uint64_t count, unsigned threads, const std::function<void(std::uint64_t)>& work) {
  const auto workers = static_cast<unsigned>(std::min<std::uint64_t>(resolve_threads(threads), count));
  if (workers <= 1) {
    for (std::uint64_t i = 0; i < count; ++i) work(i);
    return;
  }

  std::atomic<std::uint64_t> next{0};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto loop = [&] {
    try {
      for (std::uint64_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> team;
    team.reserve(workers - 1);
    try {
      for (unsigned i = 1; i < workers; ++i) team.emplace_back(loop);
    } catch (const std::system_error& error) {
      next = count;  // let the started threads finish
      throw RunError(
          fmt::format("cannot start {} threads: the system gave {} ({}) - use --threads with fewer, or raise "
                      "the limit of processes (ulimit -u)",
                      workers, team.size() + 1, error.code().message()));
    }
    loop();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace foredraft
