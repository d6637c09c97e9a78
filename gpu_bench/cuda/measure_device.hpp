// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "gpu_bench/run/profile_run.hpp"

namespace foredraft::gpu_bench {

struct MeasureRequest {
  std::string folder;                                                      ///< of the profile
  double budget_s = 480.0;                                                 ///< for everything
  std::vector<latency::ModelShape> models;                                 ///< that the plan names
  std::vector<CellGroup> plan;                                             ///< the most important first
  std::vector<std::vector<latency::VerificationCell>> verifications = {};  ///< groups, likewise
  bool quick = false;                                                      ///< fewer samples a cell
};

/// Tests the device against the reference, measures its limits and as many cells as fit into the time, and leaves a
/// profile that says what is missing; it is written again after every group of cells, so that nothing measured gets
/// lost. A folder with an unfinished profile of the same device is continued. Progress goes line by line to `say`.
/// Throws DomainError for a folder that is taken and where there is no device, DeviceError where the device fails its
/// test or gets lost; what was measured is kept.
MeasureEnd measure_device(const MeasureRequest& request, const std::atomic<bool>& interrupted,
                          const std::function<void(const std::string&)>& say);

}  // namespace foredraft::gpu_bench
