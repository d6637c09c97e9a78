// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/stream.hpp"

#include "gpu_bench/cuda/check.hpp"

namespace foredraft::gpu_bench {

Stream::Stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  stream_.reset(stream);
}

void Stream::wait() const { check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize"); }

Graph::Graph(const Stream& stream, const std::function<void()>& launch) {
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  cudaGraph_t recorded = nullptr;
  try {
    launch();
  } catch (...) {
    cudaStreamEndCapture(stream.get(),
                         &recorded);  // the stream must leave the capture; the first error is the one to tell
    if (recorded != nullptr) cudaGraphDestroy(recorded);
    throw;
  }
  check(cudaStreamEndCapture(stream.get(), &recorded), "cudaStreamEndCapture");
  cudaGraphExec_t graph = nullptr;
  const cudaError_t result = cudaGraphInstantiate(&graph, recorded, 0);
  check(cudaGraphDestroy(recorded), "cudaGraphDestroy");
  check(result, "cudaGraphInstantiate");
  graph_.reset(graph);
}

void Graph::replay(const Stream& stream) const {
  check(cudaGraphLaunch(graph_.get(), stream.get()), "cudaGraphLaunch");
}

EventTimer::EventTimer() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "cudaEventCreate");
  start_.reset(event);
  check(cudaEventCreate(&event), "cudaEventCreate");
  stop_.reset(event);
}

double EventTimer::time_us(const Stream& stream, const std::function<void()>& launch) const {
  check(cudaEventRecord(start_.get(), stream.get()), "cudaEventRecord");
  launch();
  check(cudaEventRecord(stop_.get(), stream.get()), "cudaEventRecord");
  check(cudaEventSynchronize(stop_.get()), "cudaEventSynchronize");
  float ms = 0.0F;
  check(cudaEventElapsedTime(&ms, start_.get(), stop_.get()), "cudaEventElapsedTime");
  return 1e3 * static_cast<double>(ms);
}

}  // namespace foredraft::gpu_bench
