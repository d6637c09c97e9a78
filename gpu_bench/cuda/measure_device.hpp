// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gpu_bench/cuda/cublaslt.hpp"
#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/kernels/operation_kernels.hpp"
#include "gpu_bench/run/profile_run.hpp"
#include "latency/operations/program.hpp"

namespace foredraft::gpu_bench {

/// Runs a program on the device, over one set of buffers or several in turn. Sets have separate weights and caches;
/// activations, inputs and tokens are shared, as between the layers of a model. Pools and library must outlive it.
class ProgramRunner {
 public:
  /// Takes a set of weights and caches from each pool, everything else from the first, and prepares the products.
  /// `multiprocessors` of the device.
  ProgramRunner(const latency::Program& program, std::span<BufferPool> pools, CublasLt& blas,
                std::int64_t multiprocessors);

  /// Enqueues the operations of one forward pass over set `set`.
  void launch(const Stream& stream, int set = 0) const;

  /// Contents of a buffer; token ids as integers. Waits for the device.
  [[nodiscard]] std::vector<double> read(latency::BufferId id, int set = 0) const;

  [[nodiscard]] void* address_of(latency::BufferId id, int set = 0) const {
    return addresses_[static_cast<std::size_t>(set)][static_cast<std::size_t>(id)];
  }

  [[nodiscard]] int sets() const { return static_cast<int>(addresses_.size()); }

 private:
  latency::Program program_;
  latency::DataType type_;
  CublasLt* blas_;
  unsigned multiprocessors_;
  std::vector<std::vector<void*>> addresses_;  ///< of a set's buffers, by BufferId
  DeviceMemory workspace_memory_;
  Workspace workspace_{};
};

struct MeasureRequest {
  std::string folder;                                                      ///< of the profile
  double budget_s = 480.0;                                                 ///< for everything
  std::vector<latency::ModelShape> models;                                 ///< that the plan names
  std::vector<CellGroup> plan;                                             ///< the most important first
  std::vector<std::vector<latency::VerificationCell>> verifications = {};  ///< groups, likewise
  bool quick = false;                                                      ///< fewer samples per cell
};

/// Tests the device against the reference, measures its limits and as many cells as fit into the time, and writes a
/// profile that names what is missing, again after every group of cells. Continues a folder with an unfinished profile
/// of the same device and program. Reports progress line by line to `say`. Throws DomainError if the folder is taken or
/// there is no device, DeviceError if the device fails its test or is lost; completed measurements are kept.
MeasureEnd measure_device(const MeasureRequest& request, const std::atomic<bool>& interrupted,
                          const std::function<void(const std::string&)>& say);

}  // namespace foredraft::gpu_bench
