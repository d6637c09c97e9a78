// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/program_runner.hpp"

#include <algorithm>
#include <variant>

#include "gpu_bench/cuda/check.hpp"
#include "gpu_bench/cuda/launch_operation.hpp"

namespace foredraft::gpu_bench {
namespace {

template <class Storage, class ToDouble>
std::vector<double> read_back(const void* memory, std::int64_t elements, ToDouble to_double) {
  std::vector<Storage> stored(static_cast<std::size_t>(elements));
  check(cudaMemcpy(stored.data(), memory, stored.size() * sizeof(Storage), cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<double> values;
  values.reserve(stored.size());
  for (const Storage& value : stored) values.push_back(to_double(value));
  return values;
}

}  // namespace

ProgramRunner::ProgramRunner(const latency::Program& program, std::span<BufferPool> pools, CublasLt& blas,
                             std::int64_t multiprocessors)
    : program_(program),
      type_(pools.front().type()),
      blas_(&blas),
      multiprocessors_(static_cast<unsigned>(multiprocessors)) {
  WorkspaceSize size;
  for (const latency::Operation& operation : program_.operations) {
    check_kernel_limits(operation);
    if (const auto* project = std::get_if<latency::Project>(&operation)) blas_->prepare(*project, type_);
    const WorkspaceSize needed = workspace_of(operation, multiprocessors_);
    size.floats = std::max(size.floats, needed.floats);
    size.counters = std::max(size.counters, needed.counters);
  }
  workspace_memory_ = DeviceMemory(static_cast<std::size_t>(4 * (size.floats + size.counters)));
  if (workspace_memory_.get() != nullptr) {
    check(cudaMemset(workspace_memory_.get(), 0, workspace_memory_.bytes()), "cudaMemset");
    auto* floats = static_cast<float*>(workspace_memory_.get());
    workspace_ = {.floats = floats, .counters = reinterpret_cast<std::uint32_t*>(floats + size.floats)};
  }
  for (BufferPool& pool : pools) {
    std::vector<void*>& addresses = addresses_.emplace_back();
    for (const latency::Buffer& buffer : program_.buffers) {
      const bool of_the_set = buffer.kind == latency::BufferKind::weight || buffer.kind == latency::BufferKind::cache;
      addresses.push_back((of_the_set ? pool : pools.front()).address_of(buffer));
    }
  }
  check(cudaDeviceSynchronize(), "filling buffers");
}

void ProgramRunner::launch(const Stream& stream, int set) const {
  const std::vector<void*>& addresses = addresses_[static_cast<std::size_t>(set)];
  const KernelContext context{.buffers = addresses, .workspace = workspace_, .multiprocessors = multiprocessors_};
  const auto address = [&addresses](latency::BufferId id) {
    return id == latency::no_buffer ? nullptr : addresses[static_cast<std::size_t>(id)];
  };
  for (const latency::Operation& operation : program_.operations) {
    if (const auto* p = std::get_if<latency::Project>(&operation)) {
      blas_->launch(
          *p, type_,
          {.in = address(p->in), .weight = address(p->weight), .bias = address(p->bias), .out = address(p->out)},
          stream.get());
    } else {
      launch_operation(operation, type_, context, stream.get());
    }
  }
}

std::vector<double> ProgramRunner::read(latency::BufferId id, int set) const {
  check(cudaDeviceSynchronize(), "waiting for a pass");
  const latency::Buffer& buffer = program_.buffers[static_cast<std::size_t>(id)];
  const void* memory = address_of(id, set);
  const auto number = [](const auto& value) { return static_cast<double>(to_float(value)); };
  if (buffer.kind == latency::BufferKind::tokens) {
    return read_back<std::int32_t>(memory, buffer.elements, [](std::int32_t token) { return 1.0 * token; });
  }
  switch (type_) {
    case latency::DataType::fp16:
      return read_back<Half>(memory, buffer.elements, number);
    case latency::DataType::bf16:
      return read_back<Bfloat16>(memory, buffer.elements, number);
    case latency::DataType::fp32:
      break;
  }
  return read_back<float>(memory, buffer.elements, number);
}

}  // namespace foredraft::gpu_bench
