// SPDX-License-Identifier: Apache-2.0
#include "scenario/server.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/check.hpp"
#include "foredraft/cost.hpp"
#include "scenario/check.hpp"
#include "scenario/costs.hpp"
#include "scenario/family.hpp"
#include "scenario/processes.hpp"

namespace foredraft::scenario {
namespace {

constexpr std::int64_t largest_batch = std::int64_t{1} << 32U;

}  // namespace

std::vector<GammaRange> gamma_ranges(const Schedule& schedule) {
  std::vector<GammaRange> ranges;
  for (const auto& [from, to, gamma] : schedule) ranges.push_back({from, to, gamma});
  return ranges;
}

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

std::vector<GammaRange> gamma_of_batches(const Server& server, std::int64_t gamma) {
  if (!server.gamma_schedule.empty()) return server.gamma_schedule;
  return {{1, server.max_batch, gamma}};
}

bool serves(const AcceptanceProcess& acceptance) { return !std::holds_alternative<Markov>(acceptance); }

bool goes_with(const AcceptanceProcess& acceptance, Batching batching) {
  return batching != Batching::lockstep || !needs_endless_text(acceptance);
}

}  // namespace foredraft::scenario
