// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/iteration_shape.hpp"
#include "sim/process/outcome_counts.hpp"

namespace foredraft::sim {

/// An iteration of a draft length of its own.
struct VaryingIteration {
  std::int64_t gamma;
  Outcome outcome;
};

/// Collects iterations of changing draft lengths one after another, in units that the caller ends. OutcomeCounts is the
/// faster form for one length.
class VaryingCounts {
 public:
  /// `longest`: the shape of the longest draft.
  explicit VaryingCounts(const IterationShape& longest);

  void add(const VaryingIteration& iteration);

  /// Ends a unit; one without iterations counts for nothing.
  void end_unit();

  /// Everything collected. All units must have been ended.
  [[nodiscard]] Tally tally() const;

 private:
  IterationShape longest_;
  std::vector<std::uint64_t> tokens_count_;    // [k-1]: iterations that emitted k tokens
  std::vector<std::uint64_t> drafted_count_;   // [m]: iterations with m drafts
  std::vector<std::uint64_t> tested_count_;    // [m]: iterations with m tested drafts
  std::vector<std::uint64_t> accepted_count_;  // [m]: iterations with m accepted drafts
  UnitMoments units_;
  UnitMoments::Values unit_{};
};

}  // namespace foredraft::sim
