// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "core/intervals.hpp"
#include "core/random_stream.hpp"
#include "foredraft/server.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

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

/// Balance of a replica when it stops: what arrived, departed and remains; times in ns.
struct RunAccount {
  std::int64_t arrived = 0;  ///< requests, counted as time advances
  std::int64_t departed = 0;
  std::int64_t in_service = 0;
  std::int64_t waiting = 0;
  Int128 emitted_tokens = 0;     ///< counted at every pass
  Int128 departed_tokens = 0;    ///< the lengths of the departed
  Int128 in_service_tokens = 0;  ///< emitted so far for those in service
  Int128 in_system_ns = 0;       ///< integral of the number of requests in the system over time
  Int128 departed_ns = 0;        ///< sum of arrival to departure
  Int128 remaining_ns = 0;       ///< sum of arrival to now over those in service and waiting
};

/// Throws std::logic_error unless every request that arrived departed, is served or waits, every token belongs to one
/// of them, and Little's law holds as an identity over the finite run including what remains at its end. [Little1961]
void check_account(const RunAccount& account);

}  // namespace foredraft::sim
