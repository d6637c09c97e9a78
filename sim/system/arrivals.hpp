// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "core/random_stream.hpp"
#include "foredraft/server.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

inline constexpr double ns_per_s = 1e9;

/// The arrival times of one replica, in order. An endless stream that depends only on its key: two copies read the same
/// times, so no queue has to be stored, however long it gets.
class ArrivalStream {
 public:
  /// `recorded`, for recorded arrivals, must outlive the stream.
  ArrivalStream(const Arrivals& distribution, const RunKey& key, std::uint64_t block,
                const RequestRecording* recorded = nullptr);

  /// Arrival time of the next request in ns; the largest number while every client waits for its answer.
  [[nodiscard]] std::int64_t next_ns() const;
  void pop();

  /// A request was answered: its client sends the next one. Times must not decrease.
  void answered(std::int64_t now_ns);

 private:
  void advance();

  Arrivals distribution_;
  const RequestRecording* recorded_;
  RandomStream random_;
  std::uint64_t sent_ = 0;           // recorded: requests up to the next arrival
  double open_ns_ = 0.0;             // other than closed: the next arrival
  std::deque<std::int64_t> closed_;  // closed: requests sent and not popped, at most one a client
};

/// After this time a recording of at least two requests starts over: one mean interval after its last request.
[[nodiscard]] double recording_period_s(const RequestRecording& recording);

/// Draws a length, by inversion if geometric. `count` must be one that check_scenario accepts.
[[nodiscard]] std::int64_t draw_length(const TokenCount& count, RandomStream& random);

}  // namespace foredraft::sim
