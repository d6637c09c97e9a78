// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "gpu_bench/cpu/cpu_facts.hpp"
#include "gpu_bench/run/profile_run.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

struct CpuRequest {
  std::string path;                                                   ///< of the profile
  latency::Identity identity;                                         ///< versions; the machine's part is filled in
  double budget_s = 120.0;                                            ///< for everything
  std::vector<latency::ModelShape> models;                            ///< that the plan names
  std::vector<CellGroup> plan;                                        ///< fp32, the most important first
  std::vector<std::vector<latency::VerificationCell>> verifications;  ///< groups, the most important first
  unsigned threads = 0;                                               ///< 0: one per hardware thread
  CpuFacts facts;  ///< the machine; the size of its last cache determines how many copies cold passes rotate through
};

struct CpuResult {
  MeasureEnd end;
  latency::Profile profile;
};

/// Tests the runner and the verifier against their references, then measures the CPU's limits, the cells of the plan
/// and the verifications, each for its share of the time. Writes a profile that names what is missing, again after
/// every group of cells. Continues an unfinished profile of the same device and program. Reports progress line by line
/// to `say`. Throws DomainError if the file is taken, std::runtime_error if a test fails or the file cannot be written;
/// completed measurements are kept.
[[nodiscard]] CpuResult measure_cpu(const CpuRequest& request, const std::atomic<bool>& interrupted,
                                    const std::function<void(const std::string&)>& say);

}  // namespace foredraft::gpu_bench
