// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "latency/operations/program.hpp"

/// Projections by cuBLASLt, which is loaded at run time.
namespace foredraft::gpu_bench {

/// Operands of a projection on the device: out[rows, outputs] (+)= in[rows, inputs] weight[outputs, inputs]^T (+ bias).
struct ProjectMemory {
  const void* in;
  const void* weight;
  const void* bias;  ///< or null
  void* out;
};

/// Chooses, once per shape, the fastest of the algorithms that the library proposes, and remembers it. Times them on
/// operands of that shape in scratch memory, with different weights each time so that these come from memory.
class CublasLt {
 public:
  /// Throws DeviceError listing every place that was searched.
  CublasLt();
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;
  CublasLt(CublasLt&&) = delete;
  CublasLt& operator=(CublasLt&&) = delete;

  /// Times algorithms for this shape unless that was done. Must not be called during stream capture.
  void prepare(const latency::Project& shape, latency::DataType type);

  /// Enqueues the product. Requires prepare().
  void launch(const latency::Project& shape, latency::DataType type, const ProjectMemory& memory, cudaStream_t stream);

  /// The algorithm chosen for a prepared shape: "id 66 tile 20 stages 35 split_k 1", in the library's numbers.
  [[nodiscard]] std::string algorithm(const latency::Project& shape, latency::DataType type) const;

  [[nodiscard]] std::string version() const;  ///< "13.0.2 (libcublasLt.so.13)"
  [[nodiscard]] std::size_t shapes_tuned() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foredraft::gpu_bench
