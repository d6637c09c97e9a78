// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/thread_team.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <system_error>

#include "core/problems.hpp"

namespace foredraft::gpu_bench {
namespace {

/// About 20 us: longer than threads of one pass wait for each other, short enough not to disturb other threads.
constexpr int looks_before_sleep = 2'000;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(unsigned threads) : size_(std::max(1U, threads)) {
  others_.reserve(size_ - 1);
  try {
    for (unsigned thread = 1; thread < size_; ++thread) others_.emplace_back([this, thread] { serve(thread); });
  } catch (const std::system_error& error) {
    // The started threads wait for all: count the others as arrived.
    const auto started = static_cast<unsigned>(others_.size());
    arrived_ += size_ - 1 - started;
    meet();
    throw RunError(
        fmt::format("cannot start {} threads: the system gave {} ({}) - use --threads with fewer, or raise "
                    "the limit of processes (ulimit -u)",
                    size_, started + 1, error.code().message()));
  }
}

ThreadTeam::~ThreadTeam() {
  work_ = nullptr;
  meet();
}

void ThreadTeam::serve(unsigned thread) {
  while (true) {
    meet();
    if (work_ == nullptr) return;
    (*work_)(thread);
    meet();
  }
}

void ThreadTeam::run(const std::function<void(unsigned)>& work) {
  work_ = &work;
  meet();
  work(0);
  meet();
}

void ThreadTeam::meet() {
  const std::uint32_t meeting = meetings_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    arrived_.store(0, std::memory_order_relaxed);
    meetings_.store(meeting + 1, std::memory_order_release);
    meetings_.notify_all();
    return;
  }
  for (int look = 0; look < looks_before_sleep; ++look) {
    if (meetings_.load(std::memory_order_acquire) != meeting) return;
    pause();
  }
  meetings_.wait(meeting, std::memory_order_acquire);
}

}  // namespace foredraft::gpu_bench
