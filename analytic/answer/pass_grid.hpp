// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace foredraft::analytic {

/// Times of passes, looked up on a grid of batch and chunk sizes and interpolated.
class PassGrid {
 public:
  using Time = std::function<double(std::int64_t batch, std::int64_t chunk)>;

  PassGrid(std::int64_t max_batch, std::int64_t max_chunk, Time time)
      : max_batch_(max_batch), max_chunk_(max_chunk), time_(std::move(time)) {}

  /// Time in us of a pass over `batch` requests and `chunk` prompt tokens.
  double operator()(std::int64_t batch, double chunk);

 private:
  double known(std::int64_t batch, std::int64_t chunk);

  std::int64_t max_batch_;
  std::int64_t max_chunk_;
  Time time_;
  std::map<std::pair<std::int64_t, std::int64_t>, double> known_;
};

}  // namespace foredraft::analytic
