// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "core/random_stream.hpp"
#include "foredraft/scenario.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// Throws DomainError.
void check_arrivals(const Arrivals& law);

/// The arrival times of one replica, in order. An endless stream that is a function of its key: two copies read the
/// same times, so that nobody has to remember a queue, however long it gets.
class ArrivalStream {
 public:
  ArrivalStream(const Arrivals& law, const RunKey& key, std::uint64_t block);

  /// When the next request arrives; the largest number while every client waits for its answer. In ns.
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

/// By inversion where geometric. `count` must have passed check_token_count.
[[nodiscard]] std::int64_t draw_length(const TokenCount& count, RandomStream& random);

}  // namespace foredraft::sim
