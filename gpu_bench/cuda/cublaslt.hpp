// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "latency/operations/program.hpp"

/// Projections through cuBLASLt, which is looked for at run time.
namespace foredraft::gpu_bench {

/// Operands of a projection on the device: out[rows, outputs] (+)= in[rows, inputs] weight[outputs, inputs]^T (+ bias).
struct ProjectMemory {
  const void* in;
  const void* weight;
  const void* bias;  ///< or null
  void* out;
};

/// Chooses, for each shape once, the fastest of the algorithms that the library proposes, by timing them on operands of
/// that shape in scratch memory, over other weights each time so that these come from memory, and remembers it.
class CublasLt {
 public:
  /// Throws DeviceError naming every place that was searched.
  CublasLt();
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;
  CublasLt(CublasLt&&) = delete;
  CublasLt& operator=(CublasLt&&) = delete;

  /// Times algorithms for this shape unless that was done. Not while a stream is captured.
  void prepare(const latency::Project& shape, latency::DataType type);

  /// Puts the product into the stream. prepare came before.
  void launch(const latency::Project& shape, latency::DataType type, const ProjectMemory& memory, cudaStream_t stream);

  /// The algorithm chosen for a prepared shape: "id 66 tile 20 stages 35 split_k 1", the library's own numbers.
  [[nodiscard]] std::string algorithm(const latency::Project& shape, latency::DataType type) const;

  [[nodiscard]] std::string version() const;  ///< "13.0.2 (libcublasLt.so.13)"
  [[nodiscard]] std::size_t shapes_tuned() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foredraft::gpu_bench
