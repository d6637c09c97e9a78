// SPDX-License-Identifier: Apache-2.0
#include "sim/system/gamma_schedule.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/check.hpp"

namespace foredraft::sim {
namespace {

constexpr std::int64_t largest_batch = std::int64_t{1} << 32U;

}  // namespace

std::vector<std::int64_t> gamma_by_batch(std::span<const GammaRange> schedule, std::int64_t max_batch,
                                         Convention convention) {
  std::vector<std::int64_t> gamma(1);
  std::int64_t next = 1;
  for (const GammaRange& range : schedule) {
    if (range.from_batch != next || range.to_batch < range.from_batch || range.to_batch > largest_batch) {
      throw DomainError(
          fmt::format("invalid gamma schedule: batches {} to {} (must start at {} and end there or later, by {})",
                      range.from_batch, range.to_batch, next, largest_batch));
    }
    check_range("gamma", range.gamma, min_gamma(convention), max_serving_gamma);
    for (std::int64_t batch = next; batch <= std::min(range.to_batch, max_batch); ++batch) gamma.push_back(range.gamma);
    next = range.to_batch + 1;
  }
  if (next <= max_batch) {
    throw DomainError(
        fmt::format("invalid gamma schedule: ends at batch {} (must reach max_batch={})", next - 1, max_batch));
  }
  gamma.front() = gamma[1];
  return gamma;
}

}  // namespace foredraft::sim
