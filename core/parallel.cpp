// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/problems.hpp"

namespace foredraft {
namespace {

/// One call of parallel_for.
struct Job {
  const std::uint64_t count;
  const std::function<void(std::uint64_t)>& work;
  unsigned wanted;       ///< threads of the pool that may still join; guarded by the pool's mutex, like `running`
  unsigned running = 0;  ///< threads of the pool that have joined and not left
  std::atomic<std::uint64_t> next{0};
  std::mutex failure_mutex = {};
  std::exception_ptr failure = {};

  void run() {
    try {
      for (std::uint64_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  }
};

/// Threads that wait for jobs. They start when first needed and end with the process.
class ThreadPool {
 public:
  /// Runs `job` on the caller and on up to job.wanted threads of the pool.
  void run(Job& job) {
    {
      std::unique_lock lock(mutex_);
      grow(job.wanted);
      jobs_.push_back(&job);
    }
    job_there_.notify_all();
    job.run();
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);  // no thread joins after this
    thread_left_.wait(lock, [&] { return job.running == 0; });
  }

 private:
  void grow(unsigned threads) {
    try {
      for (; threads_ < threads; ++threads_) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error& error) {
      throw RunError(
          fmt::format("cannot start {} threads: the system gave {} ({}) - use --threads with fewer, or raise "
                      "the limit of processes (ulimit -u)",
                      threads + 1, threads_ + 1, error.code().message()));
    }
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      const auto wants = [](const Job* job) { return job->wanted > 0; };
      auto open = jobs_.end();
      job_there_.wait(lock, [&] { return (open = std::find_if(jobs_.begin(), jobs_.end(), wants)) != jobs_.end(); });
      Job& job = **open;
      --job.wanted;
      ++job.running;
      lock.unlock();
      job.run();
      lock.lock();
      --job.running;
      thread_left_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable job_there_, thread_left_;
  std::deque<Job*> jobs_;
  unsigned threads_ = 0;
};

/// Never destroyed: its threads may outlive every other object.
ThreadPool* pool = nullptr;

ThreadPool& thread_pool() {
  static const bool once = [] {
    pool = new ThreadPool;
    // After a fork, the child has no threads and possibly a locked mutex.
    ::pthread_atfork(nullptr, nullptr, [] { pool = new ThreadPool; });
    return true;
  }();
  static_cast<void>(once);
  return *pool;
}

}  // namespace

unsigned resolve_threads(unsigned threads) {
  return threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

void parallel_for(std::uint64_t count, unsigned threads, const std::function<void(std::uint64_t)>& work) {
  const auto workers = static_cast<unsigned>(std::min<std::uint64_t>(resolve_threads(threads), count));
  if (workers <= 1) {
    for (std::uint64_t i = 0; i < count; ++i) work(i);
    return;
  }
  Job job{.count = count, .work = work, .wanted = workers - 1};
  thread_pool().run(job);
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace foredraft
