// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/duration_histogram.hpp"

/// What a simulation of serving counts beside the iterations of its Tally. Integers only, virtual time in ns.
namespace foredraft::sim {

/// Counted in each replica. Of the measured requests: those behind the warm-up, each followed to its last token. Of the
/// window: from the admission of the first measured request to the end of the last.
enum ServingQuantity : std::size_t {
  measured_requests,
  latency_ns,      ///< sum over measured requests: arrival to last token
  wait_ns,         ///< sum: arrival to admission
  first_token_ns,  ///< sum: arrival to first token
  per_token_ns,    ///< sum: latency over the request's output tokens
  tpot_requests,   ///< of the measured requests those of two output tokens or more
  tpot_ns,         ///< sum over these: first to last token over the tokens behind the first
  window_ns,       ///< length of the window
  window_tokens,   ///< tokens emitted in it, by any request
  good_tokens,   ///< of these, the share that requests within the latency goal have among the measured requests' tokens
  passes,        ///< iterations of the batch in it
  rows,          ///< sum of the batch over these, finished rows of a static batch included
  in_system_ns,  ///< integral of the number of requests waiting or served over the window
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
  bool operator==(const Replica&) const = default;
};

/// Empty in the other fidelities. Size: that of its histograms and of one record a replica, however long these run.
struct ServingTally {
  DurationHistogram latency;
  DurationHistogram first_token;
  DurationHistogram per_token;
  DurationHistogram tpot;
  std::vector<Replica> replicas;  ///< by number

  void merge(const ServingTally& other);
  bool operator==(const ServingTally&) const = default;
};

}  // namespace foredraft::sim
