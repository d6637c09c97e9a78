// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_memory.hpp"

#include <fmt/core.h>
#include <utility>

#include "gpu_bench/cuda/device_launch.hpp"
#include "gpu_bench/run/profile_folder.hpp"

namespace foredraft::gpu_bench {
namespace {

std::string_view cuda_suggestion(cudaError_t result) {
  switch (result) {
    case cudaErrorMemoryAllocation:
      return "another process may hold the memory; a smaller model or batch needs less";
    case cudaErrorNoDevice:
      return "nvidia-smi shows whether the driver sees a device; in a container it must be passed in";
    case cudaErrorInsufficientDriver:
    case cudaErrorUnsupportedPtxVersion:
      return "the driver is older than this program: update it, or build with an older CUDA toolkit";
    case cudaErrorNoKernelImageForDevice:
      return "this program holds code for compute capability 8.0 and 9.0 and later ones";
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorMisalignedAddress:
      return "a bug: compute-sanitizer names the kernel";
    case cudaErrorDevicesUnavailable:
      return "the device is in exclusive use by another process";
    default:
      return "the device may have been lost or reset: nvidia-smi and the kernel's log say more";
  }
}

}  // namespace

void check(cudaError_t result, std::string_view what, const std::source_location& where) {
  if (result == cudaSuccess) return;
  const std::string message =
      fmt::format("{}:{}: {}: {} ({}) - {}", where.file_name(), where.line(), what, cudaGetErrorName(result),
                  cudaGetErrorString(result), cuda_suggestion(result));
  if (result == cudaErrorMemoryAllocation) throw MemoryError(message);
  throw DeviceError(message);
}

void check_fits(std::string_view what, double needed_bytes, double device_bytes) {
  if (needed_bytes <= device_bytes) return;
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  throw MemoryError(
      fmt::format("{} needs {:.1f} GiB of memory, the device has {:.1f} GiB - choose a smaller model, batch or context",
                  what, needed_bytes / gib, device_bytes / gib));
}

std::string no_device_text(cudaError_t result, int driver, int runtime) {
  const auto version = [](int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); };
  if (driver == 0) return "no NVIDIA driver is installed, or it is not visible from here";
  if (result == cudaErrorInsufficientDriver) {
    return fmt::format(
        "the driver offers CUDA {}, this program needs {} - update the driver, or build with an older toolkit",
        version(driver), version(runtime));
  }
  return fmt::format("no CUDA device is visible: {}", cudaGetErrorString(result));
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* memory = nullptr;
  const cudaError_t result = cudaMalloc(&memory, bytes);
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // clears it: the device works, and a smaller request may succeed
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
    constexpr double gib = 1024.0 * 1024.0 * 1024.0;
    throw MemoryError(fmt::format(
        "the device has {:.2f} of {:.2f} GiB free, a buffer needs {:.2f} GiB - choose a smaller model, batch or "
        "context, or end what else uses the device",
        static_cast<double>(free_bytes) / gib, static_cast<double>(total_bytes) / gib,
        static_cast<double>(bytes) / gib));
  }
  check(result, "cudaMalloc");
  memory_.reset(memory);
}

void* BufferPool::address_of(const latency::Buffer& buffer) {
  const Key key{buffer.name, buffer.kind, buffer.elements};
  const auto known = entries_.find(key);
  if (known != entries_.end()) return known->second.memory.get();
  const std::int64_t element_bytes = buffer.kind == latency::BufferKind::tokens ? 4 : latency::bytes_of(type_);
  DeviceMemory memory(static_cast<std::size_t>(buffer.elements * element_bytes));
  launch_contents(buffer, memory.get(), type_, seed_, nullptr);
  return entries_.emplace(key, Entry{buffer, std::move(memory)}).first->second.memory.get();
}

void BufferPool::refill() {
  for (const auto& [key, entry] : entries_) launch_contents(entry.buffer, entry.memory.get(), type_, seed_, nullptr);
  check(cudaDeviceSynchronize(), "filling buffers");
}

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
                         &recorded);  // the stream must leave the capture; the first error is reported
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
