// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu_bench/run/cell_plan.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {

/// Walks a plan within a time. Knows no clock: the time gone since the run began is handed in.
class GroupQueue {
 public:
  /// `measured`: what need not be measured again, in whatever groups.
  GroupQueue(const std::vector<CellGroup>& plan, double budget_s, const std::vector<CellGroup>& measured = {});

  /// The next group that can be expected to end in time, nothing when there is none: an expensive group is passed over
  /// for cheaper ones behind it, and never tried again (time only runs out). A cell is expected to take the longest
  /// share of a cell in any group of its model so far, or of any model where its own is new; the first takes a chance.
  /// Cells that are measured operation by operation are a kind of their own.
  /// Call done or failed before the next.
  [[nodiscard]] std::optional<CellGroup> next(double elapsed_s);

  /// The group last given took this long; `measured` are those of its cells that have a time now. Throws
  /// std::logic_error where no group was given; failed likewise.
  void done(double took_s, const std::vector<latency::Cell>& measured);

  /// The group last given cannot be measured, whatever the time: too little memory, say.
  void failed(const std::string& why);

  /// All cells that have no time, in the order of the plan, each with its reason.
  [[nodiscard]] std::vector<latency::Missing> missing() const;

 private:
  enum class State { waiting, given, passed_over, ended };
  struct Entry {
    CellGroup group;
    State state = State::waiting;
    std::string why;  ///< the group failed
  };

  [[nodiscard]] double expected_s(const CellGroup& group) const;
  [[nodiscard]] Entry& given();

  std::vector<Entry> entries_;
  double budget_s_;
  using ByOperation = bool;
  std::map<std::pair<ByOperation, std::string>, double> cell_s_;  ///< longest a cell, by model
  std::set<std::pair<ByOperation, latency::Cell>> measured_;
};

// ---- What measuring a profile is, whatever the device: the cells in the order of the plan within a time, everything
// kept as soon as it is known, measured again while there is time, and what is missing named. Knows no clock and no
// device.

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
