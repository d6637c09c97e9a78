// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu_bench/run/cell_plan.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/profile/profile.hpp"

/// What measuring a profile is, whatever the device: the cells in the order of the plan within a time, everything kept
/// as soon as it is known, measured again while there is time, and what is missing named. Knows no clock and no device.
namespace foredraft::gpu_bench {

struct RunPlan {
  std::vector<CellGroup> groups;                   ///< the most important first
  const std::vector<latency::ModelShape>& models;  ///< that the cells name
  double budget_s;                                 ///< for everything
  double repeat_share;                             ///< of the budget: kept free for what is measured again
  int visits = 2;                                  ///< of each group, as far as the time goes
  std::vector<std::vector<latency::VerificationCell>> verifications = {};  ///< groups, the most important first
  double verification_share = 0.0;                                         ///< of the budget: kept free for them
};

/// What a device does in a run. Any of these may throw Interrupted.
struct DeviceSide {
  std::function<void()> measure_limits;  ///< before the first cell
  /// One measurement a cell, side by side. Throws MemoryError or DomainError where the group cannot be measured.
  std::function<std::vector<latency::Measurement>(const CellGroup&)> measure_group;
  /// Measures the cells of a group operation by operation and gives those that are broken down; throws likewise. May be
  /// empty where no group asks for it.
  std::function<std::vector<latency::Cell>(const CellGroup&)> break_down;
  /// One row a cell of a group that is measured side by side; throws likewise. May be empty without such groups.
  std::function<std::vector<latency::VerificationRow>(const std::vector<latency::VerificationCell>&)> verify = {};
  std::function<void()> finish;  ///< what is to be noted at the end
  /// Every sample behind a row, under the row's name; empty: they are not kept.
  std::function<void(const std::string&, const std::vector<double>&)> keep_samples = {};
  std::function<void(const latency::Profile&)> write;  ///< after every group, so that nothing measured gets lost
};

/// What lies around a run.
struct RunSurroundings {
  std::function<double()> elapsed_s;                   ///< since the run began
  const std::function<void(const std::string&)>& say;  ///< progress, line by line
};

enum class MeasureEnd { done, interrupted };

/// Fills `profile`, whose identity, device and protocol are set, and which holds the rows of `kept` already. All groups
/// are visited, then all of them again, so that a device whose speed changes within minutes is known at several times:
/// a row of this run holds the samples of all visits. Encoders are left out of three in four visits after the second.
/// Visits in turn are compared with the others (A/A), without which the profile is not complete; the rows of an earlier
/// run are a first visit. Then the latency model is fitted to all rows where there are models enough. What the device
/// throws passes through, behind a note in the profile.
[[nodiscard]] MeasureEnd measure_profile(latency::Profile& profile, const RunPlan& plan,
                                         const std::vector<CellGroup>& kept, const DeviceSide& device,
                                         const RunSurroundings& around);

/// Takes over what an earlier run measured on the same device with the same program; gives what that was. Nothing where
/// device or program differ.
[[nodiscard]] std::vector<CellGroup> keep_rows(latency::Profile& profile, const latency::Profile& unfinished);

/// A line for people; line ends become blanks.
void add_note(latency::Profile& profile, const std::string& name, std::string text);

}  // namespace foredraft::gpu_bench
