// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/pass_grid.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace foredraft::analytic {
namespace {

/// Two points of the grid around a number.
struct Between {
  std::int64_t low, high;
  double share;  ///< weight of the higher one
};

Between between(std::int64_t low, std::int64_t high, double at) {
  const auto width = static_cast<double>(high - low);
  return {low, high, high > low ? (at - static_cast<double>(low)) / width : 0.0};
}

template <typename At>
double interpolated(const Between& ends, const At& at) {
  const double low = ends.share < 1.0 ? (1.0 - ends.share) * at(ends.low) : 0.0;
  return ends.share > 0.0 ? low + ends.share * at(ends.high) : low;
}

/// 0, 1, 2, 4, 8, 16, ... and the largest; if `fine` 3, 6, 12, 24, ... too.
Between between_batches(std::int64_t batch, std::int64_t max_batch, bool fine) {
  if (batch < 3) return {batch, batch, 0.0};
  std::int64_t power = 2;
  while (2 * power <= batch) power *= 2;
  if (!fine) return between(power, std::min(2 * power, max_batch), static_cast<double>(batch));
  const std::int64_t middle = power + power / 2;
  const std::int64_t low = batch < middle ? power : middle;
  return between(low, std::min(batch < middle ? middle : 2 * power, max_batch), static_cast<double>(batch));
}

/// 0, 32, 48, 64, 96, ..., 512, 1024, 2048, ... and the largest: finer where a pass changes from memory-bound to
/// compute-bound.
Between between_chunks(double chunk, std::int64_t max_chunk) {
  if (chunk <= 0.0) return {0, 0, 0.0};
  constexpr std::int64_t finer_below = 512;
  std::int64_t low = 0;
  std::int64_t high = 32;
  while (static_cast<double>(high) <= chunk) {
    const bool power = (high & (high - 1)) == 0;
    low = high;
    if (high >= finer_below) {
      high *= 2;
    } else {
      high += power ? high / 2 : high / 3;
    }
  }
  return between(std::min(low, max_chunk), std::min(high, max_chunk), std::min(chunk, static_cast<double>(max_chunk)));
}

}  // namespace

double PassGrid::operator()(std::int64_t batch, double chunk) {
  const auto of_batch = [this](std::int64_t row) { return known(row, 0); };
  const double us = interpolated(between_batches(batch, max_batch_, true), of_batch);
  if (chunk <= 0.0) return us;
  // Time that a chunk adds.
  const Between tokens = between_chunks(chunk, max_chunk_);
  return us + interpolated(between_batches(batch, max_batch_, false), [&](std::int64_t row) {
           return interpolated(tokens, [&](std::int64_t token) { return known(row, token); }) - known(row, 0);
         });
}

double PassGrid::known(std::int64_t batch, std::int64_t chunk) {
  const auto found = known_.find({batch, chunk});
  if (found != known_.end()) return found->second;
  return known_.emplace(std::pair{batch, chunk}, time_(batch, chunk)).first->second;
}

}  // namespace foredraft::analytic
