// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

/// Streams, graphs and the time between two events.
namespace foredraft::gpu_bench {

class Stream {
 public:
  Stream();
  [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
  void wait() const;

 private:
  struct Release {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
  };
  std::unique_ptr<CUstream_st, Release> stream_;
};

/// What `launch` puts into the stream, recorded once and replayed as one launch.
class Graph {
 public:
  Graph(const Stream& stream, const std::function<void()>& launch);
  void replay(const Stream& stream) const;

 private:
  struct Release {
    void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
  };
  std::unique_ptr<CUgraphExec_st, Release> graph_;
};

/// Device time of what `launch` puts into the stream, in microseconds; waits for it.
class EventTimer {
 public:
  EventTimer();
  [[nodiscard]] double time_us(const Stream& stream, const std::function<void()>& launch) const;

 private:
  struct Release {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  std::unique_ptr<CUevent_st, Release> start_;
  std::unique_ptr<CUevent_st, Release> stop_;
};

}  // namespace foredraft::gpu_bench
