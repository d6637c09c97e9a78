// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/integer_moments.hpp"
#include "foredraft/words.hpp"
#include "sim/serving_tally.hpp"

/// What a simulation counts. Integers only, so merging is exact in any order.
namespace foredraft::sim {

/// The quantities observed together in one independent unit: an iteration, a batch of dependent iterations, a sequence.
enum Quantity : std::size_t {
  tokens,        ///< emitted tokens, the corrected or bonus token included
  iterations,    ///< draft-and-verify rounds
  drafted,       ///< drafted tokens
  draft_passes,  ///< passes of the drafter
  accepted,      ///< drafts accepted
  tested,        ///< drafts verified until the first rejection, that one included
  quantity_count
};

using UnitMoments = IntegerMoments<quantity_count>;

/// Counts of one run or of a part of it.
///
/// Invariants (asserted by check_conservation): accepted + rejected + untested = drafted at every position; tokens =
/// sum of k * tokens_count[k-1]; the totals of `units` equal the totals of the position counts.
struct Tally {
  UnitMoments units;                        ///< one entry per independent unit; its sums are the totals of the run
  std::vector<std::uint64_t> tokens_count;  ///< [k-1]: iterations that emitted k tokens
  std::vector<std::uint64_t> drafted_at;    ///< [i]: iterations that drafted position i, i = 0..gamma-1
  std::vector<std::uint64_t> tested_at;     ///< [i]: of those, position i was verified (all before it accepted)
  std::vector<std::uint64_t> accepted_at;   ///< [i]: of those, it was accepted
  ServingTally serving;                     ///< of requests in time; empty but in system fidelity

  void merge(const Tally& other);
  bool operator==(const Tally&) const = default;
};

/// An empty tally for up to `gamma` drafts.
[[nodiscard]] Tally empty_tally(std::int64_t gamma, Convention convention);

/// Throws std::logic_error when an invariant is broken: a bug of ours.
void check_conservation(const Tally& tally);

}  // namespace foredraft::sim
