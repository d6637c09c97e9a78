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

/// Chooses the groups of a plan within a time budget. Has no clock: the elapsed time is passed in.
class GroupQueue {
 public:
  /// `measured`: cells that need not be measured again, in any group.
  GroupQueue(const std::vector<CellGroup>& plan, double budget_s, const std::vector<CellGroup>& measured = {});

  /// The next group that is expected to end in time; null if there is none. An expensive group is skipped for cheaper
  /// later ones and never tried again (time only runs out). A cell is expected to take the maximum time per cell over
  /// all groups of its model so far, or of any model if its own is new; the first group is always tried. Cells that are
  /// measured by operation are estimated separately. Call done or failed before the next.
  [[nodiscard]] std::optional<CellGroup> next(double elapsed_s);

  /// The current group took this long; `measured` are those of its cells that have a time now. Throws std::logic_error
  /// if there is no current group, as does failed.
  void done(double took_s, const std::vector<latency::Cell>& measured);

  /// The current group cannot be measured for another reason than time, for instance too little memory.
  void failed(const std::string& why);

  /// All cells without a time, in the order of the plan, each with its reason.
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
  std::map<std::pair<ByOperation, std::string>, double> cell_s_;  ///< maximum time per cell, by model
  std::set<std::pair<ByOperation, latency::Cell>> measured_;
};

// ---- The measurement of a profile on any device: the cells in the order of the plan within a time budget. Everything
// is written as soon as it is known, measured again while there is time, and missing cells are named. Independent of
// clock and device.

struct RunPlan {
  std::vector<CellGroup> groups;                   ///< the most important first
  const std::vector<latency::ModelShape>& models;  ///< named by the cells
  double budget_s;                                 ///< for everything
  double repeat_share;                             ///< fraction of the budget reserved for repeated measurements
  int visits = 2;                                  ///< of each group, if the time suffices
  std::vector<std::vector<latency::VerificationCell>> verifications = {};  ///< groups, the most important first
  double verification_share = 0.0;                                         ///< fraction of the budget reserved for them
};

/// Functions of a device for a run. All of these may throw Interrupted.
struct DeviceSide {
  std::function<void()> measure_limits;  ///< before the first cell
  /// One measurement per cell, interleaved. Throws MemoryError or DomainError if the group cannot be measured.
  std::function<std::vector<latency::Measurement>(const CellGroup&)> measure_group;
  /// Measures the cells of a group by operation and returns those that were; throws likewise. May be empty if no group
  /// requires it.
  std::function<std::vector<latency::Cell>(const CellGroup&)> break_down;
  /// One row per cell of a group, whose cells have the same logits and are measured interleaved; throws likewise. May
  /// be empty without such groups.
  std::function<std::vector<latency::VerificationRow>(const std::vector<latency::VerificationCell>&)> verify = {};
  std::function<void()> finish;  ///< notes at the end
  /// All samples of a row, under the row's name; empty: they are not kept.
  std::function<void(const std::string&, const std::vector<double>&)> keep_samples = {};
  std::function<void(const latency::Profile&)> write;  ///< called after every group, so that no measurement is lost
};

struct RunSurroundings {
  std::function<double()> elapsed_s;                   ///< since the run began
  const std::function<void(const std::string&)>& say;  ///< progress, line by line
};

enum class MeasureEnd { done, interrupted };

/// Fills `profile`, whose identity, device and protocol are set, and which already has the rows of `kept`. Visits all
/// groups, then all of them again, so that a device whose speed changes within minutes is sampled at several times: a
/// row of this run has the samples of all visits. Encoders are left out of three in four visits after the second. Even
/// and odd visits are compared (A/A test); a profile is complete only with this comparison. Rows of an earlier run
/// count as a first visit. Then the latency model is fitted to all rows if there are enough models. Exceptions of the
/// device are passed on, after a note in the profile.
[[nodiscard]] MeasureEnd measure_profile(latency::Profile& profile, const RunPlan& plan,
                                         const std::vector<CellGroup>& kept, const DeviceSide& device,
                                         const RunSurroundings& around);

/// Copies the measurements of an earlier run into `profile`: limits, steps, verifications, breakdowns and the kernels
/// of breakdowns. Returns two groups: the cells with whole passes, and those by operation. Copies and returns nothing
/// if the name of the device or the commit of the program differs.
[[nodiscard]] std::vector<CellGroup> keep_rows(latency::Profile& profile, const latency::Profile& unfinished);

/// A note for readers; line ends become blanks.
void add_note(latency::Profile& profile, const std::string& name, std::string text);

}  // namespace foredraft::gpu_bench
