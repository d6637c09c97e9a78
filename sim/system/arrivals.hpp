// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "core/random_stream.hpp"
#include "foredraft/server.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

inline constexpr double ns_per_s = 1e9;

/// An endless stream of the arrival times of a replica, in order. It depends only on its key, so two copies give the
/// same times and a long queue need not be stored.
class ArrivalStream {
 public:
  /// `recorded`, for recorded arrivals, must outlive the stream.
  ArrivalStream(const Arrivals& distribution, const RunKey& key, std::uint64_t block,
                const RequestRecording* recorded = nullptr);

  /// Arrival time of the next request in ns; the maximum integer while every client waits for its response.
  [[nodiscard]] std::int64_t next_ns() const;
  void pop();

  /// Reports a completed request; its client sends the next one. Times must not decrease.
  void answered(std::int64_t now_ns);

 private:
  void advance();

  Arrivals distribution_;
  const RequestRecording* recorded_;
  RandomStream random_;
  std::uint64_t sent_ = 0;           // recorded: requests up to the next arrival
  double open_ns_ = 0.0;             // open arrivals: the next arrival
  std::deque<std::int64_t> closed_;  // closed: requests sent and not popped, at most one per client
};

/// Time after which a recording of at least two requests repeats: one mean interval after its last request.
[[nodiscard]] double recording_period_s(const RequestRecording& recording);

/// Draws a length, by inversion if geometric. `count` must be one that check_scenario accepts.
[[nodiscard]] std::int64_t draw_length(const TokenCount& count, RandomStream& random);

}  // namespace foredraft::sim
