// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace foredraft::gpu_bench {

/// Persistent threads for many short tasks, with a barrier that costs less than the tasks: starting threads for each,
/// as core/parallel.hpp does, would take longer than most operations of a pass.
class ThreadTeam {
 public:
  /// At least 1; the caller of run() is one of them. Throws RunError if a thread cannot be started.
  explicit ThreadTeam(unsigned threads);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ThreadTeam(ThreadTeam&&) = delete;
  ThreadTeam& operator=(ThreadTeam&&) = delete;
  ~ThreadTeam();

  [[nodiscard]] unsigned size() const { return size_; }

  /// Calls work(thread) on each thread, 0 to size() - 1, and returns when all are done. `work` does not throw.
  void run(const std::function<void(unsigned)>& work);

  /// Within work: waits until every thread has arrived; then all earlier writes are visible.
  void meet();

 private:
  void serve(unsigned thread);

  unsigned size_;
  std::atomic<unsigned> arrived_{0};
  std::atomic<std::uint32_t> meetings_{0};
  const std::function<void(unsigned)>* work_ = nullptr;  ///< null: the threads end
  std::vector<std::jthread> others_;
};

/// The part of [0, count) of one thread: whole granules, distributed as evenly as they allow.
struct Share {
  std::int64_t begin, end;
};
[[nodiscard]] constexpr Share share_of(std::int64_t count, unsigned thread, unsigned threads,
                                       std::int64_t granule = 1) {
  const std::int64_t granules = (count + granule - 1) / granule;
  const auto border = [&](unsigned part) {
    const std::int64_t at = granules * part / threads * granule;
    return at < count ? at : count;
  };
  return {border(thread), border(thread + 1)};
}

}  // namespace foredraft::gpu_bench
