// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/intervals.hpp"
#include "foredraft/words.hpp"

namespace foredraft::sim {

/// A histogram of durations with buckets of equal relative width: 128 per doubling, exact below 256 ns. 7,296 buckets
/// cover all durations, and merging is addition.
class DurationHistogram {
 public:
  /// Maximum relative error of a quantile: half the relative width of a bucket.
  static constexpr double resolution = 1.0 / 256.0;

  /// duration_ns >= 0.
  void add(std::int64_t duration_ns);
  void merge(const DurationHistogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// The quantile `level` in (0, 1], as the middle of its bucket, in ns.
  [[nodiscard]] std::int64_t quantile(double level) const;

  bool operator==(const DurationHistogram&) const = default;

 private:
  std::vector<std::uint64_t> counts_;  // up to the longest duration
  std::uint64_t count_ = 0;
};

// ---- Counts of a serving simulation beyond the iterations of its Tally. Integers only, virtual time in ns.

/// Counts of each replica. Measured requests are those after the warm-up, each until its last token. The window extends
/// from the admission of the first measured request to the end of the last.
enum ServingQuantity : std::size_t {
  measured_requests,
  latency_ns,      ///< sum over measured requests: arrival to last token
  wait_ns,         ///< sum: arrival to admission
  first_token_ns,  ///< sum: arrival to first token
  per_token_ns,    ///< sum: latency divided by the request's output tokens
  tpot_requests,   ///< measured requests with two or more output tokens
  tpot_ns,         ///< sum over these: first to last token divided by the tokens after the first
  window_ns,       ///< length of the window
  window_tokens,   ///< tokens emitted in it, by any request
  good_tokens,     ///< these times the fraction of the measured requests' tokens that belong to requests within the
                   ///< latency goal
  passes,          ///< iterations of the batch in it
  rows,            ///< sum of the batch sizes over these, including finished sequences of a static batch
  in_system_ns,    ///< integral of the number of requests waiting or served over the window
  latency_p50_ns,  ///< quantiles over the measured requests of the replica
  latency_p95_ns,
  latency_p99_ns,
  first_token_p50_ns,
  first_token_p95_ns,
  first_token_p99_ns,
  per_token_p50_ns,
  per_token_p95_ns,
  per_token_p99_ns,
  tpot_p50_ns,
  tpot_p95_ns,
  tpot_p99_ns,
  serving_quantity_count
};

using ServingValues = std::array<std::int64_t, serving_quantity_count>;

struct Replica {
  std::uint64_t number;
  ServingValues values;
  std::int64_t warmup_requests = 0;  ///< served before the window
  /// The values (without quantiles) of consecutive parts of the window, each with the measured requests that ended in
  /// it. Except in the last part, these are at least twice as many as the requests served at once, so that means are
  /// nearly independent.
  std::vector<ServingValues> batches = {};
  bool operator==(const Replica&) const = default;
};

/// Counts of serving; empty in other fidelities. The size does not depend on the length of the run.
struct ServingTally {
  DurationHistogram latency;
  DurationHistogram first_token;
  DurationHistogram per_token;
  DurationHistogram tpot;
  std::vector<Replica> replicas;  ///< by number

  void merge(const ServingTally& other);
  bool operator==(const ServingTally&) const = default;
};

// ---- Counts of a simulation. Integers only, so merging is exact in any order.

/// The quantities of one independent unit: an iteration, a batch of dependent iterations, or a sequence.
enum Quantity : std::size_t {
  tokens,        ///< emitted tokens, including the corrected or bonus token
  iterations,    ///< draft-and-verify rounds
  drafted,       ///< drafted tokens
  draft_passes,  ///< passes of the drafter
  accepted,      ///< drafts accepted
  tested,        ///< drafts verified up to and including the first rejection
  quantity_count
};

using UnitMoments = IntegerMoments<quantity_count>;

/// Counts of one run or of a part of it.
///
/// Invariants (asserted by check_conservation): accepted + rejected + untested = drafted at every position; tokens =
/// sum of k * tokens_count[k-1]; the totals of `units` equal the totals of the position counts.
struct Tally {
  UnitMoments units;                        ///< one entry per independent unit; the sums are the totals of the run
  std::vector<std::uint64_t> tokens_count;  ///< [k-1]: iterations that emitted k tokens
  std::vector<std::uint64_t> drafted_at;    ///< [i]: iterations that drafted position i, i = 0..gamma-1
  std::vector<std::uint64_t> tested_at;     ///< [i]: of those, position i was verified (all before it accepted)
  std::vector<std::uint64_t> accepted_at;   ///< [i]: of those, it was accepted
  ServingTally serving;                     ///< virtual time of requests; empty except in system fidelity

  void merge(const Tally& other);
  bool operator==(const Tally&) const = default;
};

/// An empty tally for up to `gamma` drafts.
[[nodiscard]] Tally empty_tally(std::int64_t gamma, Convention convention);

/// Throws std::logic_error when an invariant is broken, which is a bug.
void check_conservation(const Tally& tally);

}  // namespace foredraft::sim
