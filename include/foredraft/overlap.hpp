// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

/// Drafting while the target verifies.
namespace foredraft {

/// Schedule of drafting and verification. Every schedule emits the target's own tokens.
enum class Overlap {
  none,   ///< gamma drafts, then their verification, in turn [Leviathan2023, Alg. 1]
  pearl,  ///< each stage drafts gamma tokens during one forward pass of the target. After a rejection the pass verifies
          ///< the first draft of its stage, else the rest of the previous stage and the first of its own [Liu2025pearl]
  dsi,    ///< drafts without a pause. A forward pass of the target, on a separate server, starts after every gamma
          ///< drafts and after each token that becomes known [Timor2025]
};

/// Parameters of overlapped drafting with independently accepted drafts.
struct OverlappedDrafting {
  Overlap schedule;
  double alpha;         ///< acceptance rate, in [0, 1]
  std::int64_t gamma;   ///< drafts of an iteration, of a stage or between two passes of the target; 1 to 10^6
  double c;             ///< time of a draft step divided by that of a decode step; in [0, 1]
  bool shared = false;  ///< one device runs the drafter and the target, one pass after the other: nothing overlaps
};

}  // namespace foredraft

#pragma GCC visibility pop
