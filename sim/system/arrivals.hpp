// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "core/random_stream.hpp"
#include "foredraft/scenario.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// Throws DomainError for parameters out of range.
void check_arrivals(const Arrivals& law);

/// The arrival times of one replica, in order. An endless stream that depends only on its key: two copies read the same
/// times, so no queue has to be stored, however long it gets.
class ArrivalStream {
 public:
  ArrivalStream(const Arrivals& law, const RunKey& key, std::uint64_t block);

  /// Arrival time of the next request in ns; the largest number while every client waits for its answer.
  [[nodiscard]] std::int64_t next_ns() const;
  void pop();

  /// A request was answered: its client sends the next one. Times must not decrease.
  void answered(std::int64_t now_ns);

 private:
  void draw_interval();

  Arrivals law_;
  RandomStream random_;
  double open_ns_ = 0.0;             // poisson, regular: the next arrival
  std::deque<std::int64_t> closed_;  // closed: requests sent and not popped, at most one a client
};

/// Draws a length, by inversion if geometric. `count` must have passed check_token_count.
[[nodiscard]] std::int64_t draw_length(const TokenCount& count, RandomStream& random);

}  // namespace foredraft::sim
