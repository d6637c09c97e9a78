// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu_bench/run/cell_plan.hpp"
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

}  // namespace foredraft::gpu_bench
